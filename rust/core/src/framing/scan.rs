//! Scanning: finds the frames of a shard from their headers, with or without verification of the checksums.
use std::hint::black_box;

use super::limits::check_payload_len;
use super::verify::{find_next_record, resync_start};
use super::window::SourceWindow;
use super::{FrameKind, Header, PartKind, truncated_data_fault, truncated_header_fault};
use crate::checksum::Crc32c;
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use crate::source::{ReadAt, SourceError};

/// Number of bytes per read while records have at most `MAX_READ_THROUGH` bytes.
pub(super) const READ_AHEAD: usize = 256 << 10;
/// After a record longer than this, the scan seeks to the next header instead of reading ahead.
pub const MAX_READ_THROUGH: u64 = 4 << 10;
/// Maximum number of damaged places that a scan skips.
const MAX_SKIPPED: usize = 10_000;
/// The next header is expected at an estimated position. Cache lines up to this distance from it are prefetched.
const PREFETCH_RADIUS: usize = 128;

/// The frames that a scan found, and the reason why it stopped.
#[derive(Debug, Default)]
pub struct ScanResult {
    /// Offset of each frame in the uncompressed shard.
    pub offsets: Vec<i64>,
    /// Number of bytes that each frame occupies: headers, data, padding and footers of all its parts.
    pub lengths: Vec<i64>,
    /// Offset of the end of the last frame.
    pub end: u64,
    /// Whether `end` is the end of the data.
    pub finished: bool,
    /// The fault that stopped the scan at `end`.
    pub fault: Option<Fault>,
    /// Faults after which the scan continued, each with the ordinal of the frame that covers the damaged bytes.
    pub skipped: Vec<(usize, Fault)>,
}

/// Limits of a scan, which may stop it before the end of the data.
#[derive(Debug, Clone, Copy)]
pub struct ScanLimit {
    /// Maximum number of frames.
    pub num_records: u64,
    /// The scan stops before the first frame that begins this many bytes or more after the start of the scan.
    pub num_bytes: u64,
    /// Maximum length of a payload. The first record with a longer one ends the scan with a fault.
    pub max_payload_bytes: u64,
}

impl ScanLimit {
    /// No limit: scan to the end of the data.
    pub const NONE: Self = Self { num_records: u64::MAX, num_bytes: u64::MAX, max_payload_bytes: u64::MAX };
}

/// Result of parsing the record at an offset.
pub(super) enum ScanStep {
    /// A valid record, with the number of bytes that it occupies.
    Record(u64),
    /// A record whose payload is damaged, with the number of bytes that it occupies.
    Damaged(u64, Fault),
    /// The end of the data.
    End,
    /// A fault after which the length of the record is unknown. So the start of the next record is unknown, too.
    LostSync(Fault),
}

/// Finds the frames from `start` on; with `verify`, also verifies payload checksums if the format has them.
pub fn scan(
    source: &dyn ReadAt,
    kind: FrameKind,
    start: u64,
    verify: bool,
    limit: ScanLimit,
) -> Result<ScanResult, SourceError> {
    scan_ahead(&mut SourceWindow::new(source, Vec::new()), kind, start, verify, limit)
}

/// Like [`scan_window`], but returns missing memory as an error instead of as the fault of the scan result.
fn scan_ahead(
    window: &mut SourceWindow<'_>,
    kind: FrameKind,
    start: u64,
    verify: bool,
    limit: ScanLimit,
) -> Result<ScanResult, SourceError> {
    let mut found = scan_window(window, kind, start, verify, limit, READ_AHEAD)?;
    match found.fault.take_if(|fault| fault.kind == FaultKind::OutOfMemory) {
        Some(fault) => Err(fault.into()),
        None => Ok(found),
    }
}

/// Like [`scan`], but continues after damage if the format allows it. The damaged bytes, up to the next record, count
/// as one frame.
pub fn scan_past_damage(
    source: &dyn ReadAt,
    kind: FrameKind,
    start: u64,
    verify: bool,
    limit: ScanLimit,
) -> Result<ScanResult, SourceError> {
    let mut window = SourceWindow::new(source, Vec::new());
    let mut all = scan_ahead(&mut window, kind, start, verify, limit)?;
    while let Some(fault) = all.fault.take() {
        let next = match all.skipped.len() < MAX_SKIPPED {
            true => find_next_record(&mut window, kind, resync_start(kind, &fault, all.end))?,
            false => None,
        };
        let Some(next) = next else {
            all.fault = Some(fault);
            break;
        };
        memory::push(&mut all.skipped, (all.offsets.len(), fault))?;
        memory::push(&mut all.offsets, all.end as i64)?;
        memory::push(&mut all.lengths, (next - all.end) as i64)?;
        let rest = ScanLimit { num_records: limit.num_records.saturating_sub(all.offsets.len() as u64), ..limit };
        let found = scan_ahead(&mut window, kind, next, verify, rest)?;
        memory::extend_from_slice(&mut all.offsets, &found.offsets)?;
        memory::extend_from_slice(&mut all.lengths, &found.lengths)?;
        (all.end, all.finished, all.fault) = (found.end, found.finished, found.fault);
    }
    Ok(all)
}

