//! Limits of the length of a payload: the limit of the format, and the limit of the caller.
//!
//! Both are checked before memory is allocated for a payload.
use super::{FrameKind, MAX_MARGIN, PartKind, truncated_header_fault};
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};

/// Checks the length of the payload of the record at `offset`, or of those parts of it that are known so far.
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

/// Checks the payload length of the frame of `length` stored bytes at `offset`. Reads headers only if the length of the
/// frame does not rule out that the payload is too long.
#[inline]
pub(super) fn check_frame_len(
    source: &dyn ReadAt,
    kind: FrameKind,
    (offset, length): (u64, u64),
    max_payload_bytes: u64,
) -> Result<(), SourceError> {
    // With several parts, the headers take more than the separators that the payload has between the parts.
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
