//! SSE4.1 implementation of the filters: one pixel, or up to four pixels, at a time.
use std::arch::x86_64::*;

use super::{Filter, portable};

/// A vector that holds the index of each of its bytes.
const LANES: [i8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Undoes the Sub filter of the first of `rows`, and of the following rows as long as their filter is Sub. Returns the
/// number of processed rows.
///
/// Rows are `length` bytes long including the filter byte. Rows with pixels of one, two, four or eight bytes are
/// processed sixteen bytes at a time.
#[target_feature(enable = "sse4.1")]
pub(super) fn sub_rows<const N: usize>(length: usize, mut rows: &mut [u8]) -> usize {
    let mut done = 0;
    while rows.len() >= length && (done == 0 || rows[0] == Filter::Sub as u8) {
        match 16 % N {
            0 => sub::<N>(length - 1, &mut rows[1..]),
            _ => portable::sub::<N>(&mut rows[1..length]),
        }
        rows = &mut rows[length..];
        done += 1;
    }
    done
}

/// Undoes the Sub filter of the first `length` bytes of `row`. Up to 15 bytes after them are read but not written.
///
/// A load waits for an earlier store that overlaps it partially, so a block must not be stored over the first bytes of
/// the next row.
#[target_feature(enable = "sse4.1")]
fn sub<const N: usize>(length: usize, row: &mut [u8]) {
    let last_pixel = bytemuck::cast(std::array::from_fn::<u8, 16, _>(|lane| (16 - N + lane % N) as u8));
    let (mut before, mut left) = (_mm_setzero_si128(), _mm_setzero_si128());
    let (blocks, _) = row[..length].as_chunks_mut::<16>();
    let mut at = blocks.len() * 16;
    for block in blocks {
        before = _mm_add_epi8(running_sums::<N>(block), left);
        left = _mm_shuffle_epi8(before, last_pixel);
        *block = bytemuck::cast(before);
    }
    if (16..length).contains(&at)
        && let Some(block) = row[at..].first_chunk()
    {
        let sums = _mm_add_epi8(running_sums::<N>(block), left);
        row[length - 16..length].copy_from_slice(bytemuck::bytes_of(&join_bytes(before, sums, length - at)));
        at = length;
    }
    let mut left = pixel_from_bits::<N>(_mm_cvtsi128_si64(left) as u64);
    for pixel in row[at..length].as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left);
            *left = *value;
        }
    }
}

/// Returns each pixel plus all pixels before it in the block.
#[target_feature(enable = "sse4.1")]
fn running_sums<const N: usize>(block: &[u8; 16]) -> __m128i {
    let sums = add_shifted::<1, N>(bytemuck::cast(*block));
    let sums = add_shifted::<2, N>(sums);
    let sums = add_shifted::<4, N>(sums);
    add_shifted::<8, N>(sums)
}

/// Concatenates the last bytes of `before` and the first `count` bytes of `after` to sixteen bytes.
#[target_feature(enable = "sse4.1")]
fn join_bytes(before: __m128i, after: __m128i, count: usize) -> __m128i {
    let lanes = bytemuck::cast(LANES);
    // The shuffle writes zero where the top bit of an index is set; otherwise it uses the lower four bits.
    let from_before = _mm_add_epi8(lanes, _mm_set1_epi8(0x70 + count as i8));
    let from_after = _mm_add_epi8(lanes, _mm_set1_epi8(count as i8 - 16));
    _mm_or_si128(_mm_shuffle_epi8(before, from_before), _mm_shuffle_epi8(after, from_after))
}

/// Adds to each byte the byte `BY` positions before it. Does nothing if `BY` is less than one pixel (`N` bytes).
#[target_feature(enable = "sse4.1")]
fn add_shifted<const BY: i32, const N: usize>(sums: __m128i) -> __m128i {
    if (BY as usize) < N { sums } else { _mm_add_epi8(sums, _mm_slli_si128::<BY>(sums)) }
}

