//! Payloads of chosen frames: read in large pieces, checked, joined where a record has several parts.
use super::payloads::Payloads;
use super::scatter::{is_long, scatter};
use super::window::Window;
use super::{FrameKind, Place, truncated_data, truncated_head};
use crate::checksum::crc32c;
use crate::error::{Fault, FaultKind};
use crate::source::SourceError;

/// Read at once where frames follow one another; a piece of this size stays in the second-level cache.
const BLOCK: usize = 256 << 10;

/// The frames to read and how.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// How records are framed.
    pub kind: FrameKind,
    /// First byte of each frame.
    pub offsets: &'a [i64],
    /// Stored bytes of each frame.
    pub lengths: &'a [i64],
    /// Whether to compute the payload checksums that the format has.
    pub verify: bool,
}

impl Selection<'_> {
    /// The frames from ordinal `first` on.
    pub(super) fn from(self, first: usize) -> Self {
        Self { offsets: &self.offsets[first..], lengths: &self.lengths[first..], ..self }
    }
}

/// Why reading stopped, and at which of the chosen frames.
#[derive(Debug)]
pub struct Gathered {
    /// Ordinal within the selection.
    pub ordinal: usize,
    /// What was wrong there.
    pub error: SourceError,
}

/// Calls `visit` with the ordinal and payload of every chosen frame, in order.
pub fn for_each_payload(
    window: &mut Window<'_>,
    selection: Selection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), Gathered> {
    let mut joined = Vec::new();
    for ordinal in 0..selection.offsets.len() {
        let step = visit_one(window, selection, ordinal, &mut joined, &mut visit);
        step.map_err(|error| Gathered { ordinal, error })?;
    }
    Ok(())
}

#[inline]
fn visit_one(
    window: &mut Window<'_>,
    selection: Selection<'_>,
    ordinal: usize,
    joined: &mut Vec<u8>,
    visit: &mut impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as usize);
    let ahead = if window.is_before(offset + length as u64) { run_length(selection, ordinal) } else { 0 };
    visit_frame(selection, ordinal, window.bytes(offset, length, ahead)?, joined, visit)
}

/// Calls `visit` with the payload of the chosen frame whose stored bytes are `frame`, or what there is of them.
#[inline]
pub(super) fn visit_frame(
    selection: Selection<'_>,
    ordinal: usize,
    frame: &[u8],
    joined: &mut Vec<u8>,
    visit: &mut impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as u64);
    if (frame.len() as u64) < length {
        return Err(truncated_data(offset, length, frame.len() as u64).into());
    }
    visit(ordinal, payload_of_frame(selection.kind, frame, offset, selection.verify, joined)?)
}

/// Bytes from the frame at `first` to the end of the frames that follow without a gap, up to one block.
fn run_length(selection: Selection<'_>, first: usize) -> usize {
    let start = selection.offsets[first];
    let mut end = start;
    for (offset, length) in selection.offsets[first..].iter().zip(&selection.lengths[first..]) {
        if *offset != end || (end - start) as usize >= BLOCK {
            break;
        }
        end += length;
    }
    (end - start) as usize
}

/// The payload in the stored bytes of one record; `joined` is memory for records of several parts.
#[inline]
pub fn payload_of_frame<'a>(
    kind: FrameKind,
    frame: &'a [u8],
    offset: u64,
    verify: bool,
    joined: &'a mut Vec<u8>,
) -> Result<&'a [u8], Fault> {
    let head_len = kind.head_len();
    if frame.len() < head_len {
        return Err(truncated_head(kind, offset, frame.len()));
    }
    let head = kind.head(&frame[..head_len], offset)?;
    if head.place != Place::Whole {
        return join_parts(kind, frame, offset, joined);
    }
    if head.stored_len != frame.len() as u64 {
        return Err(other_length(offset, frame.len() as u64, head.stored_len));
    }
    let end = head_len + head.data_len as usize;
    if verify && kind.has_checksum() {
        kind.check_foot(crc32c(&frame[head_len..end]), &frame[end..], offset)?;
    }
    Ok(&frame[head_len..end])
}

pub(super) fn other_length(offset: u64, expected: u64, found: u64) -> Fault {
    Fault::new(FaultKind::BadLength, offset, "a record is not as long as the index says")
        .values(format_args!("{expected} bytes"), format_args!("{found} bytes"))
}

fn join_parts<'a>(kind: FrameKind, frame: &[u8], offset: u64, joined: &'a mut Vec<u8>) -> Result<&'a [u8], Fault> {
    let head_len = kind.head_len();
    joined.clear();
    let mut at = 0;
    while at < frame.len() {
        let here = offset + at as u64;
        let bytes = frame.get(at..at + head_len).ok_or_else(|| truncated_head(kind, here, frame.len() - at))?;
        let head = kind.head(bytes, here)?;
        if (at == 0) != (head.place == Place::First) {
            let fault = Fault::new(FaultKind::BadContinuation, here, "parts of a record do not follow one another");
            return Err(fault.values("first, middle and last parts", format_args!("{:?}", head.place)));
        }
        let (start, end) = (at + head_len, at + head_len + head.data_len as usize);
        let data = frame.get(start..end).ok_or_else(|| other_length(offset, frame.len() as u64, end as u64))?;
        if at > 0 {
            joined.extend_from_slice(kind.separator().unwrap_or_default());
        }
        joined.extend_from_slice(data);
        at += head.stored_len as usize;
        if head.place == Place::Last && at != frame.len() {
            return Err(other_length(offset, frame.len() as u64, at as u64));
        }
    }
    Ok(joined)
}

