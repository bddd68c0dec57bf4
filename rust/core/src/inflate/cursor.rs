//! A cursor in a compressed stream: a decompressor at some offset, and a buffer of its most recent output.
use super::buffered_input::BufferedInput;
use super::members::{MemberChecksum, MemberReader, NextMember};
use super::seek_points::{BlockStart, HistoryWindow, SeekPoint};
use super::{Container, WINDOW_BYTES};
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use crate::source::{ReadAt, SourceError};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress_with_limit};
use std::sync::Arc;

const OUTPUT_BYTES: usize = 96 * 1024;
/// If fewer bytes of the output buffer are free, the window is moved to the front of the buffer, because the fast loop
/// of the decompressor needs space.
const MIN_FREE_OUTPUT: usize = 8 * 1024;
const FLAGS: u32 = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;

/// Part of the stream that a cursor reads next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamPhase {
    Header,
    Blocks,
    Trailer,
}

/// Options that all cursors of a source share.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamOptions {
    pub(super) container: Container,
    pub(super) max_bytes: u64,
}

/// The end of the data of a stream: either its valid end or an error that prevents further reads.
#[derive(Debug, Clone)]
pub(super) struct StreamEnd {
    /// Number of decompressed bytes before the end.
    pub(super) num_bytes: u64,
    pub(super) fault: Option<Fault>,
}

/// Offsets at which a cursor records seek points: the first possible offset from `next_offset` on, and then the first
/// possible one after every `spacing` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointSchedule {
    pub(super) next_offset: u64,
    pub(super) spacing: u64,
}

/// A decompressor at some position of the stream.
pub(super) struct Cursor {
    options: StreamOptions,
    phase: StreamPhase,
    input: BufferedInput,
    inflater: Box<DecompressorOxide>,
    checksum: MemberChecksum,
    /// Output buffer; `out[..filled]` is the most recent output.
    out: Vec<u8>,
    /// Offset of `out[0]` in the decompressed data.
    out_offset: u64,
    filled: usize,
    /// Position in `out` of the first byte of the current member.
    member_start: usize,
    schedule: PointSchedule,
    points: Vec<SeekPoint>,
    stream_end: Option<StreamEnd>,
}

impl Cursor {
    /// Creates a cursor at a seek point, or at the start of the file if `point` is None.
    pub(super) fn new_at(options: StreamOptions, point: Option<&SeekPoint>) -> Result<Self, Fault> {
        let mut cursor = Self {
            options,
            phase: StreamPhase::Header,
            input: BufferedInput::new_at(point.map_or(0, |point| point.offset_in))?,
            inflater: Box::default(),
            checksum: MemberChecksum::new(options.container),
            out: memory::filled(WINDOW_BYTES + OUTPUT_BYTES, 0)?,
            out_offset: point.map_or(0, |point| point.offset_out),
            filled: 0,
            member_start: 0,
            schedule: PointSchedule { next_offset: u64::MAX, spacing: u64::MAX },
            points: Vec::new(),
            stream_end: None,
        };
        if let Some(block) = point.and_then(|point| point.block.as_ref()) {
            cursor.restore_block_start(block)?;
        }
        Ok(cursor)
    }

    /// Returns the first offset that this cursor can read; for earlier data, the stream must be inflated again.
    pub(super) fn first_offset(&self) -> u64 {
        self.out_offset
    }

    /// Returns the offset up to which the stream has been inflated.
    pub(super) fn end_offset(&self) -> u64 {
        self.out_offset + self.filled as u64
    }

    /// Returns the end of the data if the cursor has reached it.
    pub(super) fn stream_end(&self) -> Option<&StreamEnd> {
        self.stream_end.as_ref()
    }

    pub(super) fn set_schedule(&mut self, schedule: PointSchedule) {
        self.schedule = schedule;
    }

    /// Returns the seek points that were recorded since the last call.
    pub(super) fn take_seek_points(&mut self) -> Vec<SeekPoint> {
        std::mem::take(&mut self.points)
    }

    /// Reads at `offset`, which must not be before `first_offset`. Returns fewer bytes than requested only at the end
    /// of the stream.
    pub(super) fn read_at(&mut self, file: &dyn ReadAt, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let mut done = 0;
        while done < buf.len() {
            let count = self.copy_buffered(offset.saturating_add(done as u64), &mut buf[done..]);
            done += count;
            if count == 0 {
                if self.stream_end.is_some() {
                    break;
                }
                self.process_next_piece(file)?;
            }
        }
        Ok(done)
    }

    /// Fills `buf` with the bytes at `offset` if all of them are in the output buffer; otherwise returns false.
    pub(super) fn copy_if_buffered(&self, offset: u64, buf: &mut [u8]) -> bool {
        let output = self.output_from(offset).get(..buf.len());
        output.inspect(|output| buf.copy_from_slice(output)).is_some()
    }

    fn copy_buffered(&self, offset: u64, buf: &mut [u8]) -> usize {
        let output = self.output_from(offset);
        let count = output.len().min(buf.len());
        buf[..count].copy_from_slice(&output[..count]);
        count
    }

    /// Returns the buffered output from `offset` on.
    fn output_from(&self, offset: u64) -> &[u8] {
        let start = offset.checked_sub(self.out_offset).and_then(|start| usize::try_from(start).ok());
        start.and_then(|start| self.out[..self.filled].get(start..)).unwrap_or_default()
    }

    fn restore_block_start(&mut self, block: &BlockStart) -> Result<(), Fault> {
        let window = block.window.bytes()?;
        self.out[..window.len()].copy_from_slice(&window);
        self.filled = window.len();
        self.out_offset -= window.len() as u64;
        self.checksum = block.checksum;
        *self.inflater = block.decompressor();
        self.phase = StreamPhase::Blocks;
        Ok(())
    }

