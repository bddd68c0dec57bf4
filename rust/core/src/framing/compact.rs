//! Payloads of records that lie in memory already, moved together in place: headers, footers and padding fall away.
use super::gather::{ReadFailure, payload_of_frame};
use super::payloads::Payloads;
use super::scan::Scan;
use super::{FrameKind, PartKind};
use crate::checksum::crc32c_of_rows;
use crate::error::Fault;
use std::ops::Range;

/// Records that are checked before they are moved; the data of small ones stay in the nearest cache meanwhile.
const GROUP: usize = 48;

/// Turns the stored bytes of scanned records, which begin at `start` of `memory`, into their payloads.
///
/// The scan has checked the headers. What came before a fault is kept.
pub fn compact(
    kind: FrameKind,
    found: &Scan,
    memory: Vec<u8>,
    start: usize,
    verify: bool,
) -> (Payloads, Result<(), ReadFailure>) {
    let mut payloads = Payloads::new(memory, found.offsets.len());
    let (mut joined, mut at, mut first) = (Vec::new(), start, 0);
    for (offsets, lengths) in found.offsets.chunks(GROUP).zip(found.lengths.chunks(GROUP)) {
        let (sound, broken) = match verify && kind.has_checksum() {
            true => checked(kind, offsets, lengths, payloads.memory(at..)),
            false => (offsets.len(), None),
        };
        for (ordinal, (&offset, &length)) in offsets[..sound].iter().zip(lengths).enumerate() {
            let end = at + length as usize;
            if let Err(fault) = pull(kind, &mut payloads, at..end, offset, &mut joined) {
                return (payloads, Err(ReadFailure { ordinal: first + ordinal, error: fault.into() }));
            }
            at = end;
        }
        if let Some(fault) = broken {
            return (payloads, Err(ReadFailure { ordinal: first + sound, error: fault.into() }));
        }
        first += offsets.len();
    }
    (payloads, Ok(()))
}

/// Number of records in front of the first one whose payload is not what its checksum says, and what is wrong there.
fn checked(kind: FrameKind, offsets: &[i64], lengths: &[i64], stored: &[u8]) -> (usize, Option<Fault>) {
    let (mut rows, mut feet): ([&[u8]; GROUP], [&[u8]; GROUP]) = ([&[]; GROUP], [&[]; GROUP]);
    let (header_len, footer_len) = (kind.header_len(), kind.footer_len().unwrap_or(0));
    let mut rest = stored;
    for ((row, footer), &length) in rows.iter_mut().zip(&mut feet).zip(lengths) {
        let (frame, behind) = rest.split_at(length as usize);
        (*row, *footer) = frame[header_len..].split_at(frame.len() - header_len - footer_len);
        rest = behind;
    }
    let mut sums = [0; GROUP];
    let count = offsets.len();
    crc32c_of_rows(&rows[..count], &mut sums[..count]);
    for (ordinal, (&sum, footer)) in sums[..count].iter().zip(&feet).enumerate() {
        if let Err(fault) = kind.check_footer(sum, footer, offsets[ordinal] as u64) {
            return (ordinal, Some(fault));
        }
    }
    (count, None)
}

/// Takes the payload out of the stored bytes of a record.
#[inline]
fn pull(
    kind: FrameKind,
    payloads: &mut Payloads,
    frame: Range<usize>,
    offset: i64,
    joined: &mut Vec<u8>,
) -> Result<(), Fault> {
    match kind.footer_len() {
        Some(footer_len) => {
            payloads.push_from_memory(frame.start + kind.header_len()..frame.end - footer_len);
            Ok(())
        }
        None => pull_parts(kind, payloads, frame, offset, joined),
    }
}

/// A record whose payload has to be looked for: padded, or in several parts.
fn pull_parts(
    kind: FrameKind,
    payloads: &mut Payloads,
    frame: Range<usize>,
    offset: i64,
    joined: &mut Vec<u8>,
) -> Result<(), Fault> {
    let stored = payloads.memory(frame.clone());
    let header = kind.header(&stored[..kind.header_len()], offset as u64)?;
    if header.part == PartKind::Whole {
        let first = frame.start + kind.header_len();
        payloads.push_from_memory(first..first + header.data_len as usize);
    } else {
        payload_of_frame(kind, stored, offset as u64, false, joined)?;
        payloads.push(joined);
    }
    Ok(())
}
