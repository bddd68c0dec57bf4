//! Reading of selected frames: large reads, checksum verification, and joining of records with several parts.
use std::hint::black_box;
use std::io::IoSliceMut;
use std::ops::Range;

use super::limits::{check_frame_len, check_payload_len};
use super::payloads::PayloadBuffer;
use super::window::SourceWindow;
use super::{FrameKind, MAX_MARGIN, PartKind, truncated_data_fault, truncated_header_fault};
use crate::checksum::crc32c;
use crate::error::{Fault, FaultKind};
use crate::memory;
use crate::source::{ReadAt, SourceError};

/// Number of bytes per read of consecutive frames; small enough that the frames stay in the second-level cache until
/// their checksums are computed.
const BLOCK_BYTES: usize = 256 << 10;

/// Frames of one shard to read, and the checksums to verify.
#[derive(Debug, Clone, Copy)]
pub struct FrameSelection<'a> {
    /// Framing of the records.
    pub kind: FrameKind,
    /// Offset of each frame.
    pub offsets: &'a [i64],
    /// Number of bytes that each frame occupies in the uncompressed shard.
    pub lengths: &'a [i64],
    /// Whether to verify payload checksums, if the format has them.
    pub verify: bool,
    /// CRC-32C of each payload in the sidecar index, or -1 if unknown; compared even if `verify` is false.
    pub checksums: Option<&'a [i64]>,
    /// Maximum length of a payload. A longer one is a fault, and no memory is allocated for it.
    pub max_payload_bytes: u64,
}

impl FrameSelection<'_> {
    /// Returns the selection without its first `count` frames.
    pub(super) fn skip(self, count: usize) -> Self {
        self.slice(count..self.offsets.len())
    }

    /// Returns the part of the selection whose ordinals are in `range`.
    pub(super) fn slice(self, range: Range<usize>) -> Self {
        Self {
            offsets: &self.offsets[range.clone()],
            lengths: &self.lengths[range.clone()],
            checksums: self.checksums.map(|checksums| &checksums[range]),
            ..self
        }
    }

    /// Returns the payload in `frame`, the stored bytes of a record. If the record has several parts, joins them in
    /// `joined`.
    #[inline]
    pub fn extract_payload<'a>(
        self,
        ordinal: usize,
        frame: &'a [u8],
        joined: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Fault> {
        let offset = self.offsets[ordinal] as u64;
        let payload = extract_payload(self.kind, frame, offset, self.verify, joined)?;
        self.check_indexed_checksum(ordinal, payload)?;
        Ok(payload)
    }

    /// Returns the stored range of a frame: its offset and its length.
    #[inline]
    fn frame(self, ordinal: usize) -> (u64, u64) {
        (self.offsets[ordinal] as u64, self.lengths[ordinal] as u64)
    }

    /// Fails if a payload in `source` is longer than `max_payload_bytes` or than the format allows.
    #[inline]
    pub fn check_payload_len(self, source: &dyn ReadAt, ordinal: usize) -> Result<(), SourceError> {
        check_frame_len(source, self.kind, self.frame(ordinal), self.max_payload_bytes)
    }

    #[inline]
    fn check_indexed_checksum(self, ordinal: usize, payload: &[u8]) -> Result<(), Fault> {
        match self.checksums {
            Some(checksums) if checksums[ordinal] >= 0 => {
                compare_indexed_checksum(checksums[ordinal], crc32c(payload), self.offsets[ordinal] as u64)
            }
            _ => Ok(()),
        }
    }
}

/// Compares the CRC-32C of a payload (`found`) with its value in the sidecar index (`expected`). A negative `expected`
/// means unknown; then nothing is compared.
#[inline]
pub fn compare_indexed_checksum(expected: i64, found: u32, offset: u64) -> Result<(), Fault> {
    if expected < 0 || expected == i64::from(found) {
        return Ok(());
    }
    let message = "the payload does not match its checksum in the sidecar index";
    let fault = Fault::new(FaultKind::SidecarChecksum, offset, message);
    Err(fault.with_values(format_args!("{expected:#010x}"), format_args!("{found:#010x}")))
}

