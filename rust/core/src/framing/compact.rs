//! Payloads of records that lie in memory already, moved together in place: heads, footers and padding fall away.
use super::gather::{Gathered, payload_of_frame};
use super::payloads::Payloads;
use super::scan::Scan;
use super::{FrameKind, Place, tfrecord};
use crate::checksum::masked_crc32c;
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
    let mut payloads = Payloads::new(memory, found.offsets.len());
    let mut joined = Vec::new();
    let mut at = start;
    for (ordinal, (&offset, &length)) in found.offsets.iter().zip(&found.lengths).enumerate() {
        let end = at + length as usize;
        let moved = match kind.foot_len() {
            Some(foot_len) => {
                let data = at + kind.head_len()..end - foot_len;
                check(kind, payloads.stored(data.start..end), foot_len, offset, verify).map(|()| payloads.pull(data))
            }
            None => pull_parts(kind, &mut payloads, at..end, offset, &mut joined),
        };
        if let Err(fault) = moved {
            return (payloads, Err(Gathered { ordinal, error: fault.into() }));
        }
        at = end;
    }
    (payloads, Ok(()))
}

#[inline]
fn check(kind: FrameKind, stored: &[u8], foot_len: usize, offset: i64, verify: bool) -> Result<(), Fault> {
    if !verify || !kind.has_checksum() {
        return Ok(());
    }
    let (data, foot) = stored.split_at(stored.len() - foot_len);
    tfrecord::check(masked_crc32c(data), foot, offset as u64)
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