/// Undoes the Average filter: adds the mean, rounded down, of the pixels to the left and above.
#[target_feature(enable = "sse4.1")]
pub(super) fn average<const N: usize>(row: &mut [u8], above: &[u8]) {
    if N < 3 {
        return portable::average::<N>(row, above);
    }
    let mut left = _mm_setzero_si128();
    let ones = _mm_set1_epi8(1);
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        let up = _mm_cvtsi64_si128(pixel_to_bits(above) as i64);
        // The instruction rounds up, which is one too much if exactly one of the two values is odd.
        let excess = _mm_and_si128(_mm_xor_si128(left, up), ones);
        let mean = _mm_sub_epi8(_mm_avg_epu8(left, up), excess);
        left = _mm_add_epi8(_mm_cvtsi64_si128(pixel_to_bits(pixel) as i64), mean);
        *pixel = pixel_from_bits(_mm_cvtsi128_si64(left) as u64);
    }
}

/// Undoes the Paeth filter of `K` consecutive rows in parallel.
///
/// Each loop iteration processes one pixel of each row. A row is one pixel behind the row above it, so the pixel above
/// is known from the previous iteration. The vector has eight lanes of 16 bits, one per sample. Each of the `K` rows
/// uses 8 / `K` of them.
#[target_feature(enable = "sse4.1")]
pub(super) fn paeth_rows<const N: usize, const K: usize>(rows: &mut [&mut [u8]; K], above: &[u8]) {
    if K == 1 && N < 3 {
        return portable::paeth::<N>(rows[0], above);
    }
    let above = above.as_chunks::<N>().0;
    let mut rows = rows.each_mut().map(|row| row.as_chunks_mut::<N>().0);
    let (mut left, mut up) = (_mm_setzero_si128(), _mm_setzero_si128());
    for step in 0..above.len() + K - 1 {
        let corner = up;
        up = _mm_or_si128(move_to_next_rows::<K>(left), widen_to_16_bits(above.get(step).map_or(0, pixel_to_bits)));
        let mut stored = 0;
        for (k, row) in rows.iter().enumerate() {
            stored |= row.get(step.wrapping_sub(k)).map_or(0, pixel_to_bits) << (k * 64 / K);
        }
        // Bytes are added, because samples wrap at 8 bits. The upper bytes of the lanes are zero and stay zero.
        left = _mm_add_epi8(widen_to_16_bits(stored), paeth_predictor(left, up, corner));
        let undone = _mm_cvtsi128_si64(_mm_packus_epi16(left, left)) as u64;
        for (k, row) in rows.iter_mut().enumerate() {
            if let Some(pixel) = row.get_mut(step.wrapping_sub(k)) {
                *pixel = pixel_from_bits(undone >> (k * 64 / K));
            }
        }
    }
}

/// Computes the Paeth predictor in lanes of 16 bits, as the portable code does.
#[target_feature(enable = "sse4.1")]
fn paeth_predictor(left: __m128i, up: __m128i, corner: __m128i) -> __m128i {
    let triple = _mm_sub_epi16(_mm_add_epi16(corner, _mm_add_epi16(corner, corner)), up);
    let pivot = _mm_sub_epi16(triple, left);
    let (low, high) = (_mm_min_epi16(left, up), _mm_max_epi16(left, up));
    let or_corner = _mm_blendv_epi8(low, corner, _mm_cmpgt_epi16(high, pivot));
    _mm_blendv_epi8(high, or_corner, _mm_cmpgt_epi16(pivot, low))
}

/// Moves the lanes of each of `K` rows to the next row. The lanes of the first row become zero.
#[target_feature(enable = "sse4.1")]
fn move_to_next_rows<const K: usize>(lanes: __m128i) -> __m128i {
    match K {
        1 => _mm_setzero_si128(),
        2 => _mm_slli_si128::<8>(lanes),
        _ => _mm_slli_si128::<4>(lanes),
    }
}

/// Widens eight bytes to lanes of 16 bits.
#[target_feature(enable = "sse4.1")]
fn widen_to_16_bits(bytes: u64) -> __m128i {
    _mm_cvtepu8_epi16(_mm_cvtsi64_si128(bytes as i64))
}

/// Converts the bytes of a pixel to an integer, in its low bits.
fn pixel_to_bits<const N: usize>(pixel: &[u8; N]) -> u64 {
    let mut bytes = [0u8; 8];
    bytes[..N].copy_from_slice(pixel);
    u64::from_le_bytes(bytes)
}

/// Converts the low bits of an integer to the bytes of a pixel.
fn pixel_from_bits<const N: usize>(bits: u64) -> [u8; N] {
    let bytes = bits.to_le_bytes();
    std::array::from_fn(|k| bytes[k])
}