/// The error that stopped reading, and the frame at which it occurred.
#[derive(Debug)]
pub struct ReadFailure {
    /// Ordinal of the frame in the selection.
    pub ordinal: usize,
    /// The error.
    pub error: SourceError,
}

/// Calls `visit` with the ordinal and payload of each selected frame, in order.
pub fn for_each_payload(
    window: &mut SourceWindow<'_>,
    selection: FrameSelection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    for ordinal in 0..selection.offsets.len() {
        let result = read_and_visit(window, selection, ordinal, &mut joined, &mut visit);
        result.map_err(|error| ReadFailure { ordinal, error })?;
    }
    Ok(())
}

#[inline]
fn read_and_visit(
    window: &mut SourceWindow<'_>,
    selection: FrameSelection<'_>,
    ordinal: usize,
    joined: &mut Vec<u8>,
    visit: &mut impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    selection.check_payload_len(window.source(), ordinal)?;
    let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as usize);
    if let Some(frame) = window.source().cached_at(offset, length) {
        return visit_frame(selection, ordinal, frame, joined, visit);
    }
    let ahead = if window.ends_before(offset + length as u64) { consecutive_len(selection, ordinal) } else { 0 };
    visit_frame(selection, ordinal, window.read_bytes(offset, length, ahead)?, joined, visit)
}

/// Calls `visit` with the payload in `frame`, the stored bytes of a selected frame. Fails if `frame` is shorter than
/// the selection states.
#[inline]
pub(super) fn visit_frame(
    selection: FrameSelection<'_>,
    ordinal: usize,
    frame: &[u8],
    joined: &mut Vec<u8>,
    visit: &mut impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as u64);
    if (frame.len() as u64) < length {
        return Err(truncated_data_fault(offset, length, frame.len() as u64).into());
    }
    visit(ordinal, selection.extract_payload(ordinal, frame, joined)?)
}

/// Returns the total length of the consecutive frames that start with frame `first`, up to about `BLOCK_BYTES`.
fn consecutive_len(selection: FrameSelection<'_>, first: usize) -> usize {
    let start = selection.offsets[first];
    let mut end = start;
    for (offset, length) in selection.offsets[first..].iter().zip(&selection.lengths[first..]) {
        if *offset != end || (end - start) as usize >= BLOCK_BYTES {
            break;
        }
        end += length;
    }
    (end - start) as usize
}

/// Returns the payload in `frame`, the stored bytes of a record. If the record has several parts, joins them in
/// `joined`.
#[inline]
pub fn extract_payload<'a>(
    kind: FrameKind,
    frame: &'a [u8],
    offset: u64,
    verify: bool,
    joined: &'a mut Vec<u8>,
) -> Result<&'a [u8], Fault> {
    let header_len = kind.header_len();
    if frame.len() < header_len {
        return Err(truncated_header_fault(kind, offset, frame.len()));
    }
    let header = kind.parse_header(&frame[..header_len], offset)?;
    if header.part != PartKind::Whole {
        return join_parts(kind, frame, offset, joined);
    }
    if header.stored_len != frame.len() as u64 {
        return Err(frame_length_fault(offset, frame.len() as u64, header.stored_len));
    }
    let end = header_len + header.data_len as usize;
    if verify && kind.has_checksum() {
        kind.check_footer(crc32c(&frame[header_len..end]), &frame[end..], offset)?;
    }
    Ok(&frame[header_len..end])
}

pub(super) fn frame_length_fault(offset: u64, expected: u64, found: u64) -> Fault {
    Fault::new(FaultKind::BadLength, offset, "the length of a record differs from the index")
        .with_values(format_args!("{expected} bytes"), format_args!("{found} bytes"))
}

