//! TFRecord: u64 length, masked CRC-32C of it, payload, masked CRC-32C of the payload; all little-endian.
use super::{Head, Place};
use crate::checksum::{masked_crc32c, masked_crc32c_of_eight};
use crate::error::{Fault, FaultKind};

/// Bytes of length and length checksum.
pub const HEAD: usize = 12;
/// Bytes of the payload checksum.
pub const FOOT: usize = 4;

#[inline]
pub fn head(head: &[u8], offset: u64) -> Result<Head, Fault> {
    let (length, stored) = fields(head);
    let computed = masked_crc32c_of_eight(length);
    if computed != stored {
        let fault = Fault::new(FaultKind::LengthChecksum, offset, "the checksum of a record's length is wrong");
        return Err(fault.values(format_args!("{computed:#010x}"), format_args!("{stored:#010x} stored")));
    }
    if length > i64::MAX as u64 - (HEAD + FOOT) as u64 {
        let fault = Fault::new(FaultKind::BadLength, offset, "a record's length is impossible");
        return Err(fault.values("less than 2^63", length));
    }
    Ok(Head { data_len: length, stored_len: length + (HEAD + FOOT) as u64, place: Place::Whole })
}

fn fields(head: &[u8]) -> (u64, u32) {
    let length = u64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
    (length, u32::from_le_bytes(head[8..12].try_into().expect("four bytes")))
}

/// Payload and footer of a whole frame.
#[inline]
pub fn split(frame: &[u8]) -> (&[u8], &[u8]) {
    frame[HEAD..].split_at(frame.len() - HEAD - FOOT)
}

/// Compares the checksum of a payload with the one stored behind it.
#[inline]
pub fn check(computed: u32, foot: &[u8], offset: u64) -> Result<(), Fault> {
    let stored = u32::from_le_bytes(foot[..4].try_into().expect("four bytes"));
    if computed == stored {
        return Ok(());
    }
    let fault = Fault::new(FaultKind::PayloadChecksum, offset, "the checksum of a record's payload is wrong");
    Err(fault.values(format_args!("{computed:#010x}"), format_args!("{stored:#010x} stored")))
}

/// Fills in the head at `start` for the payload behind it, and adds the foot.
pub fn close(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
    let (head, payload) = out[start..].split_at_mut(HEAD);
    let length = payload.len() as u64;
    head[..8].copy_from_slice(&length.to_le_bytes());
    head[8..].copy_from_slice(&masked_crc32c_of_eight(length).to_le_bytes());
    let checksum = masked_crc32c(payload);
    out.extend_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// A head whose checksum fits and whose record fits into what is left: wrong by chance once in 2^32 places.
pub fn resync(bytes: &[u8], left: u64) -> Option<usize> {
    (0..bytes.len().saturating_sub(HEAD - 1)).find(|&at| {
        let (length, stored) = fields(&bytes[at..at + HEAD]);
        let room = left.saturating_sub(at as u64);
        length.checked_add((HEAD + FOOT) as u64).is_some_and(|needed| needed <= room)
            && masked_crc32c_of_eight(length) == stored
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_of_empty_payload_is_sixteen_bytes() {
        let mut out = vec![0; HEAD];
        close(&mut out, 0).unwrap();
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xD8, 0xEA, 0x82, 0xA2]);
    }

    #[test]
    fn head_of_absurd_length_with_right_checksum_is_refused() {
        for length in [1u64 << 63, u64::MAX - 15, u64::MAX] {
            let mut bytes = length.to_le_bytes().to_vec();
            bytes.extend(masked_crc32c(&length.to_le_bytes()).to_le_bytes());
            assert_eq!(head(&bytes, 7).unwrap_err().kind, FaultKind::BadLength);
        }
    }
}
