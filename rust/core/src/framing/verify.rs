//! Verification of a whole shard: finds all faults, and continues after damage if the format allows it.
use super::gather::frame_length_fault;
use super::limits::check_frame_len;
use super::scan::{READ_AHEAD, ScanStep, Scanner};
use super::window::SourceWindow;
use super::{FrameKind, FrameSelection, for_each_payload};
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use crate::source::{ReadAt, SourceError};

/// Maximum length of a record whose payload is inspected. Inspection needs the complete record in memory.
const MAX_INSPECTED: u64 = 64 << 20;
/// Maximum number of faults that are returned; further faults are only counted.
const MAX_FAULTS: usize = 10_000;

/// A fault and the record in which it was found.
#[derive(Debug)]
pub struct RecordFault {
    /// Ordinal of the record. Damaged bytes up to the next record that can be found count as one record.
    pub record: u64,
    /// The fault.
    pub fault: Fault,
}

/// Result of the verification of a shard.
#[derive(Debug, Default)]
pub struct Verification {
    /// Number of valid records.
    pub num_records: u64,
    /// Offset of the frame of each valid record.
    pub offsets: Vec<i64>,
    /// Number of bytes that each valid record occupies in the uncompressed shard.
    pub lengths: Vec<i64>,
    /// The first faults, in file order.
    pub faults: Vec<RecordFault>,
    /// Number of all faults.
    pub num_faults: u64,
    /// Offset where the verification ended.
    pub end: u64,
}

/// Frames of a shard according to its sidecar index. They are consecutive, and the first one begins at offset 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameIndex<'a> {
    /// Offset of each frame.
    pub offsets: &'a [i64],
    /// Number of bytes that each frame occupies in the uncompressed shard.
    pub lengths: &'a [i64],
    /// CRC-32C of each payload, or -1 if unknown. May have fewer entries than there are frames.
    pub checksums: &'a [i64],
}

impl FrameIndex<'_> {
    /// Returns the length of frame number `record` if that frame begins at `offset` according to the index.
    fn frame_len(&self, record: u64, offset: u64) -> Option<u64> {
        let ordinal = record as usize;
        (self.offsets.get(ordinal) == Some(&(offset as i64))).then(|| self.lengths[ordinal] as u64)
    }

    fn payload_checksum(&self, record: u64) -> i64 {
        self.checksums.get(record as usize).copied().unwrap_or(-1)
    }
}

/// Additional check of a record: takes its ordinal, offset and payload, and returns a fault if there is one.
pub type PayloadCheck<'i> = &'i mut dyn FnMut(u64, u64, &[u8]) -> Option<Fault>;

/// Verifies all of `source`; `inspect` checks the payload of each record whose frame is valid. A payload of more than
/// `max_payload_bytes` is a fault.
///
/// Compares the records with the lengths and checksums in `index`. After damage, continues at the next record in
/// `index`, or searches for a record header if `index` has none.
pub fn verify(
    source: &dyn ReadAt,
    kind: FrameKind,
    index: FrameIndex<'_>,
    max_payload_bytes: u64,
    mut inspect: Option<PayloadCheck<'_>>,
) -> Result<Verification, SourceError> {
    let mut window = SourceWindow::new(source, Vec::new());
    let mut report = Verification::default();
    let mut record = 0;
    let mut offset = 0;
    loop {
        let mut scanner = Scanner {
            window: &mut window,
            kind,
            verify: true,
            ahead: READ_AHEAD,
            // With a limit here, the records after a record that is too long would not be found. `inspect_record`
            // checks the limit.
            max_payload_bytes: u64::MAX,
            last_len: 0,
        };
        let step = scanner.parse_record(offset)?;
        let (length, fault) = match (step, index.frame_len(record, offset)) {
            (ScanStep::End, _) => break,
            (ScanStep::Record(found), Some(length)) if found != length => {
                (length, Some(frame_length_fault(offset, length, found)))
            }
            (ScanStep::Record(length), indexed) => {
                let checksum = if indexed.is_some() { index.payload_checksum(record) } else { -1 };
                let record = ValidRecord { ordinal: record, offset, length, checksum, max_payload_bytes };
                (length, inspect_record(&mut window, kind, record, &mut inspect)?)
            }
            (ScanStep::Damaged(length, fault), indexed) => (indexed.unwrap_or(length), Some(fault)),
            (ScanStep::LostSync(fault), Some(length)) if !blocks_further_reads(&fault) => (length, Some(fault)),
            (ScanStep::LostSync(fault), _) => {
                let from = resync_start(kind, &fault, offset);
                report.add_fault(record, fault)?;
                record += 1;
                match find_next_record(&mut window, kind, from)? {
                    Some(next) => offset = next,
                    None => break,
                }
                continue;
            }
        };
        match fault {
            Some(fault) => report.add_fault(record, fault)?,
            None => report.add_record(offset, length)?,
        }
        record += 1;
        offset += length;
        if source.num_bytes().is_some_and(|total| offset > total) {
            break;
        }
    }
    report.end = source.num_bytes().unwrap_or(offset);
    Ok(report)
}

