//! OFRecord: signed 64-bit little-endian length, then the payload. No checksum, no magic word.
//!
//! A payload is one protobuf message, so it has at least 1 byte and less than 2 GiB.
use super::{Framing, Header, PartKind};
use crate::error::{Fault, FaultKind};

const HEADER: usize = 8;

pub struct OfRecord;

impl Framing for OfRecord {
    const NAME: &'static str = "ofrecord";
    const HEADER_LEN: usize = HEADER;
    const FOOTER_LEN: Option<usize> = Some(0);
    const MAX_PAYLOAD_LEN: u64 = i32::MAX as u64;

    #[inline]
    fn parse_header(header: &[u8], offset: u64) -> Result<Header, Fault> {
        let length = i64::from_le_bytes(header[..8].try_into().expect("eight bytes"));
        if length <= 0 || length as u64 > Self::MAX_PAYLOAD_LEN {
            let fault = Fault::new(FaultKind::BadLength, offset, "the length of a record is invalid");
            return Err(fault.with_values("1 to 2147483647", length));
        }
        Ok(Header { data_len: length as u64, stored_len: length as u64 + HEADER as u64, part: PartKind::Whole })
    }

    fn finish_frame(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        let (header, payload) = out[start..].split_at_mut(HEADER);
        if payload.is_empty() {
            let fault = Fault::new(FaultKind::BadLength, 0, "OFRecord cannot store an empty record");
            return Err(fault.with_values("at least 1 byte", "0 bytes"));
        }
        header.copy_from_slice(&(payload.len() as i64).to_le_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_header_rejects_zero_negative_and_too_large_lengths() {
        for length in [0i64, -1, i64::MIN, i64::MAX, 1 << 31, 1 << 40] {
            assert_eq!(OfRecord::parse_header(&length.to_le_bytes(), 0).unwrap_err().kind, FaultKind::BadLength);
        }
        assert_eq!(OfRecord::parse_header(&i64::from(i32::MAX).to_le_bytes(), 0).unwrap().data_len, i32::MAX as u64);
    }
}
