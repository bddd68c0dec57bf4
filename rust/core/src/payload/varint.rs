//! Varints eight bytes at a time: packed lists, and lists of one value.
use super::wire::{Reader, Wire};

/// The bits that say that a varint goes on.
const CONTINUE: u64 = 0x8080_8080_8080_8080;

/// Eight bytes of `buf` from `start` on, as a little-endian word; zeros beyond its end.
#[inline]
pub fn load(buf: &[u8], start: usize) -> u64 {
    match buf.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_tail(buf.get(start..).unwrap_or_default()),
    }
}

#[cold]
fn load_tail(tail: &[u8]) -> u64 {
    tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Draws seven bits of each byte together; the eighth bits are ignored.
#[inline]
pub fn join_groups(word: u64) -> u64 {
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0000_0000_0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// The one varint that fills the `len` bytes from `start` on, without a branch per byte; `None` where they are
/// something else, or more than eight.
#[inline]
pub fn single(buf: &[u8], start: usize, len: usize) -> Option<u64> {
    if len == 0 || len > 8 {
        return None;
    }
    let inside = u64::MAX >> (64 - 8 * len);
    let word = load(buf, start);
    fill_words(&[(word, inside)]).then(|| join_groups(word & inside))
}

/// Whether the bits of each word that the mask beside it chooses, some of its first bytes, are one varint.
#[inline]
pub fn fill_words(words: &[(u64, u64)]) -> bool {
    words.iter().fold(0, |odd, &(word, inside)| odd | (word ^ inside >> 8) & inside & CONTINUE) == 0
}

/// Calls `take` for each varint of `chunk`: eight, two or one from each word, so that few branches depend on lengths.
#[inline]
fn each(mut chunk: Reader, mut take: impl FnMut(u64)) -> Wire<()> {
    while let Some(bytes) = chunk.rest().first_chunk::<8>() {
        let word = u64::from_le_bytes(*bytes);
        let ends = !word & CONTINUE;
        let later_ends = ends & ends.wrapping_sub(1);
        if ends == CONTINUE {
            bytes.iter().for_each(|&byte| take(u64::from(byte)));
            chunk.pos += 8;
        } else if later_ends == 0 {
            take(chunk.varint()?);
        } else {
            let (first, second) = (ends.trailing_zeros(), later_ends.trailing_zeros());
            take(join_groups(word & u64::MAX >> (63 - first)));
            take(join_groups((word & u64::MAX >> (63 - second)) >> (first + 1)));
            chunk.pos += second as usize / 8 + 1;
        }
    }
    while !chunk.is_empty() {
        take(chunk.varint()?);
    }
    Ok(())
}

/// Appends the varints of `chunk` to `out`, each through `cast`.
pub fn decode<T>(chunk: Reader, out: &mut Vec<T>, cast: impl Fn(u64) -> T) -> Wire<()> {
    out.reserve(count_ends(chunk.rest()));
    each(chunk, |value| out.push(cast(value)))
}

/// Number of bytes that end a varint; summed in bytes, which vector units do many of at a time.
fn count_ends(bytes: &[u8]) -> usize {
    bytes.chunks(128).map(|part| usize::from(part.iter().map(|&byte| byte >> 7 ^ 1).sum::<u8>())).sum()
}

/// Number of varints in `chunk`, all of them sound.
pub fn count(chunk: Reader) -> Wire<usize> {
    let mut count = 0;
    each(chunk, |_| count += 1)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::super::wire::{put_varint, varint_len};
    use super::*;

    /// Values with every number of significant bits.
    fn values() -> impl Iterator<Item = u64> {
        (0..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, 0xa5a5_a5a5_a5a5_a5a5 >> bits]).chain([u64::MAX])
    }

    fn encoded(values: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut out = Vec::new();
        values.for_each(|value| put_varint(&mut out, value));
        out
    }

    #[test]
    fn test_single_when_bytes_are_one_varint_then_its_value() {
        for value in values() {
            let bytes = encoded([value].into_iter());
            assert_eq!(bytes.len(), varint_len(value));
            let padded = [&bytes[..], &[0xff; 9]].concat();
            let expected = (bytes.len() <= 8).then_some(value);
            assert_eq!(single(&bytes, 0, bytes.len()), expected);
            assert_eq!(single(&padded, 0, bytes.len()), expected);
            assert_eq!(single(&padded, 0, bytes.len() - 1), None);
        }
        assert_eq!(single(&[1, 2], 0, 2), None);
        assert_eq!(single(&[0x80, 0x80], 0, 2), None);
        assert_eq!(single(&[], 0, 0), None);
    }

    #[test]
    fn test_decode_when_varints_of_all_lengths_follow_one_another_then_all_arrive() {
        let bytes = encoded(values());
        let mut out = Vec::new();
        decode(Reader::new(&bytes), &mut out, |value| value).expect("sound varints");
        assert_eq!(out, values().collect::<Vec<u64>>());
        assert_eq!(count(Reader::new(&bytes)), Ok(out.len()));
    }

    #[test]
    fn test_count_when_the_last_varint_is_cut_then_its_offset_is_named() {
        for len in 1..=12 {
            let bytes = [vec![1; 20], vec![0x80; len]].concat();
            assert_eq!(count(Reader::new(&bytes)).map_err(|broken| broken.offset), Err(20));
        }
    }
}