fn join_parts<'a>(kind: FrameKind, frame: &[u8], offset: u64, joined: &'a mut Vec<u8>) -> Result<&'a [u8], Fault> {
    let header_len = kind.header_len();
    joined.clear();
    let mut position = 0;
    while position < frame.len() {
        let here = offset + position as u64;
        let header = frame.get(position..position + header_len);
        let header = header.ok_or_else(|| truncated_header_fault(kind, here, frame.len() - position))?;
        let header = kind.parse_header(header, here)?;
        if (position == 0) != (header.part == PartKind::First) {
            let fault = Fault::new(FaultKind::BadContinuation, here, "the parts of a record are not in order");
            return Err(fault.with_values("first, middle and last parts", format_args!("{:?}", header.part)));
        }
        let (start, end) = (position + header_len, position + header_len + header.data_len as usize);
        let data = frame.get(start..end).ok_or_else(|| frame_length_fault(offset, frame.len() as u64, end as u64))?;
        let separator = if position > 0 { kind.separator().unwrap_or_default() } else { &[] };
        let payload_len = joined.len() + separator.len() + data.len();
        check_payload_len(kind, offset, payload_len as u64, u64::MAX)?;
        memory::reserve(joined, separator.len() + data.len())?;
        joined.extend_from_slice(separator);
        joined.extend_from_slice(data);
        position += header.stored_len as usize;
        if header.part == PartKind::Last && position != frame.len() {
            return Err(frame_length_fault(offset, frame.len() as u64, position as u64));
        }
    }
    Ok(joined)
}

/// Appends the payloads of the selected frames to `payloads`, up to the first fault.
///
/// Long consecutive records are read directly into the output.
pub fn gather_payloads(
    window: &mut SourceWindow<'_>,
    selection: FrameSelection<'_>,
    payloads: &mut PayloadBuffer,
) -> Result<(), ReadFailure> {
    let (num_inside, error) = count_readable_frames(window.source(), selection);
    let selection = selection.slice(0..num_inside);
    let mut next = 0;
    while next < num_inside {
        let num_long = read_long_frames(window, selection.skip(next), payloads);
        next += num_long.map_err(|failure| ReadFailure { ordinal: next + failure.ordinal, ..failure })?;
        let Some(end) = find_short_run_end(selection, next) else { continue };
        for_each_payload(window, selection.slice(next..end), |_, payload| Ok(payloads.push(payload)?))
            .map_err(|failure| ReadFailure { ordinal: next + failure.ordinal, ..failure })?;
        next = end;
    }
    error.map_or(Ok(()), |error| Err(ReadFailure { ordinal: num_inside, error }))
}

/// Counts the leading frames that are inside the source and whose payloads are not too long. Returns their number, and
/// the error of the next frame or None. The caller must not allocate memory for the other frames, whose lengths may be
/// wrong.
fn count_readable_frames(source: &dyn ReadAt, selection: FrameSelection<'_>) -> (usize, Option<SourceError>) {
    let total = source.num_bytes().unwrap_or(u64::MAX);
    for ordinal in 0..selection.offsets.len() {
        let (offset, length) = selection.frame(ordinal);
        if offset + length > total {
            let left = total.saturating_sub(offset).min(length);
            return (ordinal, Some(truncated_data_fault(offset, length, left).into()));
        }
        if let Err(error) = selection.check_payload_len(source, ordinal) {
            return (ordinal, Some(error));
        }
    }
    (selection.offsets.len(), None)
}

/// Returns the ordinal of the next long frame after the short frame `first`; None if frame `first` is long.
fn find_short_run_end(selection: FrameSelection<'_>, first: usize) -> Option<usize> {
    let count = selection.lengths[first..].iter().take_while(|&&length| !is_long_frame(selection.kind, length)).count();
    (count > 0).then_some(first + count)
}

// Long consecutive frames are read with vectored reads: payloads go directly into the output, headers and footers into
// a small buffer.

/// Shortest frame that is read directly into the output. For shorter frames, a copy is cheaper than a vectored read.
const MIN_LONG_FRAME: i64 = 8 << 10;

/// Returns whether a frame is long enough for a vectored read and its payload length can be computed from `length`.
fn is_long_frame(kind: FrameKind, length: i64) -> bool {
    length >= MIN_LONG_FRAME && kind.footer_len().is_some()
}

