//! One position in a compressed stream: a decompressor, the bytes that it has just yielded, and what it found.
use super::buffered_input::BufferedInput;
use super::members::MemberChecksum;
use super::members::{Envelope, Next};
use super::seek_points::{BlockStart, SeekPoint, Window};
use super::{Container, WINDOW_BYTES};
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress_with_limit};
use std::sync::Arc;

const OUTPUT_BYTES: usize = 96 * 1024;
/// With less free output than this the window is moved to the front first: the fast loop needs room.
const LEAST_ROOM: usize = 8 * 1024;
const FLAGS: u32 = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;

/// What a cursor does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Header,
    Blocks,
    Trailer,
}

/// Rules that hold for every cursor of one source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) container: Container,
    pub(super) max_bytes: u64,
}

/// How the data of a stream end: soundly, or with a fault.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    /// Number of decompressed bytes that can be delivered.
    pub(super) num_bytes: u64,
    pub(super) fault: Option<Fault>,
}

/// Where to record seek points: at the first opportunity from `next_offset` on, then every `spacing` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointPlan {
    pub(super) next_offset: u64,
    pub(super) spacing: u64,
}

/// A decompressor in the stream. `out[..filled]` holds the last bytes that it yielded, the first of them at
/// `out_offset`; the current member's begin at `out[member_start]`.
pub(super) struct Cursor {
    rules: Rules,
    phase: Phase,
    input: BufferedInput,
    inflater: Box<DecompressorOxide>,
    check: MemberChecksum,
    out: Vec<u8>,
    out_offset: u64,
    filled: usize,
    member_start: usize,
    plan: PointPlan,
    points: Vec<SeekPoint>,
    ending: Option<Ending>,
}

impl Cursor {
    /// A cursor at a seek point, or at the start of the file.
    pub(super) fn start(rules: Rules, point: Option<&SeekPoint>) -> Result<Self, Fault> {
        let mut cursor = Self {
            rules,
            phase: Phase::Header,
            input: BufferedInput::at(point.map_or(0, |point| point.offset_in)),
            inflater: Box::default(),
            check: MemberChecksum::new(rules.container),
            out: vec![0; WINDOW_BYTES + OUTPUT_BYTES],
            out_offset: point.map_or(0, |point| point.offset_out),
            filled: 0,
            member_start: 0,
            plan: PointPlan { next_offset: u64::MAX, spacing: u64::MAX },
            points: Vec::new(),
            ending: None,
        };
        if let Some(block) = point.and_then(|point| point.block.as_ref()) {
            cursor.enter_block(block)?;
        }
        Ok(cursor)
    }

    /// First offset that can be read without inflating again.
    pub(super) fn first_offset(&self) -> u64 {
        self.out_offset
    }

    /// Offset up to which the stream has been inflated.
    pub(super) fn end_offset(&self) -> u64 {
        self.out_offset + self.filled as u64
    }

    /// How the data end, once the cursor has been there.
    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    pub(super) fn set_plan(&mut self, plan: PointPlan) {
        self.plan = plan;
    }

    /// The points recorded since the last call.
    pub(super) fn take_points(&mut self) -> Vec<SeekPoint> {
        std::mem::take(&mut self.points)
    }

    /// Reads at `offset`, which must not be before `first_offset`; fewer bytes than asked for mean `ending`.
    pub(super) fn read_at(&mut self, file: &dyn ReadAt, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let mut done = 0;
        while done < buf.len() {
            let count = self.copy_out(offset.saturating_add(done as u64), &mut buf[done..]);
            done += count;
            if count == 0 {
                if self.ending.is_some() {
                    break;
                }
                self.step(file)?;
            }
        }
        Ok(done)
    }

    /// Fills `buf` if all of it is ready.
    pub(super) fn copy_all(&self, offset: u64, buf: &mut [u8]) -> bool {
        let ready = self.ready(offset).get(..buf.len());
        ready.inspect(|ready| buf.copy_from_slice(ready)).is_some()
    }

    fn copy_out(&self, offset: u64, buf: &mut [u8]) -> usize {
        let ready = self.ready(offset);
        let count = ready.len().min(buf.len());
        buf[..count].copy_from_slice(&ready[..count]);
        count
    }

    /// The bytes from `offset` on that have been inflated and are still held.
    fn ready(&self, offset: u64) -> &[u8] {
        let start = offset.checked_sub(self.out_offset).and_then(|start| usize::try_from(start).ok());
        start.and_then(|start| self.out[..self.filled].get(start..)).unwrap_or_default()
    }

    fn enter_block(&mut self, block: &BlockStart) -> Result<(), Fault> {
        let window = block.window.bytes()?;
        self.out[..window.len()].copy_from_slice(&window);
        self.filled = window.len();
        self.out_offset -= window.len() as u64;
        self.check = block.check;
        *self.inflater = block.decompressor();
        self.phase = Phase::Blocks;
        Ok(())
    }

