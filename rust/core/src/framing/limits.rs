//! Limits on the length of a payload: one that the format sets, and one that the caller sets.
//!
//! Both are checked before memory is allocated for a payload.
use super::{FrameKind, MAX_MARGIN, PartKind, truncated_header_fault};
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};

/// Checks the payload length of the record at `offset`. During a scan, `payload_len` counts only the parts found so
/// far.
#[inline]
pub(super) fn check_payload_len(
    kind: FrameKind,
    offset: u64,
    payload_len: u64,
    max_payload_bytes: u64,
) -> Result<(), Fault> {
    if payload_len > max_payload_bytes.min(kind.max_payload_len()) {
        return Err(payload_len_fault(kind, offset, payload_len, max_payload_bytes));
    }
    Ok(())
}

#[cold]
fn payload_len_fault(kind: FrameKind, offset: u64, payload_len: u64, max_payload_bytes: u64) -> Fault {
    let max = kind.max_payload_len();
    let (fault, max) = if payload_len > max {
        (Fault::new(FaultKind::BadLength, offset, "the record is longer than the format allows"), max)
    } else {
        (Fault::new(FaultKind::RecordTooLong, offset, "the record is longer than the limit"), max_payload_bytes)
    };
    fault.with_values(format_args!("at most {max} bytes"), format_args!("{payload_len} bytes"))
}

/// Checks the payload length of the frame at `offset`, which has `length` stored bytes. Reads headers only if `length`
/// does not already prove that the payload is short enough.
#[inline]
pub(super) fn check_frame_len(
    source: &dyn ReadAt,
    kind: FrameKind,
    (offset, length): (u64, u64),
    max_payload_bytes: u64,
) -> Result<(), SourceError> {
    // With several parts, this is still an upper bound, because each header is longer than the separator that it
    // replaces.
    let longest = length.saturating_sub((kind.header_len() + kind.footer_len().unwrap_or(0)) as u64);
    if longest <= max_payload_bytes.min(kind.max_payload_len()) {
        return Ok(());
    }
    let payload_len = match kind.footer_len() {
        Some(_) => longest,
        None => read_payload_len(source, kind, offset, length)?,
    };
    Ok(check_payload_len(kind, offset, payload_len, max_payload_bytes)?)
}

/// Reads the length of a payload from the headers of its parts.
#[cold]
fn read_payload_len(source: &dyn ReadAt, kind: FrameKind, start: u64, length: u64) -> Result<u64, SourceError> {
    let separator_len = kind.separator().map_or(0, |separator| separator.len() as u64);
    let (mut offset, mut payload_len) = (start, 0_u64);
    while offset - start < length {
        let mut bytes = [0; MAX_MARGIN];
        let header = &mut bytes[..kind.header_len()];
        let num_read = source.read_at(offset, header)?;
        if num_read < header.len() {
            return Err(truncated_header_fault(kind, offset, num_read).into());
        }
        let header = kind.parse_header(header, offset)?;
        payload_len += header.data_len + if offset > start { separator_len } else { 0 };
        if matches!(header.part, PartKind::Whole | PartKind::Last) {
            break;
        }
        offset += header.stored_len;
    }
    Ok(payload_len)
}

#[cfg(test)]
mod tests {
    use super::super::{
        FrameBuffer, FrameIndex, FrameSelection, PayloadBuffer, ScanLimit, SourceWindow, extract_payload,
        for_each_cached_payload, for_each_payload, for_each_scattered_payload, gather_payloads, scan, verify,
    };
    use super::*;

    fn selection<'a>(kind: FrameKind, offsets: &'a [i64], lengths: &'a [i64], max: u64) -> FrameSelection<'a> {
        FrameSelection { kind, offsets, lengths, verify: true, checksums: None, max_payload_bytes: max }
    }

    fn kind_of(error: &SourceError) -> FaultKind {
        let SourceError::Fault(fault) = error else { panic!("{error}") };
        fault.kind
    }

