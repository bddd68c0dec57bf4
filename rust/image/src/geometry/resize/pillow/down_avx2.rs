//! The pass down with AVX2: two rows at a time, exact in 16-bit multiplications of split weights (see `across_avx2`).
use super::spans::PRECISION;
use std::arch::x86_64::*;

/// Values per step.
pub(super) const BLOCK: usize = 16;
/// Bits of the low part of a weight.
const LOW: u32 = 11;

/// Two rows, and the high and the low parts of their weights, 16 bits each side by side.
struct Pair<'a> {
    upper: &'a [u8],
    lower: &'a [u8],
    high: i32,
    low: i32,
}

impl<'a> Pair<'a> {
    /// A row without a partner is paired with itself, at a weight of 0.
    fn new(rows: &[&'a [u8]], weights: &[i32]) -> Self {
        let (first, second) = (weights[0], *weights.get(1).unwrap_or(&0));
        let high = ((first >> LOW) & 0xffff) | (second >> LOW) << 16;
        let low = (first & ((1 << LOW) - 1)) | (second & ((1 << LOW) - 1)) << 16;
        Self { upper: rows[0], lower: rows.get(1).unwrap_or(&rows[0]), high, low }
    }
}

/// The weighted sum of `rows` in whole blocks; how many values that are.
#[target_feature(enable = "avx2")]
pub(super) fn down(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    let (blocks, _) = output.as_chunks_mut::<BLOCK>();
    let length = blocks.len() * BLOCK;
    let pairs: Vec<Pair> = rows.chunks(2).zip(weights.chunks(2)).map(|(rows, pair)| Pair::new(rows, pair)).collect();
    for (index, block) in blocks.iter_mut().enumerate() {
        let bytes = weigh(&pairs, index);
        let (halves, _) = block.as_chunks_mut::<8>();
        halves[0] = _mm_extract_epi64::<0>(bytes).to_le_bytes();
        halves[1] = _mm_extract_epi64::<1>(bytes).to_le_bytes();
    }
    length
}

/// The rounded sums of block `index`.
#[target_feature(enable = "avx2")]
#[inline]
fn weigh(pairs: &[Pair], index: usize) -> __m128i {
    let half = _mm256_set1_epi32(1 << (PRECISION - 1));
    let (mut first_high, mut second_high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let (mut first_low, mut second_low) = (half, half);
    for pair in pairs {
        let (upper, lower) = (widen(pair.upper, index), widen(pair.lower, index));
        let (first, second) = (_mm256_unpacklo_epi16(upper, lower), _mm256_unpackhi_epi16(upper, lower));
        let (high, low) = (_mm256_set1_epi32(pair.high), _mm256_set1_epi32(pair.low));
        first_high = _mm256_add_epi32(first_high, _mm256_madd_epi16(first, high));
        second_high = _mm256_add_epi32(second_high, _mm256_madd_epi16(second, high));
        first_low = _mm256_add_epi32(first_low, _mm256_madd_epi16(first, low));
        second_low = _mm256_add_epi32(second_low, _mm256_madd_epi16(second, low));
    }
    let words = _mm256_packs_epi32(finished(first_high, first_low), finished(second_high, second_low));
    _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words))
}

#[target_feature(enable = "avx2")]
#[inline]
fn finished(high: __m256i, low: __m256i) -> __m256i {
    _mm256_srai_epi32::<{ PRECISION as i32 }>(_mm256_add_epi32(_mm256_slli_epi32::<{ LOW as i32 }>(high), low))
}

/// Block `index` of `row` in 16 bits per value.
#[target_feature(enable = "avx2")]
#[inline]
fn widen(row: &[u8], index: usize) -> __m256i {
    let (halves, _) = row[index * BLOCK..][..BLOCK].as_chunks::<8>();
    _mm256_cvtepu8_epi16(_mm_set_epi64x(i64::from_le_bytes(halves[1]), i64::from_le_bytes(halves[0])))
}
