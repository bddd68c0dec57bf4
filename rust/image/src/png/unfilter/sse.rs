//! The filters undone with SSE4.1: one pixel, or four of them, at a time.
use std::arch::x86_64::*;

/// Adds the pixel to the left; pixels of one, two, four or eight bytes come sixteen bytes at a time.
#[target_feature(enable = "sse4.1")]
pub(super) fn sub<const N: usize>(row: &mut [u8]) {
    if 16 % N != 0 {
        return super::portable::sub::<N>(row);
    }
    let (blocks, rest) = row.as_chunks_mut::<16>();
    let mut left = [0u8; N];
    for block in blocks {
        let mut sums = bytemuck::cast::<[u8; 16], __m128i>(*block);
        sums = add_shifted::<1, N>(sums);
        sums = add_shifted::<2, N>(sums);
        sums = add_shifted::<4, N>(sums);
        sums = add_shifted::<8, N>(sums);
        *block = bytemuck::cast(_mm_add_epi8(sums, repeat(left)));
        left.copy_from_slice(&block[16 - N..]);
    }
    for pixel in rest.as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left);
            *left = *value;
        }
    }
}

/// Adds the lanes `BY` bytes before each, if pixels of `N` bytes need this step of a running sum.
#[target_feature(enable = "sse4.1")]
fn add_shifted<const BY: i32, const N: usize>(sums: __m128i) -> __m128i {
    if (BY as usize) < N { sums } else { _mm_add_epi8(sums, _mm_slli_si128::<BY>(sums)) }
}

/// A pixel in every place of a vector.
#[target_feature(enable = "sse4.1")]
fn repeat<const N: usize>(pixel: [u8; N]) -> __m128i {
    let mut bytes = [0u8; 16];
    bytes.as_chunks_mut::<N>().0.fill(pixel);
    bytemuck::cast(bytes)
}

/// Adds the mean, rounded down, of the pixels to the left and above.
#[target_feature(enable = "sse4.1")]
pub(super) fn average<const N: usize>(row: &mut [u8], above: &[u8]) {
    if N < 3 {
        return super::portable::average::<N>(row, above);
    }
    let mut left = _mm_setzero_si128();
    let ones = _mm_set1_epi8(1);
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        let up = load(above);
        // The instruction rounds up: one too much where exactly one of the two is odd.
        let excess = _mm_and_si128(_mm_xor_si128(left, up), ones);
        let mean = _mm_sub_epi8(_mm_avg_epu8(left, up), excess);
        left = _mm_add_epi8(load(pixel), mean);
        *pixel = store(left);
    }
}

/// Adds the Paeth predictor of the pixels to the left, above, and above to the left; see the portable code.
#[target_feature(enable = "sse4.1")]
pub(super) fn paeth<const N: usize>(row: &mut [u8], above: &[u8]) {
    if N < 3 {
        return super::portable::paeth::<N>(row, above);
    }
    let (mut left, mut corner) = (_mm_setzero_si128(), _mm_setzero_si128());
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        let up = _mm_cvtepu8_epi16(load(above));
        let triple = _mm_sub_epi16(_mm_add_epi16(corner, _mm_add_epi16(corner, corner)), up);
        let pivot = _mm_sub_epi16(triple, left);
        let (low, high) = (_mm_min_epi16(left, up), _mm_max_epi16(left, up));
        let or_corner = _mm_blendv_epi8(low, corner, _mm_cmpgt_epi16(high, pivot));
        let nearest = _mm_blendv_epi8(high, or_corner, _mm_cmpgt_epi16(pivot, low));
        // Sums of bytes: the upper halves of the 16-bit lanes are zero and stay so.
        left = _mm_add_epi8(_mm_cvtepu8_epi16(load(pixel)), nearest);
        *pixel = store(_mm_packus_epi16(left, left));
        corner = up;
    }
}

/// A pixel in the first lanes of a vector, zeros in the others.
#[target_feature(enable = "sse4.1")]
fn load<const N: usize>(pixel: &[u8; N]) -> __m128i {
    let mut bytes = [0u8; 8];
    bytes[..N].copy_from_slice(pixel);
    _mm_cvtsi64_si128(i64::from_ne_bytes(bytes))
}

/// The pixel in the first lanes of a vector.
#[target_feature(enable = "sse4.1")]
fn store<const N: usize>(lanes: __m128i) -> [u8; N] {
    let bytes = _mm_cvtsi128_si64(lanes).to_ne_bytes();
    std::array::from_fn(|k| bytes[k])
}
