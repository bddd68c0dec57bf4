//! AVX2 implementation of the horizontal pass of the linear kernel: two pixels per vector, with both taps of a channel
//! adjacent.
use super::two_tap::{ColumnTaps, LOAD, STEP, STORE};
use std::arch::x86_64::*;

/// Resizes a row of at least `columns.reach` values. `output` must have room for all pixels, with their number rounded
/// up to a multiple of `STEP`, and for `STORE` more values.
#[target_feature(enable = "avx2")]
pub(super) fn resize_row_horizontally<const CHANNELS: usize>(row: &[u8], columns: &ColumnTaps, output: &mut [i16]) {
    let (taps, compact_shuffle) = (tap_shuffle::<CHANNELS>(), compact_shuffle::<CHANNELS>());
    let row = &row[..columns.reach];
    let steps = columns.starts.as_chunks::<STEP>().0.iter().zip(columns.weights.as_chunks::<STEP>().0);
    for (step, (starts, weights)) in steps.enumerate() {
        let first = weighted_sum(row, [starts[0], starts[2]], [weights[0], weights[2]], taps);
        let second = weighted_sum(row, [starts[1], starts[3]], [weights[1], weights[3]], taps);
        let pixels = _mm256_shuffle_epi8(_mm256_packs_epi32(first, second), compact_shuffle);
        let [left, right]: [[i16; STORE]; 2] = bytemuck::cast(pixels);
        let output = &mut output[step * STEP * CHANNELS..][..STEP / 2 * CHANNELS + STORE];
        output[..STORE].copy_from_slice(&left);
        output[STEP / 2 * CHANNELS..].copy_from_slice(&right);
    }
}

/// Computes the weighted sum of one pixel in each half of the vector, shifted right by four bits.
#[target_feature(enable = "avx2")]
#[inline]
fn weighted_sum(row: &[u8], starts: [u32; 2], weights: [[i16; 2]; 2], taps: __m256i) -> __m256i {
    let (left, right) = (load_eight_values(row, starts[0]), load_eight_values(row, starts[1]));
    let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(left), right);
    let weight = |pair: [i16; 2]| _mm_set1_epi32(bytemuck::cast(pair));
    let weights = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(weight(weights[0])), weight(weights[1]));
    _mm256_srai_epi32::<4>(_mm256_madd_epi16(_mm256_shuffle_epi8(both, taps), weights))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_eight_values(row: &[u8], start: u32) -> __m128i {
    let bytes: &[u8; LOAD] = row[start as usize..][..LOAD].first_chunk().expect("a load of the row");
    _mm_set_epi64x(0, i64::from_le_bytes(*bytes))
}

/// Returns the shuffle that widens both taps of each channel to adjacent 16-bit lanes.
fn tap_shuffle<const CHANNELS: usize>() -> __m256i {
    repeat_in_both_halves(|index| {
        let (channel, tap) = (index / 4, index / 2 % 2);
        (index % 2 == 0 && channel < CHANNELS).then_some(tap * CHANNELS + channel)
    })
}

/// Returns the shuffle that packs pixels of four 16-bit lanes each, without the lanes that are not a channel.
fn compact_shuffle<const CHANNELS: usize>() -> __m256i {
    repeat_in_both_halves(|index| {
        let (number, byte) = (index / 2, index % 2);
        (number < STEP / 2 * CHANNELS).then_some((number / CHANNELS * 4 + number % CHANNELS) * 2 + byte)
    })
}

/// Returns a shuffle that is the same in both halves of a vector. `from` gives the source of each byte; `None` means
/// zero.
fn repeat_in_both_halves(from: impl Fn(usize) -> Option<usize>) -> __m256i {
    let bytes: [u8; 32] = std::array::from_fn(|index| from(index % 16).map_or(0x80, |byte| byte as u8));
    bytemuck::cast(bytes)
}
