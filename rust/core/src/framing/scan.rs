//! Finds the frames of a shard, from headers alone or with every checksum computed.
use std::hint::black_box;

use super::window::Window;
use super::{FrameKind, Header, PartKind, truncated_data, truncated_header};
use crate::checksum::Crc32c;
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};

/// Read at once while records are small.
const AHEAD: usize = 256 << 10;
/// Records longer than this are stepped over by reading headers alone.
pub const SKIP: u64 = 4 << 10;
/// By how much two records that follow one another differ in length, mostly.
const AROUND: usize = 128;

/// Frames found, where they end, and what stopped the scan, if not the end of the data.
#[derive(Debug, Default)]
pub struct Scan {
    /// First byte of each frame, from the start of the uncompressed shard.
    pub offsets: Vec<i64>,
    /// Stored bytes of each frame: headers, data, padding and footers of all its parts.
    pub lengths: Vec<i64>,
    /// Where the last frame found ends.
    pub end: u64,
    /// Whether `end` is the end of the data.
    pub finished: bool,
    /// The damage that stopped the scan at `end`.
    pub fault: Option<Fault>,
}

/// Where a scan stops though the data go on.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Most frames.
    pub num_records: u64,
    /// No further frame once this many bytes are passed.
    pub num_bytes: u64,
}

impl Limit {
    /// To the end of the data.
    pub const NONE: Self = Self { num_records: u64::MAX, num_bytes: u64::MAX };
}

/// What stands at an offset.
pub(super) enum Step {
    /// A record of that many stored bytes.
    Record(u64),
    /// A record whose extent is certain but whose payload is damaged.
    Damaged(u64, Fault),
    /// Nothing: the data end here.
    End,
    /// No record can be told from here on.
    Lost(Fault),
}

/// Finds frames from `start` on; with `verify`, computes every checksum that the format has.
pub fn scan(source: &dyn ReadAt, kind: FrameKind, start: u64, verify: bool, limit: Limit) -> Result<Scan, SourceError> {
    scan_window(&mut Window::new(source, Vec::new()), kind, start, verify, limit, AHEAD)
}

/// [`scan`] through a window that the caller keeps; `ahead` bytes are read at once while records are small.
pub fn scan_window(
    window: &mut Window<'_>,
    kind: FrameKind,
    start: u64,
    verify: bool,
    limit: Limit,
    ahead: usize,
) -> Result<Scan, SourceError> {
    let mut found = Scan { end: start, ..Scan::default() };
    let stop = start.saturating_add(limit.num_bytes);
    let mut walker = Walker { window, kind, verify, ahead, last: 0 };
    while (found.offsets.len() as u64) < limit.num_records && found.end < stop {
        if !verify && walker.hurry(&mut found, limit.num_records, stop) {
            continue;
        }
        match walker.step(found.end)? {
            Step::Record(length) => {
                found.offsets.push(found.end as i64);
                found.lengths.push(length as i64);
                found.end += length;
            }
            Step::End => {
                found.finished = true;
                break;
            }
            Step::Lost(fault) | Step::Damaged(_, fault) => {
                found.fault = Some(fault);
                break;
            }
        }
    }
    Ok(found)
}

/// Steps from record to record.
pub(super) struct Walker<'w, 's> {
    pub window: &'w mut Window<'s>,
    pub kind: FrameKind,
    pub verify: bool,
    pub ahead: usize,
    /// Stored bytes of the last part seen, which tell how much to read ahead.
    pub last: u64,
}

impl Walker<'_, '_> {
    /// What stands at `start`.
    #[inline]
    pub fn step(&mut self, start: u64) -> Result<Step, SourceError> {
        match self.try_step(start) {
            Err(SourceError::Fault(fault)) => Ok(Step::Lost(fault)),
            other => other,
        }
    }

    /// Takes the records of one part that the window holds whole; false if there is none at the front.
    fn hurry(&mut self, found: &mut Scan, num_records: u64, stop: u64) -> bool {
        let (start, header_len) = (found.end, self.kind.header_len());
        let held = self.window.held(start);
        let mut at = 0;
        while let Some(bytes) = held.get(at..at + header_len) {
            let offset = start + at as u64;
            let Ok(header) = self.kind.header(bytes, offset) else { break };
            let fits = header.stored_len <= (held.len() - at) as u64 && header.part == PartKind::Whole;
            if !fits || found.offsets.len() as u64 == num_records || offset >= stop {
                break;
            }
            found.offsets.push(offset as i64);
            found.lengths.push(header.stored_len as i64);
            at += header.stored_len as usize;
            touch(held, at + 2 * header.stored_len as usize);
        }
        found.end = start + at as u64;
        at > 0
    }

