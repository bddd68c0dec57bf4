//! The pass across of the linear kernel with AVX2: two pixels in each vector, both taps of a channel side by side.
use super::two_tap::{Columns, LOAD, STEP, STORE};
use std::arch::x86_64::*;

/// A row of at least `columns.reach` values; `output` has room for whole steps and one store.
#[target_feature(enable = "avx2")]
pub(super) fn across<const CHANNELS: usize>(row: &[u8], columns: &Columns, output: &mut [i16]) {
    let (taps, dense) = (taps::<CHANNELS>(), dense::<CHANNELS>());
    let row = &row[..columns.reach];
    let steps = columns.starts.as_chunks::<STEP>().0.iter().zip(columns.weights.as_chunks::<STEP>().0);
    for (step, (starts, weights)) in steps.enumerate() {
        let first = weigh(row, [starts[0], starts[2]], [weights[0], weights[2]], taps);
        let second = weigh(row, [starts[1], starts[3]], [weights[1], weights[3]], taps);
        let pixels = _mm256_shuffle_epi8(_mm256_packs_epi32(first, second), dense);
        let [left, right]: [[i16; STORE]; 2] = bytemuck::cast(pixels);
        let output = &mut output[step * STEP * CHANNELS..][..STEP / 2 * CHANNELS + STORE];
        output[..STORE].copy_from_slice(&left);
        output[STEP / 2 * CHANNELS..].copy_from_slice(&right);
    }
}

/// One pixel in each half: weighed, and rid of four bits.
#[target_feature(enable = "avx2")]
#[inline]
fn weigh(row: &[u8], starts: [u32; 2], weights: [[i16; 2]; 2], taps: __m256i) -> __m256i {
    let (left, right) = (load(row, starts[0]), load(row, starts[1]));
    let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(left), right);
    let weight = |pair: [i16; 2]| _mm_set1_epi32(bytemuck::cast(pair));
    let weights = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(weight(weights[0])), weight(weights[1]));
    _mm256_srai_epi32::<4>(_mm256_madd_epi16(_mm256_shuffle_epi8(both, taps), weights))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(row: &[u8], start: u32) -> __m128i {
    let bytes: &[u8; LOAD] = row[start as usize..][..LOAD].first_chunk().expect("a load of the row");
    _mm_set_epi64x(0, i64::from_le_bytes(*bytes))
}

/// The shuffle that makes 16-bit numbers of both taps of each channel.
fn taps<const CHANNELS: usize>() -> __m256i {
    shuffle(|place| {
        let (channel, tap) = (place / 4, place / 2 % 2);
        (place % 2 == 0 && channel < CHANNELS).then_some(tap * CHANNELS + channel)
    })
}

/// The shuffle that closes the gap between two pixels of four 16-bit numbers.
fn dense<const CHANNELS: usize>() -> __m256i {
    shuffle(|place| {
        let (number, byte) = (place / 2, place % 2);
        (number < STEP / 2 * CHANNELS).then_some((number / CHANNELS * 4 + number % CHANNELS) * 2 + byte)
    })
}

/// The same shuffle in both halves.
fn shuffle(from: impl Fn(usize) -> Option<usize>) -> __m256i {
    let bytes: [u8; 32] = std::array::from_fn(|place| from(place % 16).map_or(0x80, |byte| byte as u8));
    bytemuck::cast(bytes)
}
