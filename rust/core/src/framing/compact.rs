//! In-place extraction of payloads: removes headers, footers and padding from frames that are already in memory.
use super::gather::{ReadFailure, extract_payload};
use super::payloads::PayloadBuffer;
use super::scan::ScanResult;
use super::{FrameKind, PartKind};
use crate::checksum::crc32c_of_rows;
use crate::error::Fault;
use std::ops::Range;

/// Number of records whose checksums are verified before their payloads are moved; few enough that small records stay
/// in the first-level cache.
const GROUP_LEN: usize = 48;

/// Moves the payloads of scanned frames to the start of `buffer`. The frames are in `buffer`, from index `start` on.
///
/// Headers are not checked again. If a payload checksum is wrong, the payloads before it are returned with the error.
pub fn extract_payloads_in_place(
    kind: FrameKind,
    scan: &ScanResult,
    buffer: Vec<u8>,
    start: usize,
    verify: bool,
) -> (PayloadBuffer, Result<(), ReadFailure>) {
    let mut payloads = PayloadBuffer::new(buffer, scan.offsets.len());
    let (mut joined, mut position, mut first) = (Vec::new(), start, 0);
    for (offsets, lengths) in scan.offsets.chunks(GROUP_LEN).zip(scan.lengths.chunks(GROUP_LEN)) {
        let (num_valid, fault) = match verify && kind.has_checksum() {
            true => verify_checksums(kind, offsets, lengths, payloads.buffer_bytes(position..)),
            false => (offsets.len(), None),
        };
        for (ordinal, (&offset, &length)) in offsets[..num_valid].iter().zip(lengths).enumerate() {
            let end = position + length as usize;
            if let Err(fault) = append_payload(kind, &mut payloads, position..end, offset, &mut joined) {
                return (payloads, Err(ReadFailure { ordinal: first + ordinal, error: fault.into() }));
            }
            position = end;
        }
        if let Some(fault) = fault {
            return (payloads, Err(ReadFailure { ordinal: first + num_valid, error: fault.into() }));
        }
        first += offsets.len();
    }
    (payloads, Ok(()))
}

/// Verifies the payload checksums of a group of frames; returns the number of valid frames before the first fault.
fn verify_checksums(kind: FrameKind, offsets: &[i64], lengths: &[i64], stored: &[u8]) -> (usize, Option<Fault>) {
    let (mut rows, mut footers): ([&[u8]; GROUP_LEN], [&[u8]; GROUP_LEN]) = ([&[]; GROUP_LEN], [&[]; GROUP_LEN]);
    let (header_len, footer_len) = (kind.header_len(), kind.footer_len().unwrap_or(0));
    let mut rest = stored;
    for ((row, footer), &length) in rows.iter_mut().zip(&mut footers).zip(lengths) {
        let (frame, next) = rest.split_at(length as usize);
        (*row, *footer) = frame[header_len..].split_at(frame.len() - header_len - footer_len);
        rest = next;
    }
    let mut checksums = [0; GROUP_LEN];
    let count = offsets.len();
    crc32c_of_rows(&rows[..count], &mut checksums[..count]);
    for (ordinal, (&checksum, footer)) in checksums[..count].iter().zip(&footers).enumerate() {
        if let Err(fault) = kind.check_footer(checksum, footer, offsets[ordinal] as u64) {
            return (ordinal, Some(fault));
        }
    }
    (count, None)
}

/// Appends a payload to `payloads`. Its frame is in the same buffer, at the range `frame`.
#[inline]
fn append_payload(
    kind: FrameKind,
    payloads: &mut PayloadBuffer,
    frame: Range<usize>,
    offset: i64,
    joined: &mut Vec<u8>,
) -> Result<(), Fault> {
    match kind.footer_len() {
        Some(footer_len) => Ok(payloads.push_from_buffer(frame.start + kind.header_len()..frame.end - footer_len)?),
        None => append_padded_payload(kind, payloads, frame, offset, joined),
    }
}

/// Like [`append_payload`], for formats with padding or several parts, where only the headers state the payload length.
fn append_padded_payload(
    kind: FrameKind,
    payloads: &mut PayloadBuffer,
    frame: Range<usize>,
    offset: i64,
    joined: &mut Vec<u8>,
) -> Result<(), Fault> {
    let stored = payloads.buffer_bytes(frame.clone());
    let header = kind.parse_header(&stored[..kind.header_len()], offset as u64)?;
    if header.part == PartKind::Whole {
        let first = frame.start + kind.header_len();
        Ok(payloads.push_from_buffer(first..first + header.data_len as usize)?)
    } else {
        extract_payload(kind, stored, offset as u64, false, joined)?;
        Ok(payloads.push(joined)?)
    }
}