    /// Processes one header, one trailer, or a piece of deflate data. If there is a fault, stores it as the end of the
    /// stream.
    fn process_next_piece(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let step = match self.phase {
            StreamPhase::Header => self.begin_member(file),
            StreamPhase::Blocks => self.inflate_piece(file),
            StreamPhase::Trailer => self.end_member(file),
        };
        match step {
            Err(SourceError::Fault(fault)) if fault.kind != FaultKind::OutOfMemory => {
                self.stream_end = Some(StreamEnd { num_bytes: self.end_offset(), fault: Some(fault) });
                Ok(())
            }
            other => other,
        }
    }

    fn member_reader<'a>(&'a mut self, file: &'a dyn ReadAt) -> MemberReader<'a> {
        let offset = self.end_offset();
        MemberReader { container: self.options.container, input: &mut self.input, file, offset }
    }

    fn begin_member(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let offset_in = self.input.position();
        if self.member_reader(file).read_header()? == NextMember::End {
            self.stream_end = Some(StreamEnd { num_bytes: self.end_offset(), fault: None });
            return Ok(());
        }
        if self.end_offset() >= self.schedule.next_offset {
            let point = SeekPoint { offset_in, offset_out: self.end_offset(), block: None };
            // If there is not enough memory for a seek point, none is recorded here.
            let _ = self.record_seek_point(point);
        }
        self.inflater.init();
        self.checksum = MemberChecksum::new(self.options.container);
        self.member_start = self.filled;
        self.phase = StreamPhase::Blocks;
        Ok(())
    }

    fn end_member(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        let checksum = self.checksum;
        self.member_reader(file).check_trailer(&checksum)?;
        self.phase = StreamPhase::Header;
        Ok(())
    }

    /// Inflates data with one call of the decompressor.
    fn inflate_piece(&mut self, file: &dyn ReadAt) -> Result<(), SourceError> {
        self.slide_window();
        self.input.refill_if_empty(file)?;
        // The output may exceed the limit by one byte: this shows that the stream is too long.
        let allowance = self.options.max_bytes.saturating_add(1).saturating_sub(self.end_offset());
        let max_output = (self.out.len() - self.filled).min(usize::try_from(allowance).unwrap_or(usize::MAX));
        let near_point = self.end_offset().saturating_add(max_output as u64) >= self.schedule.next_offset;
        let (status, num_consumed, num_output) = decompress_with_limit(
            &mut self.inflater,
            self.input.buffered_bytes(),
            &mut self.out[self.member_start..],
            self.filled - self.member_start,
            max_output,
            if near_point { FLAGS | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY } else { FLAGS },
        );
        self.input.consume(num_consumed);
        self.checksum.update(&self.out[self.filled..self.filled + num_output]);
        self.filled += num_output;
        self.enforce_limit()?;
        self.handle_inflate_status(status, num_consumed + num_output > 0)
    }

    fn handle_inflate_status(&mut self, status: TINFLStatus, made_progress: bool) -> Result<(), SourceError> {
        match status {
            TINFLStatus::Done => self.phase = StreamPhase::Trailer,
            TINFLStatus::BlockBoundary => {
                // If there is not enough memory for a seek point, none is recorded here.
                let _ = self.record_block_start();
            }
            TINFLStatus::NeedsMoreInput | TINFLStatus::HasMoreOutput if made_progress => {}
            TINFLStatus::NeedsMoreInput if self.input.buffered_bytes().is_empty() => {
                return Err(self.fault("stream ends early: inside a deflate block").into());
            }
            _ => {
                let near = self.input.position();
                return Err(self.fault(format!("bad deflate block near byte {near} of the file")).into());
            }
        }
        Ok(())
    }

    /// Moves the window to the front of the output buffer if little space is left after it.
    fn slide_window(&mut self) {
        if self.out.len() - self.filled >= MIN_FREE_OUTPUT {
            return;
        }
        let shift = self.filled - WINDOW_BYTES;
        self.out.copy_within(shift..self.filled, 0);
        self.out_offset += shift as u64;
        self.filled = WINDOW_BYTES;
        self.member_start = self.member_start.saturating_sub(shift);
    }

    fn enforce_limit(&mut self) -> Result<(), SourceError> {
        let excess = self.end_offset().saturating_sub(self.options.max_bytes);
        if excess == 0 {
            return Ok(());
        }
        self.filled -= excess as usize;
        let max = self.options.max_bytes;
        let fault = Fault::new(FaultKind::LimitExceeded, max, "the decompressed data exceeds the limit");
        Err(fault.with_values(format!("at most {max} bytes"), "more").into())
    }

    fn record_block_start(&mut self) -> Result<(), OutOfMemory> {
        if self.end_offset() < self.schedule.next_offset {
            return Ok(());
        }
        let Some(state) = self.inflater.block_boundary_state() else {
            return Ok(());
        };
        let window_start = self.member_start.max(self.filled.saturating_sub(WINDOW_BYTES));
        let window = HistoryWindow::Plain(Arc::new(memory::copy(&self.out[window_start..self.filled])?));
        let block = BlockStart { num_bits: state.num_bits, bits: state.bit_buf, checksum: self.checksum, window };
        let (offset_in, offset_out) = (self.input.position(), self.end_offset());
        self.record_seek_point(SeekPoint { offset_in, offset_out, block: Some(block) })
    }

    fn record_seek_point(&mut self, point: SeekPoint) -> Result<(), OutOfMemory> {
        let next_offset = point.offset_out.saturating_add(self.schedule.spacing);
        memory::push(&mut self.points, point)?;
        self.schedule.next_offset = next_offset;
        Ok(())
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::BadCompression, self.end_offset(), message)
    }
}