    fn try_step(&mut self, start: u64) -> Result<Step, SourceError> {
        let mut at = start;
        loop {
            let header = match self.header(at)? {
                Ok(Some(header)) => header,
                Ok(None) if at == start => return Ok(Step::End),
                Ok(None) => return Ok(Step::Lost(unfinished(at))),
                Err(fault) => return Ok(Step::Lost(fault)),
            };
            if let Some(fault) = misplaced(header.part, at == start, at) {
                return Ok(Step::Lost(fault));
            }
            let end = at + header.stored_len;
            match self.data(at, header, start)? {
                Err(fault) if fault.kind == FaultKind::PayloadChecksum => return Ok(Step::Damaged(end - start, fault)),
                Err(fault) => return Ok(Step::Lost(fault)),
                Ok(()) => at = end,
            }
            if matches!(header.part, PartKind::Whole | PartKind::Last) {
                return Ok(Step::Record(at - start));
            }
        }
    }

    #[inline]
    fn header(&mut self, at: u64) -> Result<Result<Option<Header>, Fault>, SourceError> {
        let want = self.kind.header_len();
        let skips = self.last > SKIP && !self.verify && !self.window.source().is_sequential();
        let ahead = if skips { want } else { self.ahead };
        let bytes = self.window.bytes(at, want, ahead)?;
        Ok(match bytes.len() {
            0 => Ok(None),
            short if short < want => Err(truncated_header(self.kind, at, short)),
            _ => self.kind.header(bytes, at).map(Some),
        })
    }

    /// Makes sure that a part's bytes are all there, and are what their checksum says if that is asked for.
    #[inline]
    fn data(&mut self, at: u64, header: Header, record: u64) -> Result<Result<(), Fault>, SourceError> {
        self.last = header.stored_len;
        match self.window.source().num_bytes() {
            Some(total) if header.stored_len > total.saturating_sub(at) => {
                return Ok(Err(truncated_data(record, header.stored_len, total.saturating_sub(at))));
            }
            None if !self.is_there(at, header.stored_len)? => {
                let left = self.window.source().num_bytes().unwrap_or(at).saturating_sub(at);
                return Ok(Err(truncated_data(record, header.stored_len, left)));
            }
            _ if self.window.is_pinned() && self.window.source().is_sequential() => {
                self.is_there(at, header.stored_len)?;
            }
            _ => {}
        }
        if self.verify && self.kind.has_checksum() { self.checksum(at, header, record) } else { Ok(Ok(())) }
    }

    /// Whether the source goes on that far; a pinned window holds the bytes afterwards.
    fn is_there(&mut self, at: u64, length: u64) -> Result<bool, SourceError> {
        if self.window.is_pinned() {
            return Ok(self.window.bytes(at, length as usize, self.ahead)?.len() as u64 == length);
        }
        Ok(!self.window.bytes(at + length - 1, 1, self.ahead)?.is_empty())
    }

    fn checksum(&mut self, at: u64, header: Header, record: u64) -> Result<Result<(), Fault>, SourceError> {
        let mut crc = Crc32c::new();
        let mut from = at + self.kind.header_len() as u64;
        let end = from + header.data_len;
        while from < end {
            let want = (end - from).min(self.ahead as u64) as usize;
            let bytes = self.window.bytes(from, want, self.ahead)?;
            if bytes.is_empty() {
                return Ok(Err(truncated_data(record, header.stored_len, from - at)));
            }
            crc.update(bytes);
            from += bytes.len() as u64;
        }
        let footer_len = self.kind.footer_len().unwrap_or(0);
        let footer = self.window.bytes(end, footer_len, self.ahead)?;
        if footer.len() < footer_len {
            return Ok(Err(truncated_data(record, header.stored_len, end - at)));
        }
        Ok(self.kind.check_footer(crc.finish(), footer, record))
    }
}

/// Has the lines around `likely`, where a header will soon be looked for, brought from memory meanwhile.
#[inline]
fn touch(held: &[u8], likely: usize) {
    if let Some(&[first, .., last]) = held.get(likely.saturating_sub(AROUND)..likely + AROUND) {
        black_box(first ^ held[likely] ^ last);
    }
}

fn unfinished(at: u64) -> Fault {
    Fault::new(FaultKind::BadContinuation, at, "a record ends without its last part")
        .values("a middle or last part", "the end of the data")
}

/// A part that cannot stand where it stands: a continuation first, or a beginning inside a record.
fn misplaced(place: PartKind, begins: bool, at: u64) -> Option<Fault> {
    let fault =
        |message, expected, found| Some(Fault::new(FaultKind::BadContinuation, at, message).values(expected, found));
    match (place, begins) {
        (PartKind::Middle | PartKind::Last, true) => {
            fault("a record begins with the rest of another", "a whole or first part", "a middle or last part")
        }
        (PartKind::Whole | PartKind::First, false) => {
            fault("a record ends without its last part", "a middle or last part", "the beginning of a record")
        }
        _ => None,
    }
}