/// Reads the long consecutive frames at the start of the selection and returns their number.
fn read_long_frames(
    window: &SourceWindow<'_>,
    selection: FrameSelection<'_>,
    payloads: &mut PayloadBuffer,
) -> Result<usize, ReadFailure> {
    let Some(footer_len) = selection.kind.footer_len() else { return Ok(0) };
    let mut done = 0;
    loop {
        let rest = selection.skip(done);
        let count = count_block_frames(rest);
        if count == 0 {
            return Ok(done);
        }
        read_long_block(window, rest.slice(0..count), footer_len, payloads)
            .map_err(|failure| ReadFailure { ordinal: done + failure.ordinal, ..failure })?;
        done += count;
    }
}

/// Counts the long consecutive frames at the start of the selection, up to a total length of about `BLOCK_BYTES`.
fn count_block_frames(selection: FrameSelection<'_>) -> usize {
    let start = selection.offsets.first().copied().unwrap_or(0);
    let mut end = start;
    let frames = selection.offsets.iter().zip(selection.lengths);
    let fitting = frames.take_while(|&(&offset, &length)| {
        let fits = offset == end && is_long_frame(selection.kind, length) && end - start < BLOCK_BYTES as i64;
        end = offset + length;
        fits
    });
    fitting.count()
}

fn read_long_block(
    window: &SourceWindow<'_>,
    run: FrameSelection<'_>,
    footer_len: usize,
    payloads: &mut PayloadBuffer,
) -> Result<(), ReadFailure> {
    let header_len = run.kind.header_len();
    let data_len = |length: i64| length as usize - header_len - footer_len;
    let mut margins = vec![[0; MAX_MARGIN]; run.offsets.len() + 1];
    let mut slices = Vec::with_capacity(2 * margins.len());
    let payload_slices = payloads.reserve_slices(run.lengths.iter().map(|&length| data_len(length)));
    let payload_slices = payload_slices.map_err(|error| ReadFailure { ordinal: 0, error: error.into() })?;
    // A margin is the footer of one frame and the header of the next frame; the first margin has only a header.
    let (between, last) = margins.split_at_mut(run.offsets.len());
    for (ordinal, (payload, margin)) in payload_slices.into_iter().zip(between).enumerate() {
        slices.push(IoSliceMut::new(&mut margin[if ordinal == 0 { footer_len } else { 0 }..footer_len + header_len]));
        slices.push(payload);
    }
    slices.push(IoSliceMut::new(&mut last[0][..footer_len]));
    let num_read = window.source().read_vectored_at(run.offsets[0] as u64, &mut slices);
    let num_read = num_read.map_err(|error| ReadFailure { ordinal: 0, error })? as i64;
    for (ordinal, (&offset, &length)) in run.offsets.iter().zip(run.lengths).enumerate() {
        let available = num_read - (offset - run.offsets[0]);
        let result = if available < length {
            Err(truncated_data_fault(offset as u64, length as u64, available.max(0) as u64))
        } else {
            let header = &margins[ordinal][footer_len..footer_len + header_len];
            let footer = &margins[ordinal + 1][..footer_len];
            check_frame(run, ordinal, header, payloads.uncommitted_payload(data_len(length)), footer)
        };
        let result = result.and_then(|()| Ok(payloads.commit_payload(data_len(length))?));
        result.map_err(|fault| ReadFailure { ordinal, error: fault.into() })?;
    }
    Ok(())
}

fn check_frame(
    run: FrameSelection<'_>,
    ordinal: usize,
    header: &[u8],
    data: &[u8],
    footer: &[u8],
) -> Result<(), Fault> {
    let offset = run.offsets[ordinal] as u64;
    let header = run.kind.parse_header(header, offset)?;
    if header.data_len != data.len() as u64 {
        return Err(frame_length_fault(offset, data.len() as u64, header.data_len));
    }
    if run.verify && run.kind.has_checksum() {
        run.kind.check_footer(crc32c(data), footer, offset)?;
    }
    run.check_indexed_checksum(ordinal, data)
}

// Short frames at random offsets: a group of frames is read before the first of them is parsed.

