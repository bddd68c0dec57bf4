//! Long records that follow one another, read straight into their places: heads and footers go elsewhere.
use std::io::IoSliceMut;

use super::gather::{Gathered, Selection, other_length};
use super::payloads::Payloads;
use super::window::Window;
use super::{FrameKind, MAX_MARGIN, truncated_data};
use crate::checksum::crc32c;
use crate::error::Fault;

/// Records from here on are read straight into place; below, copying is cheaper than telling the system where.
const LONG: i64 = 8 << 10;
/// Bytes per read, about: what was read is still in the second-level cache when its checksum is computed.
const BLOCK: i64 = 256 << 10;

/// Whether a frame is long enough, and of a format whose frames tell by their length how long the payload is.
pub fn is_long(kind: FrameKind, length: i64) -> bool {
    length >= LONG && kind.foot_len().is_some()
}

/// Reads the long records at the front of the selection as long as they follow one another; returns their number.
pub fn scatter(window: &Window<'_>, selection: Selection<'_>, payloads: &mut Payloads) -> Result<usize, Gathered> {
    let Some(foot_len) = selection.kind.foot_len() else { return Ok(0) };
    let mut done = 0;
    loop {
        let rest = selection.from(done);
        let count = block(rest);
        if count == 0 {
            return Ok(done);
        }
        let run = Selection { offsets: &rest.offsets[..count], lengths: &rest.lengths[..count], ..rest };
        read_block(window, run, foot_len, payloads)
            .map_err(|stopped| Gathered { ordinal: done + stopped.ordinal, ..stopped })?;
        done += count;
    }
}

/// Number of long frames at the front that lie side by side, up to a block of them.
fn block(selection: Selection<'_>) -> usize {
    let start = selection.offsets.first().copied().unwrap_or(0);
    let mut end = start;
    let frames = selection.offsets.iter().zip(selection.lengths);
    let fitting = frames.take_while(|&(&offset, &length)| {
        let fits = offset == end && is_long(selection.kind, length) && end - start < BLOCK;
        end = offset + length;
        fits
    });
    fitting.count()
}

fn read_block(
    window: &Window<'_>,
    run: Selection<'_>,
    foot_len: usize,
    payloads: &mut Payloads,
) -> Result<(), Gathered> {
    let head_len = run.kind.head_len();
    let data_len = |length: i64| length as usize - head_len - foot_len;
    let mut margins = vec![[0; MAX_MARGIN]; run.offsets.len() + 1];
    let mut slices = Vec::with_capacity(2 * margins.len());
    let places = payloads.room(run.lengths.iter().map(|&length| data_len(length)));
    let (between, last) = margins.split_at_mut(run.offsets.len());
    for (ordinal, (place, margin)) in places.into_iter().zip(between).enumerate() {
        slices.push(IoSliceMut::new(&mut margin[if ordinal == 0 { foot_len } else { 0 }..foot_len + head_len]));
        slices.push(place);
    }
    slices.push(IoSliceMut::new(&mut last[0][..foot_len]));
    let read = window.source().read_vectored_at(run.offsets[0] as u64, &mut slices);
    let read = read.map_err(|error| Gathered { ordinal: 0, error })? as i64;
    for (ordinal, (&offset, &length)) in run.offsets.iter().zip(run.lengths).enumerate() {
        let left = read - (offset - run.offsets[0]);
        let checked = if left < length {
            Err(truncated_data(offset as u64, length as u64, left.max(0) as u64))
        } else {
            let head = &margins[ordinal][foot_len..foot_len + head_len];
            check(run, offset as u64, head, payloads.next(data_len(length)), &margins[ordinal + 1][..foot_len])
        };
        checked.map_err(|fault| Gathered { ordinal, error: fault.into() })?;
        payloads.keep(data_len(length));
    }
    Ok(())
}

fn check(run: Selection<'_>, offset: u64, head: &[u8], data: &[u8], foot: &[u8]) -> Result<(), Fault> {
    let head = run.kind.head(head, offset)?;
    if head.data_len != data.len() as u64 {
        return Err(other_length(offset, data.len() as u64, head.data_len));
    }
    if run.verify && run.kind.has_checksum() {
        run.kind.check_foot(crc32c(data), foot, offset)?;
    }
    Ok(())
}
