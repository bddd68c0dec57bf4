//! Payloads of chosen frames: read in large pieces, checked, joined where a record has several parts.
use std::hint::black_box;
use std::io::IoSliceMut;
use std::ops::Range;

use super::payloads::Payloads;
use super::window::Window;
use super::{FrameKind, MAX_MARGIN, PartKind, truncated_data, truncated_header};
use crate::checksum::crc32c;
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};

/// Bytes of one read of consecutive frames: they are still in the second-level cache when their checksum is computed.
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

/// The fault that stopped reading, and at which of the chosen frames.
#[derive(Debug)]
pub struct ReadFailure {
    /// Ordinal in the selection.
    pub ordinal: usize,
    /// The fault.
    pub error: SourceError,
}

/// Calls `visit` with the ordinal and payload of every chosen frame, in order.
pub fn for_each_payload(
    window: &mut Window<'_>,
    selection: Selection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    for ordinal in 0..selection.offsets.len() {
        let step = visit_one(window, selection, ordinal, &mut joined, &mut visit);
        step.map_err(|error| ReadFailure { ordinal, error })?;
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
    let header_len = kind.header_len();
    if frame.len() < header_len {
        return Err(truncated_header(kind, offset, frame.len()));
    }
    let header = kind.header(&frame[..header_len], offset)?;
    if header.part != PartKind::Whole {
        return join_parts(kind, frame, offset, joined);
    }
    if header.stored_len != frame.len() as u64 {
        return Err(other_length(offset, frame.len() as u64, header.stored_len));
    }
    let end = header_len + header.data_len as usize;
    if verify && kind.has_checksum() {
        kind.check_footer(crc32c(&frame[header_len..end]), &frame[end..], offset)?;
    }
    Ok(&frame[header_len..end])
}

pub(super) fn other_length(offset: u64, expected: u64, found: u64) -> Fault {
    Fault::new(FaultKind::BadLength, offset, "a record is not as long as the index says")
        .values(format_args!("{expected} bytes"), format_args!("{found} bytes"))
}

fn join_parts<'a>(kind: FrameKind, frame: &[u8], offset: u64, joined: &'a mut Vec<u8>) -> Result<&'a [u8], Fault> {
    let header_len = kind.header_len();
    joined.clear();
    let mut at = 0;
    while at < frame.len() {
        let here = offset + at as u64;
        let bytes = frame.get(at..at + header_len).ok_or_else(|| truncated_header(kind, here, frame.len() - at))?;
        let header = kind.header(bytes, here)?;
        if (at == 0) != (header.part == PartKind::First) {
            let fault = Fault::new(FaultKind::BadContinuation, here, "parts of a record do not follow one another");
            return Err(fault.values("first, middle and last parts", format_args!("{:?}", header.part)));
        }
        let (start, end) = (at + header_len, at + header_len + header.data_len as usize);
        let data = frame.get(start..end).ok_or_else(|| other_length(offset, frame.len() as u64, end as u64))?;
        if at > 0 {
            joined.extend_from_slice(kind.separator().unwrap_or_default());
        }
        joined.extend_from_slice(data);
        at += header.stored_len as usize;
        if header.part == PartKind::Last && at != frame.len() {
            return Err(other_length(offset, frame.len() as u64, at as u64));
        }
    }
    Ok(joined)
}