/// Number of frames that are read before the first of them is parsed. System calls in a row are faster, because the
/// kernel's data stays in the processor's caches.
const GROUP_LEN: usize = 128;
/// Largest length of a short frame; reading longer frames in groups gains nothing.
const MAX_SHORT_FRAME: i64 = 4 << 10;

/// Returns whether all frames have at most `MAX_SHORT_FRAME` bytes and most do not start where the previous one ends.
pub fn is_scattered(source_indices: &[i64], selection: FrameSelection<'_>) -> bool {
    let (offsets, lengths) = (selection.offsets, selection.lengths);
    let follows = |next: &usize| {
        source_indices[*next] == source_indices[next - 1]
            && offsets[*next] == offsets[next - 1].wrapping_add(lengths[next - 1])
    };
    lengths.iter().all(|&length| length <= MAX_SHORT_FRAME)
        && 2 * (1..source_indices.len()).filter(follows).count() < source_indices.len()
}

/// Calls `visit` with the ordinal and payload of each selected frame, in order; frame i is in
/// `sources[source_indices[i]]`.
pub fn for_each_scattered_payload<S: ReadAt>(
    sources: &[S],
    source_indices: &[i64],
    selection: FrameSelection<'_>,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    for start in (0..source_indices.len()).step_by(GROUP_LEN) {
        let group = start..source_indices.len().min(start + GROUP_LEN);
        let (count, outcome) = read_frame_group(sources, source_indices, selection, group.clone(), buffer);
        let mut rest = &buffer[..];
        for ordinal in group.start..group.start + count {
            let (frame, next) = rest.split_at(selection.lengths[ordinal] as usize);
            let result = visit_frame(selection, ordinal, frame, &mut joined, &mut visit);
            result.map_err(|error| ReadFailure { ordinal, error })?;
            rest = next;
        }
        outcome.map_err(|error| ReadFailure { ordinal: group.start + count, error })?;
    }
    Ok(())
}

/// Reads a group of frames into `buffer`, one directly after the other. Returns the number of complete frames, and the
/// error of the next one if it cannot be read.
fn read_frame_group<S: ReadAt>(
    sources: &[S],
    source_indices: &[i64],
    selection: FrameSelection<'_>,
    group: Range<usize>,
    buffer: &mut Vec<u8>,
) -> (usize, Result<(), SourceError>) {
    let total: i64 = selection.lengths[group.clone()].iter().sum();
    if buffer.len() < total as usize
        && let Err(error) = memory::resize(buffer, total as usize, 0)
    {
        return (0, Err(error.into()));
    }
    let mut rest = &mut buffer[..];
    for (count, ordinal) in group.clone().enumerate() {
        let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as usize);
        let (frame, next) = rest.split_at_mut(length);
        let source = &sources[source_indices[ordinal] as usize];
        match selection.check_payload_len(source, ordinal).and_then(|()| source.read_at(offset, frame)) {
            Ok(read) if read == length => {}
            Ok(read) => return (count, Err(truncated_data_fault(offset, length as u64, read as u64).into())),
            Err(error) => return (count, Err(error)),
        }
        rest = next;
    }
    (group.len(), Ok(()))
}

// Frames of files that are cached in memory are parsed without a copy.

/// Number of frames that are prefetched before the first one is parsed, so that their cache misses overlap.
const PREFETCH_GROUP_LEN: usize = 32;
/// Size of a cache line in bytes.
const CACHE_LINE: usize = 64;
/// Longest prefix of a frame that is prefetched; the hardware prefetcher loads the rest of longer frames.
const MAX_PREFETCH: usize = 16 * CACHE_LINE;

