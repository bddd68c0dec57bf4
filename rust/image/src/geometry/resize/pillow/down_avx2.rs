//! The pass down with AVX2: two rows at a time, exact in 16-bit multiplications of split weights (see `across_avx2`).
use super::spans::PRECISION;
use std::arch::x86_64::*;

/// Values per step.
pub(super) const BLOCK: usize = 16;
/// Bits of the low part of a weight.
const LOW: u32 = 11;

/// Two rows, and the high and the low parts of their weights, ready for all blocks.
struct Pair<'a> {
    rows: [&'a [u8]; 2],
    high: __m256i,
    low: __m256i,
}

/// The weighted sum of `rows` in whole blocks; how many values that are.
#[target_feature(enable = "avx2")]
pub(super) fn down(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    let (blocks, _) = output.as_chunks_mut::<BLOCK>();
    let pairs: Vec<Pair> = rows.chunks(2).zip(weights.chunks(2)).map(|(rows, weights)| pair(rows, weights)).collect();
    for (index, block) in blocks.iter_mut().enumerate() {
        let (first, second) = weigh(&pairs, index);
        let words = _mm256_packs_epi32(first, second);
        let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        let (halves, _) = block.as_chunks_mut::<8>();
        halves[0] = _mm_extract_epi64::<0>(bytes).to_le_bytes();
        halves[1] = _mm_extract_epi64::<1>(bytes).to_le_bytes();
    }
    blocks.len() * BLOCK
}

/// A row without a partner is paired with itself, at a weight of 0.
#[target_feature(enable = "avx2")]
#[inline]
fn pair<'a>(rows: &[&'a [u8]], weights: &[i32]) -> Pair<'a> {
    let weights = [weights[0], *weights.get(1).unwrap_or(&0)];
    let (high, low) = (both(&weights, |weight| weight >> LOW), both(&weights, |weight| weight & ((1 << LOW) - 1)));
    Pair { rows: [rows[0], *rows.get(1).unwrap_or(&rows[0])], high, low }
}

/// The rounded sums of block `index`, 32 bits each.
#[target_feature(enable = "avx2")]
#[inline]
fn weigh(pairs: &[Pair], index: usize) -> (__m256i, __m256i) {
    let half = _mm256_set1_epi32(1 << (PRECISION - 1));
    let zero = _mm256_setzero_si256();
    let (mut high, mut low) = ([zero; 2], [half; 2]);
    for pair in pairs {
        let [upper, lower] = pair.rows.map(|row| widen(row, index));
        let values = [_mm256_unpacklo_epi16(upper, lower), _mm256_unpackhi_epi16(upper, lower)];
        for part in 0..2 {
            high[part] = _mm256_add_epi32(high[part], _mm256_madd_epi16(values[part], pair.high));
            low[part] = _mm256_add_epi32(low[part], _mm256_madd_epi16(values[part], pair.low));
        }
    }
    let sum = |part: usize| _mm256_add_epi32(_mm256_slli_epi32::<{ LOW as i32 }>(high[part]), low[part]);
    (_mm256_srai_epi32::<{ PRECISION as i32 }>(sum(0)), _mm256_srai_epi32::<{ PRECISION as i32 }>(sum(1)))
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
