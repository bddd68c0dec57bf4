//! Walks a shard to its end and tells every fault, going on behind the damage where the format allows it.
use super::scan::{Step, Walker};
use super::window::Window;
use super::{FrameKind, Selection, for_each_payload};
use crate::error::Fault;
use crate::source::{ReadAt, SourceError};

const AHEAD: usize = 256 << 10;
/// Payloads longer than this are not handed to `inspect`: they would have to be held in memory whole.
const INSPECT: u64 = 64 << 20;
/// More faults than this are counted, not kept.
const KEEP: usize = 10_000;

/// A fault and the record that it spoils.
#[derive(Debug)]
pub struct RecordFault {
    /// Ordinal of the record, counting damaged ones whose extent is known.
    pub record: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What a walk through a shard found.
#[derive(Debug, Default)]
pub struct Verification {
    /// Records that are sound.
    pub num_records: u64,
    /// Frames of the sound records.
    pub offsets: Vec<i64>,
    /// Stored bytes of each of them.
    pub lengths: Vec<i64>,
    /// The first faults, in file order.
    pub faults: Vec<RecordFault>,
    /// All faults.
    pub num_faults: u64,
    /// Where the walk ended.
    pub end: u64,
}

/// Looks at a record's ordinal, offset and payload and tells what is wrong with it.
pub type Inspect<'i> = &'i mut dyn FnMut(u64, u64, &[u8]) -> Option<Fault>;

/// Walks `source` from its first to its last byte.
pub fn verify(
    source: &dyn ReadAt,
    kind: FrameKind,
    mut inspect: Option<Inspect<'_>>,
) -> Result<Verification, SourceError> {
    let mut window = Window::new(source, Vec::new());
    let mut report = Verification::default();
    let mut record = 0;
    let mut at = 0;
    loop {
        let step = Walker { window: &mut window, kind, verify: true, ahead: AHEAD, last: 0 }.step(at)?;
        let (length, fault) = match step {
            Step::End => break,
            Step::Record(length) => (length, look(&mut window, kind, at, length, record, &mut inspect)?),
            Step::Damaged(length, fault) => (length, Some(fault)),
            Step::Lost(fault) => {
                let from = resume_from(kind, &fault, at);
                report.add(record, fault);
                record += 1;
                match find(&mut window, kind, from)? {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            }
        };
        match fault {
            Some(fault) => report.add(record, fault),
            None => report.keep(at, length),
        }
        record += 1;
        at += length;
    }
    report.end = source.num_bytes().unwrap_or(at);
    Ok(report)
}

impl Verification {
    fn add(&mut self, record: u64, fault: Fault) {
        self.num_faults += 1;
        if self.faults.len() < KEEP {
            self.faults.push(RecordFault { record, fault });
        }
    }

    fn keep(&mut self, at: u64, length: u64) {
        self.num_records += 1;
        self.offsets.push(at as i64);
        self.lengths.push(length as i64);
    }
}

/// Padding and payload of a record whose frame is sound.
fn look(
    window: &mut Window<'_>,
    kind: FrameKind,
    at: u64,
    length: u64,
    record: u64,
    inspect: &mut Option<Inspect<'_>>,
) -> Result<Option<Fault>, SourceError> {
    if length > INSPECT {
        return Ok(None);
    }
    if kind.footer_len().is_none()
        && let Some(fault) = kind.padding_fault(window.bytes(at, length as usize, AHEAD)?, at)
    {
        return Ok(Some(fault));
    }
    let Some(inspect) = inspect else { return Ok(None) };
    let selection = Selection { kind, offsets: &[at as i64], lengths: &[length as i64], verify: false };
    let mut fault = None;
    let seen = for_each_payload(window, selection, |_, payload| {
        fault = inspect(record, at, payload);
        Ok(())
    });
    seen.map_err(|gathered| gathered.error)?;
    Ok(fault)
}

/// First byte that may begin a record after a fault: a misplaced beginning is itself one.
fn resume_from(kind: FrameKind, fault: &Fault, at: u64) -> u64 {
    if kind.separator().is_some() && fault.offset > at { fault.offset } else { at + 1 }
}

/// Next record start at or after `from`; none where the format has no way to tell, or the source is damaged.
fn find(window: &mut Window<'_>, kind: FrameKind, mut from: u64) -> Result<Option<u64>, SourceError> {
    if !kind.can_resync() {
        return Ok(None);
    }
    let source = window.source();
    loop {
        let bytes = match window.bytes(from, AHEAD, AHEAD) {
            Err(SourceError::Fault(_)) => return Ok(None),
            other => other?,
        };
        let got = bytes.len();
        let overlap = kind.header_len() - 1;
        if got <= overlap {
            return Ok(None);
        }
        let left = source.num_bytes().map_or(u64::MAX, |total| total.saturating_sub(from));
        if let Some(place) = kind.resync(bytes, from, left) {
            return Ok(Some(from + place as u64));
        }
        from += (got - overlap) as u64;
    }
}
