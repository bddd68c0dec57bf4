//! Payloads of records that lie in memory already, moved together in place: heads, footers and padding fall away.
use super::gather::{Gathered, payload_of_frame};
use super::payloads::Payloads;
use super::scan::Scan;
use super::{FrameKind, Place, tfrecord};
use crate::checksum::mask;
use crate::checksum_rows::crc32c_of_rows;
use crate::error::Fault;

/// Turns the stored bytes of scanned records, which begin at `start` of `memory`, into their payloads.
///
/// The scan has checked the heads. What came before a fault is kept.
pub fn compact(
    kind: FrameKind,
    found: &Scan,
    memory: Vec<u8>,
    start: usize,
    verify: bool,
) -> (Payloads, Result<(), Gathered>) {
    let (sound, outcome) = match verify && kind.has_checksum() {
        true => checked(found, &memory[start..]),
        false => (found.offsets.len(), Ok(())),
    };
    let mut payloads = Payloads::new(memory, sound);
    let mut joined = Vec::new();
    let mut at = start;
    for (ordinal, (&offset, &length)) in found.offsets[..sound].iter().zip(&found.lengths).enumerate() {
        let end = at + length as usize;
        let moved = match kind.foot_len() {
            Some(foot_len) => {
                payloads.pull(at + kind.head_len()..end - foot_len);
                Ok(())
            }
            None => pull_parts(kind, &mut payloads, at..end, offset, &mut joined),
        };
        if let Err(fault) = moved {
            return (payloads, Err(Gathered { ordinal, error: fault.into() }));
        }
        at = end;
    }
    (payloads, outcome)
}

/// Number of records in front of the first one whose payload is not what its checksum says.
fn checked(found: &Scan, stored: &[u8]) -> (usize, Result<(), Gathered>) {
    let mut at = 0;
    let parts = found.lengths.iter().map(|&length| {
        at += length as usize;
        tfrecord::split(&stored[at - length as usize..at])
    });
    let (rows, feet): (Vec<_>, Vec<_>) = parts.unzip();
    for (ordinal, (sum, foot)) in crc32c_of_rows(&rows).into_iter().zip(feet).enumerate() {
        if let Err(fault) = tfrecord::check(mask(sum), foot, found.offsets[ordinal] as u64) {
            return (ordinal, Err(Gathered { ordinal, error: fault.into() }));
        }
    }
    (found.offsets.len(), Ok(()))
}

/// A record whose payload has to be looked for: padded, or in several parts.
fn pull_parts(
    kind: FrameKind,
    payloads: &mut Payloads,
    frame: std::ops::Range<usize>,
    offset: i64,
    joined: &mut Vec<u8>,
) -> Result<(), Fault> {
    let stored = payloads.stored(frame.clone());
    let head = kind.head(&stored[..kind.head_len()], offset as u64)?;
    if head.place == Place::Whole {
        let first = frame.start + kind.head_len();
        payloads.pull(first..first + head.data_len as usize);
    } else {
        payload_of_frame(kind, stored, offset as u64, false, joined)?;
        payloads.push(joined);
    }
    Ok(())
}