/// Calls `visit` with the ordinal and payload of each selected frame, in order; frame i is in
/// `contents[source_indices[i]]`.
pub fn for_each_cached_payload(
    contents: &[&[u8]],
    source_indices: &[i64],
    selection: FrameSelection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let mut joined = Vec::new();
    let frame = |ordinal: usize| {
        let start = selection.offsets[ordinal] as usize;
        let content = contents[source_indices[ordinal] as usize].get(start..).unwrap_or_default();
        &content[..content.len().min(selection.lengths[ordinal] as usize)]
    };
    for ordinal in 0..source_indices.len() {
        if ordinal % PREFETCH_GROUP_LEN == 0 {
            (ordinal..source_indices.len().min(ordinal + PREFETCH_GROUP_LEN))
                .for_each(|ahead| prefetch_frame(frame(ahead)));
        }
        let content = &contents[source_indices[ordinal] as usize];
        let result = selection
            .check_payload_len(content, ordinal)
            .and_then(|()| visit_frame(selection, ordinal, frame(ordinal), &mut joined, &mut visit));
        result.map_err(|error| ReadFailure { ordinal, error })?;
    }
    Ok(())
}

#[inline]
fn prefetch_frame(frame: &[u8]) {
    let start = &frame[..frame.len().min(MAX_PREFETCH)];
    let lines = start.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte);
    black_box(lines ^ start.last().unwrap_or(&0));
}

#[cfg(test)]
mod tests {
    use super::super::FrameBuffer;
    use super::*;

    #[test]
    fn gather_payloads_returns_payloads_of_long_and_short_frames_in_any_order() {
        for &kind in FrameKind::ALL {
            let sizes: [usize; 9] = [40_000, 10, 9_000, 50_000, 70_001, 1, 8_192, 100_000, 20];
            let payloads: Vec<Vec<u8>> =
                sizes.iter().map(|&size| (0..size).map(|i| i.wrapping_mul(size) as u8).collect()).collect();
            let mut frames = FrameBuffer::new(kind, Vec::new());
            payloads.iter().for_each(|payload| frames.push_payload(payload).unwrap());
            let FrameBuffer { data, lengths, .. } = frames;
            let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
            for order in [vec![0, 1, 2, 3, 4, 5, 6, 7, 8], vec![8, 3, 4, 0, 0, 1, 7]] {
                let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
                let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
                let selection = FrameSelection {
                    kind,
                    offsets: &offsets,
                    lengths: &lengths,
                    verify: true,
                    checksums: None,
                    max_payload_bytes: u64::MAX,
                };
                let mut found = PayloadBuffer::new(Vec::new(), 0);
                gather_payloads(&mut SourceWindow::new(&data, Vec::new()), selection, &mut found).unwrap();
                let (buffer, len, _) = found.into_parts();
                let expected: Vec<u8> = order.iter().flat_map(|&i| payloads[i].clone()).collect();
                assert_eq!(buffer[..len], expected[..]);
            }
        }
    }

    #[test]
    fn gather_payloads_returns_payloads_before_a_frame_beyond_the_end_without_allocating_for_it() {
        let mut frames = FrameBuffer::new(FrameKind::TfRecord, Vec::new());
        frames.push_payload(b"valid").unwrap();
        let FrameBuffer { data, lengths, .. } = frames;
        for length in [lengths[0] + 1, 1 << 62] {
            let (offsets, lengths) = ([0, 0, 0], [lengths[0], length, 1 << 62]);
            let selection = FrameSelection {
                kind: FrameKind::TfRecord,
                offsets: &offsets,
                lengths: &lengths,
                verify: true,
                checksums: None,
                max_payload_bytes: u64::MAX,
            };
            let mut found = PayloadBuffer::new(Vec::new(), 0);
            let failure =
                gather_payloads(&mut SourceWindow::new(&&data[..], Vec::new()), selection, &mut found).unwrap_err();
            assert_eq!(failure.ordinal, 1);
            assert!(matches!(failure.error, SourceError::Fault(Fault { kind: FaultKind::TruncatedPayload, .. })));
            let (buffer, len, _) = found.into_parts();
            assert_eq!(&buffer[..len], b"valid");
        }
    }