/// Returns whether a fault prevents reading any data after it, as damage in a compressed stream does.
fn blocks_further_reads(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::BadCompression | FaultKind::LimitExceeded)
}

impl Verification {
    fn add_fault(&mut self, record: u64, fault: Fault) -> Result<(), OutOfMemory> {
        self.num_faults += 1;
        if self.faults.len() < MAX_FAULTS {
            memory::push(&mut self.faults, RecordFault { record, fault })?;
        }
        Ok(())
    }

    fn add_record(&mut self, offset: u64, length: u64) -> Result<(), OutOfMemory> {
        self.num_records += 1;
        memory::push(&mut self.offsets, offset as i64)?;
        memory::push(&mut self.lengths, length as i64)
    }
}

/// A record whose frame is valid.
#[derive(Clone, Copy)]
struct ValidRecord {
    ordinal: u64,
    offset: u64,
    length: u64,
    /// CRC-32C of the payload in the sidecar index, or -1 if unknown.
    checksum: i64,
    /// Maximum length of the payload; a longer one is a fault.
    max_payload_bytes: u64,
}

/// Checks a record whose frame is valid: its length, its padding, its payload, and its checksum in the sidecar index.
fn inspect_record(
    window: &mut SourceWindow<'_>,
    kind: FrameKind,
    record: ValidRecord,
    inspect: &mut Option<PayloadCheck<'_>>,
) -> Result<Option<Fault>, SourceError> {
    let ValidRecord { ordinal, offset, length, checksum, max_payload_bytes } = record;
    match check_frame_len(window.source(), kind, (offset, length), max_payload_bytes) {
        Err(SourceError::Fault(fault)) if fault.kind == FaultKind::RecordTooLong => return Ok(Some(fault)),
        other => other?,
    }
    let is_short = length <= MAX_INSPECTED;
    if is_short
        && kind.footer_len().is_none()
        && let Some(fault) = kind.find_padding_fault(window.read_bytes(offset, length as usize, READ_AHEAD)?, offset)
    {
        return Ok(Some(fault));
    }
    let inspect = inspect.as_mut().filter(|_| is_short);
    if inspect.is_none() && checksum < 0 {
        return Ok(None);
    }
    let (offsets, lengths, checksums) = ([offset as i64], [length as i64], [checksum]);
    let selection = FrameSelection {
        kind,
        offsets: &offsets,
        lengths: &lengths,
        verify: false,
        checksums: Some(&checksums),
        max_payload_bytes,
    };
    let (mut fault, mut inspect) = (None, inspect);
    let visited = for_each_payload(window, selection, |_, payload| {
        fault = inspect.as_mut().and_then(|inspect| inspect(ordinal, offset, payload));
        Ok(())
    });
    match visited.map_err(|failure| failure.error) {
        Ok(()) => Ok(fault),
        Err(SourceError::Fault(fault)) if fault.kind == FaultKind::SidecarChecksum => Ok(Some(fault)),
        Err(error) => Err(error),
    }
}

/// Returns the first offset at which the next record may begin after a fault in the record at `offset`.
///
/// In a format whose records can have several parts, a fault at a later offset marks the start of a new record.
pub(super) fn resync_start(kind: FrameKind, fault: &Fault, offset: u64) -> u64 {
    if kind.separator().is_some() && fault.offset > offset { fault.offset } else { offset + 1 }
}

/// Finds the next record at or after `from`. Returns None if there is none, if the format has no marker by which
/// records can be found, or if the source cannot be decompressed.
pub(super) fn find_next_record(
    window: &mut SourceWindow<'_>,
    kind: FrameKind,
    mut from: u64,
) -> Result<Option<u64>, SourceError> {
    if !kind.can_resync() {
        return Ok(None);
    }
    let source = window.source();
    let overlap = kind.header_len() - 1;
    let mut length = READ_AHEAD;
    loop {
        let bytes = match window.read_bytes(from, length, length) {
            Err(SourceError::Fault(fault)) if fault.kind != FaultKind::OutOfMemory => {
                // The bytes before the damage of a compressed stream are read in smaller and smaller steps.
                if length <= kind.header_len() {
                    return Ok(None);
                }
                length = (length / 2).max(kind.header_len());
                continue;
            }
            other => other?,
        };
        let num_read = bytes.len();
        if num_read <= overlap {
            return Ok(None);
        }
        let left = source.num_bytes().map_or(u64::MAX, |total| total.saturating_sub(from));
        if let Some(position) = kind.resync(bytes, from, left) {
            return Ok(Some(from + position as u64));
        }
        from += (num_read - overlap) as u64;
    }
}