/// Adds the payloads of the chosen frames to `payloads`; what came before a fault stays added.
///
/// Long records that follow one another go from the source straight to their places.
pub fn gather(window: &mut Window<'_>, selection: Selection<'_>, payloads: &mut Payloads) -> Result<(), Gathered> {
    let sound = num_within(window.source().num_bytes(), selection);
    let beyond = selection.from(sound);
    let selection =
        Selection { offsets: &selection.offsets[..sound], lengths: &selection.lengths[..sound], ..selection };
    let mut at = 0;
    while at < sound {
        let scattered = scatter(window, selection.from(at), payloads);
        at += scattered.map_err(|stopped| Gathered { ordinal: at + stopped.ordinal, ..stopped })?;
        let Some(end) = short_run(selection, at) else { continue };
        let run = Selection { offsets: &selection.offsets[at..end], lengths: &selection.lengths[at..end], ..selection };
        for_each_payload(window, run, |_, payload| {
            payloads.push(payload);
            Ok(())
        })
        .map_err(|stopped| Gathered { ordinal: at + stopped.ordinal, ..stopped })?;
        at = end;
    }
    match (beyond.offsets, beyond.lengths, window.source().num_bytes()) {
        ([offset, ..], [length, ..], Some(total)) => {
            let (offset, length) = (*offset as u64, *length as u64);
            let error = truncated_data(offset, length, total.saturating_sub(offset).min(length)).into();
            Err(Gathered { ordinal: sound, error })
        }
        _ => Ok(()),
    }
}

/// Frames at the front that end within the source: no memory is asked for what cannot be there.
fn num_within(total: Option<u64>, selection: Selection<'_>) -> usize {
    let Some(total) = total else { return selection.offsets.len() };
    let ends = selection.offsets.iter().zip(selection.lengths).map(|(&offset, &length)| offset as u64 + length as u64);
    ends.take_while(|&end| end <= total).count()
}

/// End of the records from `at` on that are not worth scattering.
fn short_run(selection: Selection<'_>, at: usize) -> Option<usize> {
    let short = selection.lengths[at..].iter().take_while(|&&length| !is_long(selection.kind, length)).count();
    (short > 0).then_some(at + short)
}

#[cfg(test)]
mod tests {
    use super::super::Frames;
    use super::*;

    #[test]
    fn gather_of_long_and_short_frames_in_any_order_gives_their_payloads() {
        for &kind in FrameKind::ALL {
            let sizes: [usize; 9] = [40_000, 10, 9_000, 50_000, 70_001, 1, 8_192, 100_000, 20];
            let payloads: Vec<Vec<u8>> =
                sizes.iter().map(|&size| (0..size).map(|i| i.wrapping_mul(size) as u8).collect()).collect();
            let mut frames = Frames::new(kind, Vec::new());
            payloads.iter().for_each(|payload| frames.push(payload).unwrap());
            let Frames { data, lengths, .. } = frames;
            let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
            for order in [vec![0, 1, 2, 3, 4, 5, 6, 7, 8], vec![8, 3, 4, 0, 0, 1, 7]] {
                let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
                let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
                let selection = Selection { kind, offsets: &offsets, lengths: &lengths, verify: true };
                let mut found = Payloads::new(Vec::new(), 0);
                gather(&mut Window::new(&data, Vec::new()), selection, &mut found).unwrap();
                let (memory, used, _) = found.into_parts();
                let expected: Vec<u8> = order.iter().flat_map(|&i| payloads[i].clone()).collect();
                assert_eq!(memory[..used], expected[..]);
            }
        }
    }

    #[test]
    fn gather_of_a_frame_beyond_the_end_gives_those_in_front_and_takes_no_memory_for_it() {
        let mut frames = Frames::new(FrameKind::TfRecord, Vec::new());
        frames.push(b"sound").unwrap();
        let Frames { data, lengths, .. } = frames;
        for length in [lengths[0] + 1, 1 << 62] {
            let (offsets, lengths) = ([0, 0, 0], [lengths[0], length, 1 << 62]);
            let selection = Selection { kind: FrameKind::TfRecord, offsets: &offsets, lengths: &lengths, verify: true };
            let mut found = Payloads::new(Vec::new(), 0);
            let stopped = gather(&mut Window::new(&&data[..], Vec::new()), selection, &mut found).unwrap_err();
            assert_eq!(stopped.ordinal, 1);
            assert!(matches!(stopped.error, SourceError::Fault(Fault { kind: FaultKind::TruncatedPayload, .. })));
            let (memory, used, _) = found.into_parts();
            assert_eq!(&memory[..used], b"sound");
        }
    }
}
