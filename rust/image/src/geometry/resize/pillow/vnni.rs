//! AVX-512 VNNI implementation of the passes. A weight is split into three signed digits of eight bits, so one byte dot
//! product per digit multiplies and adds four taps.
use super::spans::PRECISION;
use super::weight_groups::{ColumnWeights, WeightGroup};
use super::wide::{self, ROWS};
use std::arch::x86_64::*;

/// Number of bits in a digit.
const DIGIT_BITS: i32 = 8;
/// Largest weight for this implementation: 1.5. Weights of 2 or more do not fit into three digits.
pub(super) const MAX_WEIGHT: i32 = 3 << (PRECISION - 1);

/// Splits four weights into digits. The first element of the result holds the highest digits of all four weights.
pub(super) fn split_weights(weights: WeightGroup) -> WeightGroup {
    let digits = weights.map(|weight| {
        let low = weight as i8;
        let rest = (weight - i32::from(low)) >> DIGIT_BITS;
        let middle = rest as i8;
        [((rest - i32::from(middle)) >> DIGIT_BITS) as i8, middle, low]
    });
    let pack = |digit: usize| i32::from_le_bytes(digits.map(|digits| digits[digit] as u8));
    [pack(0), pack(1), pack(2), 0]
}

/// Running sums of the products with each digit.
type Sums = [__m256i; 3];

#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn zero_sums() -> Sums {
    [_mm256_set1_epi32(1 << (PRECISION as i32 - 1 - 2 * DIGIT_BITS)), _mm256_setzero_si256(), _mm256_setzero_si256()]
}

/// Adds the products of four taps and their weights. Each 32-bit lane of `taps` holds four taps of 8 bits.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn add_taps([high, middle, low]: Sums, taps: __m256i, weights: &WeightGroup) -> Sums {
    [
        _mm256_dpbusd_epi32(high, taps, _mm256_set1_epi32(weights[0])),
        _mm256_dpbusd_epi32(middle, taps, _mm256_set1_epi32(weights[1])),
        _mm256_dpbusd_epi32(low, taps, _mm256_set1_epi32(weights[2])),
    ]
}

/// Combines the sums of the three digits and shifts out the fraction bits.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn combine_sums([high, middle, low]: Sums) -> __m256i {
    let upper = _mm256_add_epi32(_mm256_slli_epi32::<DIGIT_BITS>(high), middle);
    _mm256_srai_epi32::<{ PRECISION as i32 }>(_mm256_add_epi32(_mm256_slli_epi32::<DIGIT_BITS>(upper), low))
}

/// Computes the weighted sum of a span that has only one group of four taps. Starts with the products of the taps and
/// the highest 8-bit digit of each weight, then twice shifts the sum by `DIGIT_BITS` and adds the products of the
/// next digit.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn sum_single_group(taps: __m256i, weights: &WeightGroup) -> __m256i {
    let high = _mm256_dpbusd_epi32(zero_sums()[0], taps, _mm256_set1_epi32(weights[0]));
    let upper = _mm256_dpbusd_epi32(_mm256_slli_epi32::<DIGIT_BITS>(high), taps, _mm256_set1_epi32(weights[1]));
    let sum = _mm256_dpbusd_epi32(_mm256_slli_epi32::<DIGIT_BITS>(upper), taps, _mm256_set1_epi32(weights[2]));
    _mm256_srai_epi32::<{ PRECISION as i32 }>(sum)
}

wide::passes!("avx512vnni,avx512vl");
