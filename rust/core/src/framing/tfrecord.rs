//! TFRecord: u64 length, masked CRC-32C of the length, payload, masked CRC-32C of the payload. All numbers are
//! little-endian.
use super::{Framing, Header, PartKind};
use crate::checksum::{mask_crc, masked_crc32c, masked_crc32c_of_u64};
use crate::error::{Fault, FaultKind};
use crate::memory;

/// Number of bytes of a header: the length and its checksum.
const HEADER: usize = 12;
/// Number of bytes of a footer: the payload checksum.
const FOOTER: usize = 4;

pub struct TfRecord;

impl Framing for TfRecord {
    const NAME: &'static str = "tfrecord";
    const HEADER_LEN: usize = HEADER;
    const FOOTER_LEN: Option<usize> = Some(FOOTER);
    const HAS_CHECKSUM: bool = true;
    const CAN_RESYNC: bool = true;

    #[inline]
    fn parse_header(header: &[u8], offset: u64) -> Result<Header, Fault> {
        let (length, stored) = parse_header(header);
        let computed = masked_crc32c_of_u64(length);
        if computed != stored {
            let fault = Fault::new(FaultKind::LengthChecksum, offset, "the checksum of a record's length is wrong");
            return Err(fault.with_values(format_args!("{computed:#010x}"), format_args!("{stored:#010x} stored")));
        }
        if length > Self::MAX_PAYLOAD_LEN {
            let fault = Fault::new(FaultKind::BadLength, offset, "the length of a record is invalid");
            return Err(fault.with_values("less than 2^63", length));
        }
        Ok(Header { data_len: length, stored_len: length + (HEADER + FOOTER) as u64, part: PartKind::Whole })
    }

    fn finish_frame(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        let (header, payload) = out[start..].split_at_mut(HEADER);
        let length = payload.len() as u64;
        header[..8].copy_from_slice(&length.to_le_bytes());
        header[8..].copy_from_slice(&masked_crc32c_of_u64(length).to_le_bytes());
        let checksum = masked_crc32c(payload);
        Ok(memory::extend_from_slice(out, &checksum.to_le_bytes())?)
    }

    #[inline]
    fn check_footer(crc: u32, footer: &[u8], offset: u64) -> Result<(), Fault> {
        let computed = mask_crc(crc);
        let stored = u32::from_le_bytes(footer[..4].try_into().expect("four bytes"));
        if computed == stored {
            return Ok(());
        }
        let fault = Fault::new(FaultKind::PayloadChecksum, offset, "the checksum of a record's payload is wrong");
        Err(fault.with_values(format_args!("{computed:#010x}"), format_args!("{stored:#010x} stored")))
    }

    /// Finds a header whose checksum matches and whose record fits into the rest of the shard.
    ///
    /// The probability of a false match is 2^-32 per offset.
    fn resync(bytes: &[u8], _: u64, left: u64) -> Option<usize> {
        (0..bytes.len().saturating_sub(HEADER - 1)).find(|&start| {
            let (length, stored) = parse_header(&bytes[start..start + HEADER]);
            let available = left.saturating_sub(start as u64);
            length.checked_add((HEADER + FOOTER) as u64).is_some_and(|needed| needed <= available)
                && masked_crc32c_of_u64(length) == stored
        })
    }
}

/// Returns the length and the stored checksum of the length.
fn parse_header(header: &[u8]) -> (u64, u32) {
    let length = u64::from_le_bytes(header[..8].try_into().expect("eight bytes"));
    (length, u32::from_le_bytes(header[8..12].try_into().expect("four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_frame_frames_empty_payload_in_sixteen_bytes() {
        let mut out = vec![0; HEADER];
        TfRecord::finish_frame(&mut out, 0).unwrap();
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xD8, 0xEA, 0x82, 0xA2]);
    }

    #[test]
    fn parse_header_rejects_impossible_length_with_matching_checksum() {
        for length in [1u64 << 63, u64::MAX - 15, u64::MAX] {
            let mut bytes = length.to_le_bytes().to_vec();
            bytes.extend(masked_crc32c(&length.to_le_bytes()).to_le_bytes());
            assert_eq!(TfRecord::parse_header(&bytes, 7).unwrap_err().kind, FaultKind::BadLength);
        }
    }
}
