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
fn squeeze(word: u64) -> u64 {
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
    let word = load(buf, start) & inside;
    if word & CONTINUE != CONTINUE & (inside >> 8) {
        return None;
    }
    Some(squeeze(word))
}

/// Calls `take` for each varint of `chunk`.
#[inline]
fn each(mut chunk: Reader, mut take: impl FnMut(u64)) -> Wire<()> {
    while let Some(bytes) = chunk.rest().first_chunk::<8>() {
        let word = u64::from_le_bytes(*bytes);
        let ends = !word & CONTINUE;
        if ends == CONTINUE {
            bytes.iter().for_each(|&byte| take(u64::from(byte)));
            chunk.pos += 8;
        } else if ends == 0 {
            take(chunk.varint()?);
        } else {
            let bits = ends.trailing_zeros();
            take(squeeze(word & u64::MAX >> (63 - bits)));
            chunk.pos += bits as usize / 8 + 1;
        }
    }
    while !chunk.is_empty() {
        take(chunk.varint()?);
    }
    Ok(())
}

/// Appends the varints of `chunk` to `out`, each through `cast`.
pub fn decode<T>(chunk: Reader, out: &mut Vec<T>, cast: impl Fn(u64) -> T) -> Wire<()> {
    out.reserve(chunk.rest().iter().filter(|&&byte| byte < 0x80).count());
    each(chunk, |value| out.push(cast(value)))
}

/// Number of varints in `chunk`, all of them sound.
pub fn count(chunk: Reader) -> Wire<usize> {
    let mut count = 0;
    each(chunk, |_| count += 1)?;
    Ok(count)
}
