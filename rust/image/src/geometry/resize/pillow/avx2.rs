//! AVX2 implementation of the passes. A weight of 23 bits is split into `high * 2^11 + low`. Both parts fit into 16
//! bits, so one instruction multiplies and adds pairs of taps. All sums wrap at 32 bits as in the portable code.
use super::spans::PRECISION;
use super::weight_groups::{ColumnWeights, WeightGroup};
use super::wide::{self, ROWS};
use std::arch::x86_64::*;

/// Number of bits in the low part of a weight.
const LOW_BITS: u32 = 11;

/// Splits four weights. Returns the high parts for the even taps, the high parts for the odd taps, and then the low
/// parts in the same order.
pub(super) fn split_weights(weights: WeightGroup) -> WeightGroup {
    let [a, b, c, d] = weights;
    let high = |first: i32, second: i32| ((first >> LOW_BITS) & 0xffff) | (second >> LOW_BITS) << 16;
    let low = |first: i32, second: i32| (first & ((1 << LOW_BITS) - 1)) | (second & ((1 << LOW_BITS) - 1)) << 16;
    [high(a, c), high(b, d), low(a, c), low(b, d)]
}

/// Running sums of the products with the high parts of the weights, and of the products with the low parts.
type Sums = [__m256i; 2];

#[target_feature(enable = "avx2")]
#[inline]
fn zero_sums() -> Sums {
    [_mm256_setzero_si256(), _mm256_set1_epi32(1 << (PRECISION - 1))]
}

/// Adds the products of four taps and their weights. Each 32-bit lane of `taps` holds four taps of 8 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn add_taps([high, low]: Sums, taps: __m256i, weights: &WeightGroup) -> Sums {
    let [even_high, odd_high, even_low, odd_low] = *weights;
    let (even, odd) = (_mm256_and_si256(taps, _mm256_set1_epi16(255)), _mm256_srli_epi16::<8>(taps));
    let weighted_sum = |even_weights: i32, odd_weights: i32| {
        let even = _mm256_madd_epi16(even, _mm256_set1_epi32(even_weights));
        _mm256_add_epi32(even, _mm256_madd_epi16(odd, _mm256_set1_epi32(odd_weights)))
    };
    [_mm256_add_epi32(high, weighted_sum(even_high, odd_high)), _mm256_add_epi32(low, weighted_sum(even_low, odd_low))]
}

/// Combines the sums of the high and low parts and shifts out the fraction bits.
#[target_feature(enable = "avx2")]
#[inline]
fn combine_sums([high, low]: Sums) -> __m256i {
    _mm256_srai_epi32::<{ PRECISION as i32 }>(_mm256_add_epi32(_mm256_slli_epi32::<{ LOW_BITS as i32 }>(high), low))
}

/// Computes the weighted sum of a span that has only one group of four taps.
#[target_feature(enable = "avx2")]
#[inline]
fn sum_single_group(taps: __m256i, weights: &WeightGroup) -> __m256i {
    combine_sums(add_taps(zero_sums(), taps, weights))
}

wide::passes!("avx2");