/// Adds the payloads of the chosen frames to `payloads`; what came before a fault stays added.
///
/// Long records that follow one another go from the source straight to their slices_out.
pub fn gather(window: &mut Window<'_>, selection: Selection<'_>, payloads: &mut Payloads) -> Result<(), ReadFailure> {
    let sound = num_within(window.source().num_bytes(), selection);
    let beyond = selection.from(sound);
    let selection =
        Selection { offsets: &selection.offsets[..sound], lengths: &selection.lengths[..sound], ..selection };
    let mut at = 0;
    while at < sound {
        let scattered = scatter(window, selection.from(at), payloads);
        at += scattered.map_err(|stopped| ReadFailure { ordinal: at + stopped.ordinal, ..stopped })?;
        let Some(end) = short_run(selection, at) else { continue };
        let run = Selection { offsets: &selection.offsets[at..end], lengths: &selection.lengths[at..end], ..selection };
        for_each_payload(window, run, |_, payload| {
            payloads.push(payload);
            Ok(())
        })
        .map_err(|stopped| ReadFailure { ordinal: at + stopped.ordinal, ..stopped })?;
        at = end;
    }
    match (beyond.offsets, beyond.lengths, window.source().num_bytes()) {
        ([offset, ..], [length, ..], Some(total)) => {
            let (offset, length) = (*offset as u64, *length as u64);
            let error = truncated_data(offset, length, total.saturating_sub(offset).min(length)).into();
            Err(ReadFailure { ordinal: sound, error })
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

// Long consecutive records, read directly into the output: headers and footers go to a small buffer.

/// Smallest record that is read directly into the output; for shorter ones a copy is cheaper than a scattered read.
const LONG: i64 = 8 << 10;

/// Returns whether a frame is long, and the length of its payload follows from that of the frame.
pub fn is_long(kind: FrameKind, length: i64) -> bool {
    length >= LONG && kind.footer_len().is_some()
}

/// Reads the long consecutive records at the front of the selection; returns their number.
pub fn scatter(window: &Window<'_>, selection: Selection<'_>, payloads: &mut Payloads) -> Result<usize, ReadFailure> {
    let Some(footer_len) = selection.kind.footer_len() else { return Ok(0) };
    let mut done = 0;
    loop {
        let rest = selection.from(done);
        let count = block(rest);
        if count == 0 {
            return Ok(done);
        }
        let run = Selection { offsets: &rest.offsets[..count], lengths: &rest.lengths[..count], ..rest };
        read_block(window, run, footer_len, payloads)
            .map_err(|stopped| ReadFailure { ordinal: done + stopped.ordinal, ..stopped })?;
        done += count;
    }
}

/// Returns the number of long consecutive frames at the front, at most one block.
fn block(selection: Selection<'_>) -> usize {
    let start = selection.offsets.first().copied().unwrap_or(0);
    let mut end = start;
    let frames = selection.offsets.iter().zip(selection.lengths);
    let fitting = frames.take_while(|&(&offset, &length)| {
        let fits = offset == end && is_long(selection.kind, length) && end - start < BLOCK as i64;
        end = offset + length;
        fits
    });
    fitting.count()
}

fn read_block(
    window: &Window<'_>,
    run: Selection<'_>,
    footer_len: usize,
    payloads: &mut Payloads,
) -> Result<(), ReadFailure> {
    let header_len = run.kind.header_len();
    let data_len = |length: i64| length as usize - header_len - footer_len;
    let mut margins = vec![[0; MAX_MARGIN]; run.offsets.len() + 1];
    let mut slices = Vec::with_capacity(2 * margins.len());
    let slices_out = payloads.next_slices(run.lengths.iter().map(|&length| data_len(length)));
    let (between, last) = margins.split_at_mut(run.offsets.len());
    for (ordinal, (place, margin)) in slices_out.into_iter().zip(between).enumerate() {
        slices.push(IoSliceMut::new(&mut margin[if ordinal == 0 { footer_len } else { 0 }..footer_len + header_len]));
        slices.push(place);
    }
    slices.push(IoSliceMut::new(&mut last[0][..footer_len]));
    let read = window.source().read_vectored_at(run.offsets[0] as u64, &mut slices);
    let read = read.map_err(|error| ReadFailure { ordinal: 0, error })? as i64;
    for (ordinal, (&offset, &length)) in run.offsets.iter().zip(run.lengths).enumerate() {
        let left = read - (offset - run.offsets[0]);
        let checked = if left < length {
            Err(truncated_data(offset as u64, length as u64, left.max(0) as u64))
        } else {
            let header = &margins[ordinal][footer_len..footer_len + header_len];
            check(run, offset as u64, header, payloads.next(data_len(length)), &margins[ordinal + 1][..footer_len])
        };
        checked.map_err(|fault| ReadFailure { ordinal, error: fault.into() })?;
        payloads.commit(data_len(length));
    }
    Ok(())
}

fn check(run: Selection<'_>, offset: u64, header: &[u8], data: &[u8], footer: &[u8]) -> Result<(), Fault> {
    let header = run.kind.header(header, offset)?;
    if header.data_len != data.len() as u64 {
        return Err(other_length(offset, data.len() as u64, header.data_len));
    }
    if run.verify && run.kind.has_checksum() {
        run.kind.check_footer(crc32c(data), footer, offset)?;
    }
    Ok(())
}

// Short frames at random offsets: many are read before the first one is parsed.

/// Number of frames that are read in a row, so that the data of the system calls stay in the processor's caches.
const GROUP_LEN: usize = 128;
/// Largest length of a short frame; longer frames gain nothing.
const SHORT: i64 = 4 << 10;

/// Returns whether most frames are short and not consecutive.
pub fn is_scattered(which: &[i64], selection: Selection<'_>) -> bool {
    let (offsets, lengths) = (selection.offsets, selection.lengths);
    let follows = |next: &usize| {
        which[*next] == which[next - 1] && offsets[*next] == offsets[next - 1].wrapping_add(lengths[next - 1])
    };
    lengths.iter().all(|&length| length <= SHORT) && 2 * (1..which.len()).filter(follows).count() < which.len()
}

/// Calls `visit` with the ordinal and payload of every chosen frame, in order; frame i is in `sources[which[i]]`.
pub fn for_each_scattered_payload<S: ReadAt>(
    sources: &[S],
    which: &[i64],
    selection: Selection<'_>,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    for start in (0..which.len()).step_by(GROUP_LEN) {
        let group = start..which.len().min(start + GROUP_LEN);
        let (count, outcome) = read(sources, which, selection, group.clone(), buffer);
        let mut rest = &buffer[..];
        for ordinal in group.start..group.start + count {
            let (frame, behind) = rest.split_at(selection.lengths[ordinal] as usize);
            let step = visit_frame(selection, ordinal, frame, &mut joined, &mut visit);
            step.map_err(|error| ReadFailure { ordinal, error })?;
            rest = behind;
        }
        outcome.map_err(|error| ReadFailure { ordinal: group.start + count, error })?;
    }
    Ok(())
}

/// Reads frames back to back; how many there are in whole, and what was wrong with the next one.
fn read<S: ReadAt>(
    sources: &[S],
    which: &[i64],
    selection: Selection<'_>,
    group: Range<usize>,
    buffer: &mut Vec<u8>,
) -> (usize, Result<(), SourceError>) {
    let total: i64 = selection.lengths[group.clone()].iter().sum();
    if buffer.len() < total as usize {
        buffer.resize(total as usize, 0);
    }
    let mut rest = &mut buffer[..];
    for (count, ordinal) in group.clone().enumerate() {
        let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as usize);
        let (place, behind) = rest.split_at_mut(length);
        match sources[which[ordinal] as usize].read_at(offset, place) {
            Ok(read) if read == length => {}
            Ok(read) => return (count, Err(truncated_data(offset, length as u64, read as u64).into())),
            Err(error) => return (count, Err(error)),
        }
        rest = behind;
    }
    (group.len(), Ok(()))
}

// Frames of files that are cached in memory: parsed without a copy.

/// Number of frames that are prefetched before the first one is parsed, so that their cache misses overlap.
const NUM_AHEAD: usize = 32;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Longest prefix that is prefetched; the processor itself prefetches the rest of longer frames.
const MAX_PREFETCH: usize = 16 * LINE;

/// Calls `visit` with the ordinal and payload of every chosen frame, in order; frame i is in `contents[which[i]]`.
pub fn for_each_cached_payload(
    contents: &[&[u8]],
    which: &[i64],
    selection: Selection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    let frame = |ordinal: usize| {
        let start = selection.offsets[ordinal] as usize;
        let content = contents[which[ordinal] as usize].get(start..).unwrap_or_default();
        &content[..content.len().min(selection.lengths[ordinal] as usize)]
    };
    for ordinal in 0..which.len() {
        if ordinal % NUM_AHEAD == 0 {
            (ordinal..which.len().min(ordinal + NUM_AHEAD)).for_each(|ahead| prefetch(frame(ahead)));
        }
        let step = visit_frame(selection, ordinal, frame(ordinal), &mut joined, &mut visit);
        step.map_err(|error| ReadFailure { ordinal, error })?;
    }
    Ok(())
}

#[inline]
fn prefetch(frame: &[u8]) {
    let start = &frame[..frame.len().min(MAX_PREFETCH)];
    let lines = start.iter().step_by(LINE).fold(0, |all, byte| all ^ byte);
    black_box(lines ^ start.last().unwrap_or(&0));
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

    #[test]
    fn frames_read_here_and_there_give_their_payloads_up_to_the_first_that_is_cut() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..300usize).map(|size| vec![size as u8; 1 + size * 7]).collect();
            let mut frames = Frames::new(kind, Vec::new());
            payloads.iter().for_each(|payload| frames.push(payload).unwrap());
            let Frames { data, lengths, .. } = frames;
            let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
            let order: Vec<usize> = (0..300).map(|i| (i * 77) % 300).collect();
            let which: Vec<i64> = order.iter().map(|i| (i % 3) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = Selection { kind, offsets: &offsets, lengths: &lengths, verify: true };
            assert!(is_scattered(&which, selection));
            let cut = &data[..data.len() - 3];
            for (sources, whole) in [([&data[..]; 3], 300), ([cut; 3], order.iter().position(|&i| i == 299).unwrap())] {
                let mut found = Vec::new();
                let outcome =
                    for_each_scattered_payload(&sources, &which, selection, &mut Vec::new(), |ordinal, payload| {
                        assert_eq!((ordinal, payload), (found.len(), &payloads[order[ordinal]][..]));
                        found.push(());
                        Ok(())
                    });
                assert_eq!(found.len(), whole);
                assert_eq!(outcome.err().map(|stopped| stopped.ordinal), (whole < 300).then_some(whole));
            }
        }
    }

    #[test]
    fn neighbors_and_long_frames_are_not_scattered() {
        let told = |offsets: &[i64], lengths: &[i64]| {
            let selection = Selection { kind: FrameKind::TfRecord, offsets, lengths, verify: true };
            is_scattered(&vec![0; offsets.len()], selection)
        };
        assert!(!told(&[0, 100, 200, 300], &[100; 4]));
        assert!(told(&[0, 300, 100, 200], &[100; 4]));
        assert!(!told(&[0, 30_000, 10_000, 20_000], &[100, 100, 9000, 100]));
    }

    fn framed(kind: FrameKind, payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
        let mut frames = Frames::new(kind, Vec::new());
        payloads.iter().for_each(|payload| frames.push(payload).unwrap());
        let Frames { data, lengths, .. } = frames;
        let offsets = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
        (data, offsets, lengths)
    }

    #[test]
    fn frames_of_several_contents_in_any_order_give_their_payloads() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..100usize).map(|size| vec![size as u8; 1 + size * 37]).collect();
            let (data, offsets, lengths) = framed(kind, &payloads);
            let order: Vec<usize> = (0..100).map(|i| (i * 37) % 100).collect();
            let which: Vec<i64> = order.iter().map(|i| (i % 2) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = Selection { kind, offsets: &offsets, lengths: &lengths, verify: true };
            let mut found = Vec::new();
            for_each_cached_payload(&[&data, &data], &which, selection, |ordinal, payload| {
                assert_eq!(ordinal, found.len());
                found.push(payload.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(found, order.iter().map(|&i| payloads[i].clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn frames_that_are_cut_or_damaged_are_told_by_their_ordinal() {
        let (mut data, offsets, lengths) = framed(FrameKind::TfRecord, &[vec![1; 50], vec![2; 60], vec![3; 70]]);
        let selection = Selection { kind: FrameKind::TfRecord, offsets: &offsets, lengths: &lengths, verify: true };
        let stopped = |data: &[u8]| {
            for_each_cached_payload(&[data], &[0, 0, 0], selection, |_, _| Ok(())).map_err(|stopped| stopped.ordinal)
        };
        assert_eq!(stopped(&data), Ok(()));
        assert_eq!(stopped(&data[..data.len() - 1]), Err(2));
        assert_eq!(stopped(&[]), Err(0));
        data[offsets[1] as usize + 20] ^= 1;
        assert_eq!(stopped(&data), Err(1));
    }
}