/// Like [`scan`], but reads through `window`. While records are short, each read fetches `ahead` bytes.
///
/// If there is not enough memory to keep a record in a pinned window, the scan stops with the fault `OutOfMemory`.
pub fn scan_window(
    window: &mut SourceWindow<'_>,
    kind: FrameKind,
    start: u64,
    verify: bool,
    limit: ScanLimit,
    ahead: usize,
) -> Result<ScanResult, SourceError> {
    let mut found = ScanResult { end: start, ..ScanResult::default() };
    let stop = start.saturating_add(limit.num_bytes);
    let mut scanner = Scanner { window, kind, verify, ahead, max_payload_bytes: limit.max_payload_bytes, last_len: 0 };
    while (found.offsets.len() as u64) < limit.num_records && found.end < stop {
        if !verify && scanner.scan_buffered(&mut found, limit.num_records, stop)? {
            continue;
        }
        let step = match scanner.parse_record(found.end) {
            Err(SourceError::Fault(fault)) => ScanStep::LostSync(fault),
            other => other?,
        };
        match step {
            ScanStep::Record(length) => {
                memory::push(&mut found.offsets, found.end as i64)?;
                memory::push(&mut found.lengths, length as i64)?;
                found.end += length;
            }
            ScanStep::End => {
                found.finished = true;
                break;
            }
            ScanStep::LostSync(fault) | ScanStep::Damaged(_, fault) => {
                found.fault = Some(fault);
                break;
            }
        }
    }
    Ok(found)
}

/// Parses the records of a scan one at a time.
pub(super) struct Scanner<'w, 's> {
    pub window: &'w mut SourceWindow<'s>,
    pub kind: FrameKind,
    pub verify: bool,
    pub ahead: usize,
    /// Maximum length of a payload; a longer one is a fault.
    pub max_payload_bytes: u64,
    /// Number of bytes that the previous part occupies. If it is large, the next read fetches only a header.
    pub last_len: u64,
}

impl Scanner<'_, '_> {
    /// Parses the record at `start`.
    #[inline]
    pub fn parse_record(&mut self, start: u64) -> Result<ScanStep, SourceError> {
        match self.try_parse_record(start) {
            Err(SourceError::Fault(fault)) if fault.kind != FaultKind::OutOfMemory => Ok(ScanStep::LostSync(fault)),
            other => other,
        }
    }

    /// Fast path: adds consecutive single-part records that the window contains completely. Returns false if it adds
    /// none.
    ///
    /// Stops before records with several parts, incomplete records and faults, which
    /// [`parse_record`](Self::parse_record) handles.
    fn scan_buffered(&mut self, found: &mut ScanResult, num_records: u64, stop: u64) -> Result<bool, OutOfMemory> {
        let (start, header_len) = (found.end, self.kind.header_len());
        let buffered = self.window.buffered_from(start);
        let mut position = 0;
        while let Some(bytes) = buffered.get(position..position + header_len) {
            let offset = start + position as u64;
            let Ok(header) = self.kind.parse_header(bytes, offset) else { break };
            let fits = header.stored_len <= (buffered.len() - position) as u64
                && header.part == PartKind::Whole
                && header.data_len <= self.max_payload_bytes;
            if !fits || found.offsets.len() as u64 == num_records || offset >= stop {
                break;
            }
            memory::push(&mut found.offsets, offset as i64)?;
            memory::push(&mut found.lengths, header.stored_len as i64)?;
            position += header.stored_len as usize;
            prefetch_around(buffered, position + 2 * header.stored_len as usize);
        }
        found.end = start + position as u64;
        Ok(position > 0)
    }

    fn try_parse_record(&mut self, start: u64) -> Result<ScanStep, SourceError> {
        let (mut offset, mut payload_len) = (start, 0);
        loop {
            let header = match self.read_header(offset)? {
                Ok(Some(header)) => header,
                Ok(None) if offset == start => return Ok(ScanStep::End),
                Ok(None) => return Ok(ScanStep::LostSync(missing_last_part_fault(offset))),
                Err(fault) => return Ok(ScanStep::LostSync(fault)),
            };
            if let Some(fault) = check_part_order(header.part, offset == start, offset) {
                return Ok(ScanStep::LostSync(fault));
            }
            let end = offset + header.stored_len;
            let separator = if offset > start { self.kind.separator().unwrap_or_default() } else { &[] };
            payload_len += separator.len() as u64 + header.data_len;
            match self.check_part_data(offset, header, start, payload_len)? {
                Err(fault) if fault.kind == FaultKind::PayloadChecksum => {
                    return Ok(ScanStep::Damaged(end - start, fault));
                }
                Err(fault) => return Ok(ScanStep::LostSync(fault)),
                Ok(()) => offset = end,
            }
            if matches!(header.part, PartKind::Whole | PartKind::Last) {
                return Ok(ScanStep::Record(offset - start));
            }
        }
    }

