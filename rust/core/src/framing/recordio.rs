//! MXNet RecordIO: magic word, 3-bit flag and 29-bit length, data, zero padding to 4 bytes. All words are
//! little-endian.
//!
//! The writer splits a payload at each word that equals the magic word and whose offset is a multiple of 4 (an aligned
//! word). It omits that word, and the reader inserts it between the parts again. So an aligned magic word followed by
//! flag 0 or 1 always begins a record.
use super::{Framing, Header, PartKind};
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};

/// The magic word as stored.
const MAGIC: [u8; 4] = 0xCED7_230A_u32.to_le_bytes();
const LENGTH_BITS: u32 = 29;
const HEADER: usize = 8;

pub struct RecordIo;

impl Framing for RecordIo {
    const NAME: &'static str = "recordio";
    const HEADER_LEN: usize = HEADER;
    const FOOTER_LEN: Option<usize> = None;
    const MAX_PAYLOAD_LEN: u64 = (1 << LENGTH_BITS) - 1;
    const CAN_RESYNC: bool = true;
    const SEPARATOR: Option<&'static [u8]> = Some(&MAGIC);

    #[inline]
    fn parse_header(header: &[u8], offset: u64) -> Result<Header, Fault> {
        if header[..4] != MAGIC {
            let found = u32::from_le_bytes(header[..4].try_into().expect("four bytes"));
            let fault = Fault::new(FaultKind::BadMagic, offset, "no magic word where a record must begin");
            return Err(fault.with_values("0xced7230a", format_args!("{found:#010x}")));
        }
        let word = u32::from_le_bytes(header[4..8].try_into().expect("four bytes"));
        let part = match word >> LENGTH_BITS {
            0 => PartKind::Whole,
            1 => PartKind::First,
            2 => PartKind::Middle,
            3 => PartKind::Last,
            flag => {
                let fault = Fault::new(FaultKind::BadContinuation, offset, "the flag of a part is unknown");
                return Err(fault.with_values("0 to 3", flag));
            }
        };
        let length = u64::from(word) & Self::MAX_PAYLOAD_LEN;
        Ok(Header { data_len: length, stored_len: HEADER as u64 + length.next_multiple_of(4), part })
    }

    /// Splits a payload that contains an aligned magic word into parts.
    fn finish_frame(out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        let payload = &out[start + HEADER..];
        let length = payload.len();
        if length as u64 > Self::MAX_PAYLOAD_LEN {
            let fault = Fault::new(FaultKind::BadLength, 0, "the record is too long for RecordIO");
            return Err(fault.with_values("less than 2^29 bytes", format_args!("{length} bytes")));
        }
        if let Some(first) = find_magic_word(payload, 0) {
            let payload = memory::copy(payload)?;
            out.truncate(start);
            return Ok(push_parts(&payload, first, out)?);
        }
        out[start..start + HEADER].copy_from_slice(&part_header(0, length));
        Ok(memory::extend_from_slice(out, padding_bytes(length))?)
    }

    /// Finds a magic word at a multiple of 4 bytes that is followed by the flag of a whole or first part.
    fn resync(bytes: &[u8], offset: u64, _: u64) -> Option<usize> {
        let first = (4 - offset % 4) as usize % 4;
        (first..bytes.len().saturating_sub(7))
            .step_by(4)
            .find(|&start| bytes[start..start + 4] == MAGIC && matches!(bytes[start + 7] >> 5, 0 | 1))
    }

    fn find_padding_fault(frame: &[u8], offset: u64) -> Option<Fault> {
        let mut position = 0;
        while position + HEADER <= frame.len() {
            let here = offset + position as u64;
            let header = Self::parse_header(&frame[position..position + HEADER], here).ok()?;
            let start = position + HEADER + header.data_len as usize;
            let end = position + header.stored_len as usize;
            let padding = frame.get(start..end)?;
            if padding.iter().any(|&byte| byte != 0) {
                let fault = Fault::new(FaultKind::BadPadding, here, "padding bytes are not zero");
                return Some(fault.with_values("zeros", format_args!("{padding:02x?}")));
            }
            position = end;
        }
        None
    }
}

fn push_parts(payload: &[u8], first: usize, out: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    let (mut start, mut magic) = (0, Some(first));
    while let Some(end) = magic {
        push_part(&payload[start..end], if start == 0 { 1 } else { 2 }, out)?;
        start = end + 4;
        magic = find_magic_word(payload, start);
    }
    push_part(&payload[start..], 3, out)
}

fn find_magic_word(payload: &[u8], from: usize) -> Option<usize> {
    let words = payload[from..].chunks_exact(4);
    words.enumerate().find(|(_, word)| **word == MAGIC).map(|(index, _)| from + index * 4)
}

fn part_header(flag: u32, length: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&MAGIC);
    header[4..].copy_from_slice(&(flag << LENGTH_BITS | length as u32).to_le_bytes());
    header
}

fn padding_bytes(length: usize) -> &'static [u8] {
    &[0; 3][..length.wrapping_neg() & 3]
}

fn push_part(data: &[u8], flag: u32, out: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    memory::reserve(out, HEADER + data.len().next_multiple_of(4))?;
    out.extend_from_slice(&part_header(flag, data.len()));
    out.extend_from_slice(data);
    out.extend_from_slice(padding_bytes(data.len()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame_payload(payload: &[u8]) -> Vec<u8> {
        let mut out = [&[0; HEADER], payload].concat();
        RecordIo::finish_frame(&mut out, 0).unwrap();
        out
    }

    #[test]
    fn finish_frame_splits_the_magic_word_into_two_empty_parts() {
        assert_eq!(frame_payload(&MAGIC), [MAGIC, [0, 0, 0, 0x20], MAGIC, [0, 0, 0, 0x60]].concat());
    }

    #[test]
    fn finish_frame_keeps_an_unaligned_magic_word_in_one_part() {
        let out = frame_payload(&[1, MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3]]);
        assert_eq!(out.len(), 16);
        assert_eq!(out[4..8], [5, 0, 0, 0]);
    }
}
