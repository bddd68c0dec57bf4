//! OFRecord: signed 64-bit little-endian length (more than 0), then the payload. No checksum, no magic.
use super::{Framing, Head, Place};
use crate::error::{Fault, FaultKind};

const HEAD: usize = 8;

pub struct OfRecord;

impl Framing for OfRecord {
    const NAME: &'static str = "ofrecord";
    const HEAD_LEN: usize = HEAD;
    const FOOT_LEN: Option<usize> = Some(0);

    #[inline]
    fn head(head: &[u8], offset: u64) -> Result<Head, Fault> {
        let length = i64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
        if length <= 0 || length > i64::MAX - HEAD as i64 {
            let fault = Fault::new(FaultKind::BadLength, offset, "a record's length is impossible");
            return Err(fault.values("more than 0", length));
        }
        Ok(Head { data_len: length as u64, stored_len: length as u64 + HEAD as u64, place: Place::Whole })
    }

    fn close(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        let (head, payload) = out[start..].split_at_mut(HEAD);
        if payload.is_empty() {
            let fault = Fault::new(FaultKind::BadLength, 0, "OFRecord cannot store an empty record");
            return Err(fault.values("at least 1 byte", "0 bytes"));
        }
        head.copy_from_slice(&(payload.len() as i64).to_le_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_rejects_zero_and_negative_lengths() {
        for length in [0i64, -1, i64::MIN, i64::MAX] {
            assert_eq!(OfRecord::head(&length.to_le_bytes(), 0).unwrap_err().kind, FaultKind::BadLength);
        }
    }
}
