//! The pass down with AVX2: two rows at a time, exact in 16-bit multiplications of split weights (see `across_avx2`).
use super::spans::PRECISION;
use std::arch::x86_64::*;

/// Values per step.
pub(super) const BLOCK: usize = 16;
/// Bits of the low part of a weight.
const LOW: u32 = 11;

/// The weighted sum of `rows` in whole blocks; how many values that are.
#[target_feature(enable = "avx2")]
pub(super) fn down(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    let (blocks, _) = output.as_chunks_mut::<BLOCK>();
    let pairs: Vec<[i32; 2]> = weights.chunks(2).map(|pair| [pair[0], *pair.get(1).unwrap_or(&0)]).collect();
    for (index, block) in blocks.iter_mut().enumerate() {
        let half = _mm256_set1_epi32(1 << (PRECISION - 1));
        let (mut first, mut second) = (half, half);
        for (rows, pair) in rows.chunks(2).zip(&pairs) {
            let upper = widen(rows[0], index);
            let lower = rows.get(1).map_or(_mm256_setzero_si256(), |row| widen(row, index));
            let (high, low) = (both(pair, |weight| weight >> LOW), both(pair, |weight| weight & ((1 << LOW) - 1)));
            first = add(first, _mm256_unpacklo_epi16(upper, lower), high, low);
            second = add(second, _mm256_unpackhi_epi16(upper, lower), high, low);
        }
        let shift = |sum| _mm256_srai_epi32::<{ PRECISION as i32 }>(sum);
        let words = _mm256_packs_epi32(shift(first), shift(second));
        let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        let (halves, _) = block.as_chunks_mut::<8>();
        halves[0] = _mm_extract_epi64::<0>(bytes).to_le_bytes();
        halves[1] = _mm_extract_epi64::<1>(bytes).to_le_bytes();
    }
    blocks.len() * BLOCK
}

/// `sum` plus the products of the pairs in `values` with whole weights.
#[target_feature(enable = "avx2")]
#[inline]
fn add(sum: __m256i, values: __m256i, high: __m256i, low: __m256i) -> __m256i {
    let high = _mm256_slli_epi32::<{ LOW as i32 }>(_mm256_madd_epi16(values, high));
    _mm256_add_epi32(_mm256_add_epi32(sum, high), _mm256_madd_epi16(values, low))
}

/// One part of two weights, side by side in 16 bits each, everywhere.
#[target_feature(enable = "avx2")]
#[inline]
fn both(pair: &[i32; 2], part: impl Fn(i32) -> i32) -> __m256i {
    _mm256_set1_epi32((part(pair[0]) & 0xffff) | part(pair[1]) << 16)
}

/// Block `index` of `row` in 16 bits per value.
#[target_feature(enable = "avx2")]
#[inline]
fn widen(row: &[u8], index: usize) -> __m256i {
    let (halves, _) = row[index * BLOCK..][..BLOCK].as_chunks::<8>();
    _mm256_cvtepu8_epi16(_mm_set_epi64x(i64::from_le_bytes(halves[1]), i64::from_le_bytes(halves[0])))
}