    #[test]
    fn scattered_frames_are_visited_up_to_the_first_truncated_one() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..300usize).map(|size| vec![size as u8; 1 + size * 7]).collect();
            let mut frames = FrameBuffer::new(kind, Vec::new());
            payloads.iter().for_each(|payload| frames.push_payload(payload).unwrap());
            let FrameBuffer { data, lengths, .. } = frames;
            let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
            let order: Vec<usize> = (0..300).map(|i| (i * 77) % 300).collect();
            let source_indices: Vec<i64> = order.iter().map(|i| (i % 3) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = FrameSelection {
                kind,
                offsets: &offsets,
                lengths: &lengths,
                verify: true,
                checksums: None,
                max_payload_bytes: u64::MAX,
            };
            assert!(is_scattered(&source_indices, selection));
            let cut = &data[..data.len() - 3];
            for (sources, whole) in [([&data[..]; 3], 300), ([cut; 3], order.iter().position(|&i| i == 299).unwrap())] {
                let mut found = Vec::new();
                let outcome = for_each_scattered_payload(
                    &sources,
                    &source_indices,
                    selection,
                    &mut Vec::new(),
                    |ordinal, payload| {
                        assert_eq!((ordinal, payload), (found.len(), &payloads[order[ordinal]][..]));
                        found.push(());
                        Ok(())
                    },
                );
                assert_eq!(found.len(), whole);
                assert_eq!(outcome.err().map(|failure| failure.ordinal), (whole < 300).then_some(whole));
            }
        }
    }

    #[test]
    fn consecutive_and_long_frames_are_not_scattered() {
        let scattered = |offsets: &[i64], lengths: &[i64]| {
            let selection = FrameSelection {
                kind: FrameKind::TfRecord,
                offsets,
                lengths,
                verify: true,
                checksums: None,
                max_payload_bytes: u64::MAX,
            };
            is_scattered(&vec![0; offsets.len()], selection)
        };
        assert!(!scattered(&[0, 100, 200, 300], &[100; 4]));
        assert!(scattered(&[0, 300, 100, 200], &[100; 4]));
        assert!(!scattered(&[0, 30_000, 10_000, 20_000], &[100, 100, 9000, 100]));
    }

    fn frame_payloads(kind: FrameKind, payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
        let mut frames = FrameBuffer::new(kind, Vec::new());
        payloads.iter().for_each(|payload| frames.push_payload(payload).unwrap());
        let FrameBuffer { data, lengths, .. } = frames;
        let offsets = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
        (data, offsets, lengths)
    }

    #[test]
    fn cached_frames_of_several_files_are_visited_in_the_given_order() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..100usize).map(|size| vec![size as u8; 1 + size * 37]).collect();
            let (data, offsets, lengths) = frame_payloads(kind, &payloads);
            let order: Vec<usize> = (0..100).map(|i| (i * 37) % 100).collect();
            let source_indices: Vec<i64> = order.iter().map(|i| (i % 2) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = FrameSelection {
                kind,
                offsets: &offsets,
                lengths: &lengths,
                verify: true,
                checksums: None,
                max_payload_bytes: u64::MAX,
            };
            let mut found = Vec::new();
            for_each_cached_payload(&[&data, &data], &source_indices, selection, |ordinal, payload| {
                assert_eq!(ordinal, found.len());
                found.push(payload.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(found, order.iter().map(|&i| payloads[i].clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn truncated_or_damaged_cached_frame_is_reported_with_its_ordinal() {
        let (mut data, offsets, lengths) =
            frame_payloads(FrameKind::TfRecord, &[vec![1; 50], vec![2; 60], vec![3; 70]]);
        let selection = FrameSelection {
            kind: FrameKind::TfRecord,
            offsets: &offsets,
            lengths: &lengths,
            verify: true,
            checksums: None,
            max_payload_bytes: u64::MAX,
        };
        let visit_all = |data: &[u8]| {
            for_each_cached_payload(&[data], &[0, 0, 0], selection, |_, _| Ok(())).map_err(|failure| failure.ordinal)
        };
        assert_eq!(visit_all(&data), Ok(()));
        assert_eq!(visit_all(&data[..data.len() - 1]), Err(2));
        assert_eq!(visit_all(&[]), Err(0));
        data[offsets[1] as usize + 20] ^= 1;
        assert_eq!(visit_all(&data), Err(1));
    }
}