    /// Writes three records. The second one has 2,000 bytes and, in RecordIO, two parts.
    fn write_frames(kind: FrameKind) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
        let mut frames = FrameBuffer::new(kind, Vec::new());
        let mut long = vec![7; 2_000];
        long[1_000..1_004].copy_from_slice(&0xCED7_230A_u32.to_le_bytes());
        [&b"one"[..], &long, b"three"].into_iter().for_each(|payload| frames.push_payload(payload).unwrap());
        let offsets = (0..3).map(|i| frames.lengths[..i].iter().sum()).collect();
        (frames.data, offsets, frames.lengths)
    }

    #[test]
    fn readers_stop_before_a_payload_that_is_longer_than_the_limit() {
        for &kind in FrameKind::ALL {
            let (data, offsets, lengths) = write_frames(kind);
            for (max, is_readable) in [(1_999, false), (2_000, true)] {
                let selection = selection(kind, &offsets, &lengths, max);
                let (mut buffer, mut visited) = (Vec::new(), [0; 3]);
                let mut payloads = PayloadBuffer::new(Vec::new(), 3);
                let outcomes = [
                    for_each_payload(&mut SourceWindow::new(&data, Vec::new()), selection, |_, _| {
                        visited[0] += 1;
                        Ok(())
                    }),
                    for_each_scattered_payload(&[&data[..]], &[0; 3], selection, &mut buffer, |_, _| {
                        visited[1] += 1;
                        Ok(())
                    }),
                    for_each_cached_payload(&[&data], &[0; 3], selection, |_, _| {
                        visited[2] += 1;
                        Ok(())
                    }),
                    gather_payloads(&mut SourceWindow::new(&data, Vec::new()), selection, &mut payloads),
                ];
                let count = if is_readable { 3 } else { 1 };
                assert_eq!((visited, payloads.num_payloads()), ([count; 3], count));
                for outcome in outcomes {
                    assert_eq!(outcome.is_ok(), is_readable);
                    let Err(failure) = outcome else { continue };
                    assert_eq!((failure.ordinal, kind_of(&failure.error)), (1, FaultKind::RecordTooLong));
                    assert!(failure.error.to_string().ends_with("(expected at most 1999 bytes, found 2000 bytes)"));
                }
                let report = verify(&data, kind, FrameIndex::default(), max, None).unwrap();
                assert_eq!((report.num_records, report.num_faults), if is_readable { (3, 0) } else { (2, 1) });
                let limit = ScanLimit { max_payload_bytes: max, ..ScanLimit::NONE };
                let window = &mut SourceWindow::new(&data, Vec::new());
                let found = super::super::scan_window(window, kind, 0, false, limit, 100).unwrap();
                assert_eq!((found.offsets.len(), found.fault.is_none()), (count, is_readable));
            }
        }
    }

    /// A source of huge frames. It generates their headers and reads zeros elsewhere, so the frames take no memory.
    struct HugeFrames {
        headers: Vec<(u64, Vec<u8>)>,
        num_bytes: Option<u64>,
    }

    impl ReadAt for HugeFrames {
        fn num_bytes(&self) -> Option<u64> {
            self.num_bytes
        }

        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
            assert!(buf.len() <= 2 << 20, "a record is read");
            buf.fill(0);
            for (start, header) in &self.headers {
                for (position, &byte) in (*start..).zip(header) {
                    if let Some(target) = position.checked_sub(offset).and_then(|at| buf.get_mut(at as usize)) {
                        *target = byte;
                    }
                }
            }
            Ok(buf.len())
        }

        fn is_sequential(&self) -> bool {
            self.num_bytes.is_none()
        }
    }

    fn recordio_header(flag: u32, length: u32) -> Vec<u8> {
        [0xCED7_230A_u32.to_le_bytes(), (flag << 29 | length).to_le_bytes()].concat()
    }

    #[test]
    fn recordio_parts_that_add_up_to_512_mib_are_a_bad_length() {
        const HALF: u32 = 1 << 28;
        for (second, is_valid) in [(HALF - 8, true), (HALF - 4, false)] {
            let second_offset = 8 + u64::from(HALF);
            let end = second_offset + 8 + u64::from(second);
            let source = HugeFrames {
                headers: vec![(0, recordio_header(1, HALF)), (second_offset, recordio_header(3, second))],
                num_bytes: Some(end),
            };
            let kind = FrameKind::RecordIo;
            let found = scan(&source, kind, 0, false, ScanLimit::NONE).unwrap();
            assert_eq!(found.fault.map(|fault| fault.kind), (!is_valid).then_some(FaultKind::BadLength));
            let checked = check_frame_len(&source, kind, (0, end), u64::MAX);
            assert_eq!(checked.err().map(|error| kind_of(&error)), (!is_valid).then_some(FaultKind::BadLength));
        }
        let mut frame = vec![0; (1 << 29) + 20];
        frame[..8].copy_from_slice(&recordio_header(1, 4));
        frame[12..20].copy_from_slice(&recordio_header(3, (1 << 29) - 8));
        let fault = extract_payload(FrameKind::RecordIo, &frame, 3, false, &mut Vec::new()).unwrap_err();
        assert_eq!((fault.kind, fault.offset), (FaultKind::BadLength, 3));
    }

    #[test]
    fn pinned_window_does_not_buffer_a_record_that_is_too_long() {
        for (kind, header) in [
            (FrameKind::OfRecord, (1_u64 << 30).to_le_bytes().to_vec()),
            (FrameKind::RecordIo, recordio_header(0, 1 << 28)),
        ] {
            let source = HugeFrames { headers: vec![(0, header)], num_bytes: None };
            let mut window = SourceWindow::new(&source, Vec::new());
            window.pin(0);
            let limit = ScanLimit { max_payload_bytes: 1_000_000, ..ScanLimit::NONE };
            let found = super::super::scan_window(&mut window, kind, 0, false, limit, 100).unwrap();
            assert_eq!(found.fault.map(|fault| fault.kind), Some(FaultKind::RecordTooLong));
            assert!(window.into_buffer().len() <= 2 << 20);
        }
    }
}