    #[inline]
    fn read_header(&mut self, offset: u64) -> Result<Result<Option<Header>, Fault>, SourceError> {
        let header_len = self.kind.header_len();
        let seeks = self.last_len > MAX_READ_THROUGH && !self.verify && !self.window.source().is_sequential();
        let ahead = if seeks { header_len } else { self.ahead };
        let bytes = self.window.read_bytes(offset, header_len, ahead)?;
        Ok(match bytes.len() {
            0 => Ok(None),
            short if short < header_len => Err(truncated_header_fault(self.kind, offset, short)),
            _ => self.kind.parse_header(bytes, offset).map(Some),
        })
    }

    /// Checks that the part at `offset` is complete and, with `verify`, that its checksum matches.
    ///
    /// Faults state `record`, the offset of the record, because a record may have several parts. `payload_len` is the
    /// length of the payload up to the end of this part.
    #[inline]
    fn check_part_data(
        &mut self,
        offset: u64,
        header: Header,
        record: u64,
        payload_len: u64,
    ) -> Result<Result<(), Fault>, SourceError> {
        self.last_len = header.stored_len;
        let total = self.window.source().num_bytes();
        if let Some(left) = total.map(|total| total.saturating_sub(offset)).filter(|&left| header.stored_len > left) {
            return Ok(Err(truncated_data_fault(record, header.stored_len, left)));
        }
        // This check comes before the part is read, because a pinned window would keep all of its bytes in memory.
        if let Err(fault) = check_payload_len(self.kind, record, payload_len, self.max_payload_bytes) {
            return Ok(Err(fault));
        }
        match total {
            None if !self.has_bytes_at(offset, header.stored_len)? => {
                let left = self.window.source().num_bytes().unwrap_or(offset).saturating_sub(offset);
                return Ok(Err(truncated_data_fault(record, header.stored_len, left)));
            }
            _ if self.window.is_pinned() && self.window.source().is_sequential() => {
                self.has_bytes_at(offset, header.stored_len)?;
            }
            _ => {}
        }
        if self.verify && self.kind.has_checksum() { self.check_part_crc(offset, header, record) } else { Ok(Ok(())) }
    }

    /// Returns whether the source has `length` bytes at `offset`. If the window is pinned, it contains them afterwards.
    fn has_bytes_at(&mut self, offset: u64, length: u64) -> Result<bool, SourceError> {
        if self.window.is_pinned() {
            return Ok(self.window.read_bytes(offset, length as usize, self.ahead)?.len() as u64 == length);
        }
        Ok(!self.window.read_bytes(offset + length - 1, 1, self.ahead)?.is_empty())
    }

    fn check_part_crc(&mut self, offset: u64, header: Header, record: u64) -> Result<Result<(), Fault>, SourceError> {
        let mut crc = Crc32c::new();
        let mut from = offset + self.kind.header_len() as u64;
        let end = from + header.data_len;
        while from < end {
            let len = (end - from).min(self.ahead as u64) as usize;
            let bytes = self.window.read_bytes(from, len, self.ahead)?;
            if bytes.is_empty() {
                return Ok(Err(truncated_data_fault(record, header.stored_len, from - offset)));
            }
            crc.update(bytes);
            from += bytes.len() as u64;
        }
        let footer_len = self.kind.footer_len().unwrap_or(0);
        let footer = self.window.read_bytes(end, footer_len, self.ahead)?;
        if footer.len() < footer_len {
            return Ok(Err(truncated_data_fault(record, header.stored_len, end - offset)));
        }
        Ok(self.kind.check_footer(crc.finish(), footer, record))
    }
}

/// Loads the cache lines around `position`, where the header of a later record is expected.
#[inline]
fn prefetch_around(buffered: &[u8], position: usize) {
    let range = position.saturating_sub(PREFETCH_RADIUS)..position + PREFETCH_RADIUS;
    if let Some(&[first, .., last]) = buffered.get(range) {
        black_box(first ^ buffered[position] ^ last);
    }
}

fn missing_last_part_fault(offset: u64) -> Fault {
    Fault::new(FaultKind::BadContinuation, offset, "a record ends without its last part")
        .with_values("a middle or last part", "the end of the data")
}

/// Returns a fault if a record starts with a middle or last part, or if a new record starts inside another one.
fn check_part_order(part: PartKind, is_start: bool, offset: u64) -> Option<Fault> {
    let fault = |message, expected, found| {
        Some(Fault::new(FaultKind::BadContinuation, offset, message).with_values(expected, found))
    };
    match (part, is_start) {
        (PartKind::Middle | PartKind::Last, true) => {
            fault("a record begins with a continuation part", "a whole or first part", "a middle or last part")
        }
        (PartKind::Whole | PartKind::First, false) => {
            fault("a record ends without its last part", "a middle or last part", "the beginning of a record")
        }
        _ => None,
    }
}
