//! TFRecord: u64 length, masked CRC-32C of it, payload, masked CRC-32C of the payload; all little-endian.
use super::{Framing, Head, Place};
use crate::checksum::{mask, masked_crc32c, masked_crc32c_of_eight};
use crate::error::{Fault, FaultKind};

/// Bytes of length and length checksum.
const HEAD: usize = 12;
/// Bytes of the payload checksum.
const FOOT: usize = 4;

pub struct TfRecord;

impl Framing for TfRecord {
    const NAME: &'static str = "tfrecord";
    const HEAD_LEN: usize = HEAD;
    const FOOT_LEN: Option<usize> = Some(FOOT);
    const HAS_CHECKSUM: bool = true;
    const CAN_RESYNC: bool = true;

    #[inline]
    fn head(head: &[u8], offset: u64) -> Result<Head, Fault> {
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

    fn close(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        let (head, payload) = out[start..].split_at_mut(HEAD);
        let length = payload.len() as u64;
        head[..8].copy_from_slice(&length.to_le_bytes());
        head[8..].copy_from_slice(&masked_crc32c_of_eight(length).to_le_bytes());
        let checksum = masked_crc32c(payload);
        out.extend_from_slice(&checksum.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn check_foot(crc: u32, foot: &[u8], offset: u64) -> Result<(), Fault> {
        let computed = mask(crc);
        let stored = u32::from_le_bytes(foot[..4].try_into().expect("four bytes"));
        if computed == stored {
            return Ok(());
        }
        let fault = Fault::new(FaultKind::PayloadChecksum, offset, "the checksum of a record's payload is wrong");
        Err(fault.values(format_args!("{computed:#010x}"), format_args!("{stored:#010x} stored")))
    }

    /// A head whose checksum matches and whose record fits into what is left: wrong by chance once in 2^32 offsets.
    fn resync(bytes: &[u8], _: u64, left: u64) -> Option<usize> {
        (0..bytes.len().saturating_sub(HEAD - 1)).find(|&at| {
            let (length, stored) = fields(&bytes[at..at + HEAD]);
            let room = left.saturating_sub(at as u64);
            length.checked_add((HEAD + FOOT) as u64).is_some_and(|needed| needed <= room)
                && masked_crc32c_of_eight(length) == stored
        })
    }
}

fn fields(head: &[u8]) -> (u64, u32) {
    let length = u64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
    (length, u32::from_le_bytes(head[8..12].try_into().expect("four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_frames_empty_payload_in_sixteen_bytes() {
        let mut out = vec![0; HEAD];
        TfRecord::close(&mut out, 0).unwrap();
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xD8, 0xEA, 0x82, 0xA2]);
    }

    #[test]
    fn head_rejects_impossible_length_with_matching_checksum() {
        for length in [1u64 << 63, u64::MAX - 15, u64::MAX] {
            let mut bytes = length.to_le_bytes().to_vec();
            bytes.extend(masked_crc32c(&length.to_le_bytes()).to_le_bytes());
            assert_eq!(TfRecord::head(&bytes, 7).unwrap_err().kind, FaultKind::BadLength);
        }
    }
}
