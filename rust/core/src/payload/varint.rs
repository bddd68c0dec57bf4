//! Decoding of varints in packed lists and in lists of one value. Eight bytes are loaded at a time.
use super::wire::{ParseResult, WireReader, WireResult};
use crate::memory;

/// Mask of the continuation bits of eight bytes.
const CONTINUE: u64 = 0x8080_8080_8080_8080;

/// Loads eight bytes of `buf` at `start` as a little-endian word, with zeros beyond the end of `buf`.
#[inline]
pub fn load_word(buf: &[u8], start: usize) -> u64 {
    match buf.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last_word(buf.get(start..).unwrap_or_default()),
    }
}

#[cold]
fn load_last_word(tail: &[u8]) -> u64 {
    tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Concatenates the low seven bits of the eight bytes of `word`.
#[inline]
pub fn join_7bit_groups(word: u64) -> u64 {
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0000_0000_0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// Decodes the `len` bytes at `start` without a branch per byte; None unless they are exactly one varint of at most
/// eight bytes.
#[inline]
pub fn decode_single_varint(buf: &[u8], start: usize, len: usize) -> Option<u64> {
    if len == 0 || len > 8 {
        return None;
    }
    let mask = u64::MAX >> (64 - 8 * len);
    let word = load_word(buf, start);
    are_single_varints(&[(word, mask)]).then(|| join_7bit_groups(word & mask))
}

/// Returns whether the masked bytes of each word are exactly one varint. Each pair is a word and a mask of its first
/// bytes.
#[inline]
pub fn are_single_varints(words: &[(u64, u64)]) -> bool {
    words.iter().fold(0, |errors, &(word, mask)| errors | (word ^ mask >> 8) & mask & CONTINUE) == 0
}

/// Calls `visit` for each varint of `chunk`. Decodes one, two or eight varints at a time, so that few branches depend
/// on their lengths.
#[inline]
fn for_each_varint(mut chunk: WireReader, mut visit: impl FnMut(u64)) -> WireResult<()> {
    while let Some(bytes) = chunk.rest().first_chunk::<8>() {
        let word = u64::from_le_bytes(*bytes);
        let ends = !word & CONTINUE;
        let later_ends = ends & ends.wrapping_sub(1);
        if ends == CONTINUE {
            bytes.iter().for_each(|&byte| visit(u64::from(byte)));
            chunk.pos += 8;
        } else if later_ends == 0 {
            visit(chunk.read_varint()?);
        } else {
            let (first, second) = (ends.trailing_zeros(), later_ends.trailing_zeros());
            visit(join_7bit_groups(word & u64::MAX >> (63 - first)));
            visit(join_7bit_groups((word & u64::MAX >> (63 - second)) >> (first + 1)));
            chunk.pos += second as usize / 8 + 1;
        }
    }
    while !chunk.is_empty() {
        visit(chunk.read_varint()?);
    }
    Ok(())
}

/// Appends the varints of `chunk` to `out`, converted by `cast`.
pub fn decode_varints<T>(chunk: WireReader, out: &mut Vec<T>, cast: impl Fn(u64) -> T) -> ParseResult<()> {
    memory::reserve(out, count_varint_ends(chunk.rest()))?;
    // The capacity is sufficient, because each varint has one byte that ends it.
    Ok(for_each_varint(chunk, |value| out.push(cast(value)))?)
}

/// Counts the bytes that end a varint. The sums are bytes, so that vector instructions add many at a time.
fn count_varint_ends(bytes: &[u8]) -> usize {
    bytes.chunks(128).map(|part| usize::from(part.iter().map(|&byte| byte >> 7 ^ 1).sum::<u8>())).sum()
}

/// Validates and counts the varints in `chunk`.
pub fn count_varints(chunk: WireReader) -> WireResult<usize> {
    let mut count = 0;
    for_each_varint(chunk, |_| count += 1)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::super::wire::{append_varint, varint_len};
    use super::*;

    /// Returns values with each possible number of significant bits.
    fn sample_values() -> impl Iterator<Item = u64> {
        (0..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, 0xa5a5_a5a5_a5a5_a5a5 >> bits]).chain([u64::MAX])
    }

    fn encode_varints(values: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut out = Vec::new();
        values.for_each(|value| append_varint(&mut out, value));
        out
    }

    #[test]
    fn decode_single_varint_accepts_exactly_one_varint() {
        for value in sample_values() {
            let bytes = encode_varints([value].into_iter());
            assert_eq!(bytes.len(), varint_len(value));
            let padded = [&bytes[..], &[0xff; 9]].concat();
            let expected = (bytes.len() <= 8).then_some(value);
            assert_eq!(decode_single_varint(&bytes, 0, bytes.len()), expected);
            assert_eq!(decode_single_varint(&padded, 0, bytes.len()), expected);
            assert_eq!(decode_single_varint(&padded, 0, bytes.len() - 1), None);
        }
        assert_eq!(decode_single_varint(&[1, 2], 0, 2), None);
        assert_eq!(decode_single_varint(&[0x80, 0x80], 0, 2), None);
        assert_eq!(decode_single_varint(&[], 0, 0), None);
    }

    #[test]
    fn decode_varints_returns_values_of_all_lengths() {
        let bytes = encode_varints(sample_values());
        let mut out = Vec::new();
        decode_varints(WireReader::new(&bytes), &mut out, |value| value).expect("valid varints");
        assert_eq!(out, sample_values().collect::<Vec<u64>>());
        assert_eq!(count_varints(WireReader::new(&bytes)), Ok(out.len()));
    }

    #[test]
    fn count_varints_reports_offset_of_truncated_varint() {
        for len in 1..=12 {
            let bytes = [vec![1; 20], vec![0x80; len]].concat();
            assert_eq!(count_varints(WireReader::new(&bytes)).map_err(|error| error.offset), Err(20));
        }
    }
}