    /// Goes on by one header, one trailer, or a stretch of deflate data. A fault becomes the ending.
    fn step(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let step = match self.phase {
            Phase::Header => self.begin_member(file),
            Phase::Blocks => self.inflate(file),
            Phase::Trailer => self.end_member(file),
        };
        match step {
            Err(SourceError::Fault(fault)) => {
                self.ending = Some(Ending { num_bytes: self.end_offset(), fault: Some(fault) });
                Ok(())
            }
            other => other,
        }
    }

    fn envelope<'a>(&'a mut self, file: &'a dyn ReadAt) -> Envelope<'a> {
        let offset = self.end_offset();
        Envelope { container: self.rules.container, input: &mut self.input, file, offset }
    }

    fn begin_member(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let offset_in = self.input.position();
        if self.envelope(file).next_member()? == Next::End {
            self.ending = Some(Ending { num_bytes: self.end_offset(), fault: None });
            return Ok(());
        }
        if self.end_offset() >= self.plan.next_offset {
            self.record(SeekPoint { offset_in, offset_out: self.end_offset(), block: None });
        }
        self.inflater.init();
        self.check = MemberChecksum::new(self.rules.container);
        self.member_start = self.filled;
        self.phase = Phase::Blocks;
        Ok(())
    }

    fn end_member(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let check = self.check;
        self.envelope(file).trailer(&check)?;
        self.phase = Phase::Header;
        Ok(())
    }

    /// One call of the decompressor.
    fn inflate(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        self.preallocate();
        self.input.refill(file)?;
        // One byte more than the limit allows tells a stream that is too long from one that just fits.
        let allowance = self.rules.max_bytes.saturating_add(1).saturating_sub(self.end_offset());
        let room = (self.out.len() - self.filled).min(usize::try_from(allowance).unwrap_or(usize::MAX));
        let near_point = self.end_offset().saturating_add(room as u64) >= self.plan.next_offset;
        let (status, consumed, yielded) = decompress_with_limit(
            &mut self.inflater,
            self.input.chunk(),
            &mut self.out[self.member_start..],
            self.filled - self.member_start,
            room,
            if near_point { FLAGS | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY } else { FLAGS },
        );
        self.input.consume(consumed);
        self.check.update(&self.out[self.filled..self.filled + yielded]);
        self.filled += yielded;
        self.enforce_limit()?;
        self.after_inflate(status, consumed + yielded > 0)
    }

    fn after_inflate(&mut self, status: TINFLStatus, progress: bool) -> Result<(), SourceError> {
        match status {
            TINFLStatus::Done => self.phase = Phase::Trailer,
            TINFLStatus::BlockBoundary => self.record_block(),
            TINFLStatus::NeedsMoreInput | TINFLStatus::HasMoreOutput if progress => {}
            TINFLStatus::NeedsMoreInput if self.input.chunk().is_empty() => {
                return Err(self.fault("stream ends early: inside a deflate block").into());
            }
            _ => {
                let near = self.input.position();
                return Err(self.fault(format!("bad deflate block near byte {near} of the file")).into());
            }
        }
        Ok(())
    }

    /// Moves the window to the front when the room behind it runs out.
    fn preallocate(&mut self) {
        if self.out.len() - self.filled >= LEAST_ROOM {
            return;
        }
        let shift = self.filled - WINDOW_BYTES;
        self.out.copy_within(shift..self.filled, 0);
        self.out_offset += shift as u64;
        self.filled = WINDOW_BYTES;
        self.member_start = self.member_start.saturating_sub(shift);
    }

    fn enforce_limit(&mut self) -> Result<(), SourceError> {
        let excess = self.end_offset().saturating_sub(self.rules.max_bytes);
        if excess == 0 {
            return Ok(());
        }
        self.filled -= excess as usize;
        let max = self.rules.max_bytes;
        let fault = Fault::new(FaultKind::LimitExceeded, max, "the decompressed data are longer than the limit");
        Err(fault.values(format!("at most {max} bytes"), "more").into())
    }

    fn record_block(&mut self) {
        if self.end_offset() < self.plan.next_offset {
            return;
        }
        let Some(state) = self.inflater.block_boundary_state() else {
            return;
        };
        let window_start = self.member_start.max(self.filled.saturating_sub(WINDOW_BYTES));
        let window = Window::Plain(Arc::from(&self.out[window_start..self.filled]));
        let block = BlockStart { num_bits: state.num_bits, bits: state.bit_buf, check: self.check, window };
        let (offset_in, offset_out) = (self.input.position(), self.end_offset());
        self.record(SeekPoint { offset_in, offset_out, block: Some(block) });
    }

    fn record(&mut self, point: SeekPoint) {
        self.plan.next_offset = point.offset_out.saturating_add(self.plan.spacing);
        self.points.push(point);
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::BadCompression, self.end_offset(), message)
    }
}
