//! The inverse DCT to 2 x 2 samples, eight columns and then two rows at once.
use super::super::islow::{BETWEEN, FRACTION, flat};
use super::super::reduced::{factors::QUARTER, quarter_level};
use super::super::transform::Block;
use super::super::transform::Multipliers;
use super::vectors::{load_pair, two};
use bytemuck::cast;
use std::arch::x86_64::*;

/// See [`super::super::Kernel::quarter`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return flat(quarter_level(block[0].wrapping_mul(multipliers.0[0])), 2, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let p = [load(0), load(1), load(2), load(3)].map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let first = _mm256_srai_epi32::<{ 16 - FRACTION - 2 }>(_mm256_unpacklo_epi16(_mm256_setzero_si256(), p[0]));
    let v13 = _mm256_madd_epi16(_mm256_unpackhi_epi16(p[0], p[1]), two([QUARTER[0], QUARTER[1]]));
    let v57 = _mm256_madd_epi16(_mm256_unpackhi_epi16(p[2], p[3]), two([QUARTER[2], QUARTER[3]]));
    let odd = _mm256_add_epi32(v13, v57);
    let shift = |sum| {
        let half = _mm256_set1_epi32(1 << (FRACTION - BETWEEN + 1));
        _mm256_srai_epi32::<{ FRACTION - BETWEEN + 2 }>(_mm256_add_epi32(sum, half))
    };
    let samples = rows(shift(_mm256_add_epi32(first, odd)), shift(_mm256_sub_epi32(first, odd)));
    out[..2].copy_from_slice(&samples[..2]);
    out[stride..stride + 2].copy_from_slice(&samples[2..]);
}

/// The second pass over both rows: four samples.
#[target_feature(enable = "avx2")]
#[inline]
fn rows(upper: __m256i, lower: __m256i) -> [u8; 4] {
    let odd_columns = _mm256_setr_epi8(
        2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1,
        -1, -1,
    );
    let odd = _mm256_shuffle_epi8(_mm256_packs_epi32(upper, lower), odd_columns);
    let (v13, v57) = (_mm256_castsi256_si128(odd), _mm256_extracti128_si256::<1>(odd));
    let factors = |pair| _mm256_castsi256_si128(two(pair));
    let v13 = _mm_madd_epi16(v13, factors([QUARTER[0], QUARTER[1]]));
    let v57 = _mm_madd_epi16(v57, factors([QUARTER[2], QUARTER[3]]));
    let odd = _mm_add_epi32(v13, v57);
    let first = _mm_unpacklo_epi32(_mm256_castsi256_si128(upper), _mm256_castsi256_si128(lower));
    let half = _mm_set1_epi32(1 << (FRACTION + BETWEEN + 4));
    let first = _mm_add_epi32(_mm_slli_epi32::<{ FRACTION + 2 }>(first), half);
    let sums = _mm_unpacklo_epi32(_mm_add_epi32(first, odd), _mm_sub_epi32(first, odd));
    let sums = _mm_srai_epi32::<{ FRACTION + BETWEEN + 5 }>(sums);
    let words = _mm_packs_epi32(sums, sums);
    let bytes = _mm_xor_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(-128));
    cast::<i32, [u8; 4]>(_mm_cvtsi128_si32(bytes))
}
