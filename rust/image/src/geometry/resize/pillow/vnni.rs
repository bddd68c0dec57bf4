//! The passes with the byte dot products of AVX-512. A weight is cut into three signed digits of eight bits, so four taps are
//! multiplied and added by one instruction for each digit.
use super::quads::{Columns, Quad};
use super::spans::PRECISION;
use super::wide::{self, ROWS};
use std::arch::x86_64::*;

/// Bits of a digit.
const DIGIT: i32 = 8;
/// Weights beyond 1.5 are left to AVX2: those from 2 on have no third digit.
pub(super) const MAX_WEIGHT: i32 = 3 << (PRECISION - 1);

/// The digits of four weights side by side: the highest digits first.
pub(super) fn cut(weights: Quad) -> Quad {
    let digits = weights.map(|weight| {
        let low = weight as i8;
        let rest = (weight - i32::from(low)) >> DIGIT;
        let middle = rest as i8;
        [((rest - i32::from(middle)) >> DIGIT) as i8, middle, low]
    });
    let pack = |digit: usize| i32::from_le_bytes(digits.map(|digits| digits[digit] as u8));
    [pack(0), pack(1), pack(2), 0]
}

/// Sums of each digit.
type Sums = [__m256i; 3];

#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn start() -> Sums {
    [_mm256_set1_epi32(1 << (PRECISION as i32 - 1 - 2 * DIGIT)), _mm256_setzero_si256(), _mm256_setzero_si256()]
}

/// Adds four weighted taps, which are the bytes of a 32-bit number.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn add([high, middle, low]: Sums, taps: __m256i, weights: &Quad) -> Sums {
    [
        _mm256_dpbusd_epi32(high, taps, _mm256_set1_epi32(weights[0])),
        _mm256_dpbusd_epi32(middle, taps, _mm256_set1_epi32(weights[1])),
        _mm256_dpbusd_epi32(low, taps, _mm256_set1_epi32(weights[2])),
    ]
}

/// The sums as whole numbers.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn total([high, middle, low]: Sums) -> __m256i {
    let upper = _mm256_add_epi32(_mm256_slli_epi32::<DIGIT>(high), middle);
    _mm256_srai_epi32::<{ PRECISION as i32 }>(_mm256_add_epi32(_mm256_slli_epi32::<DIGIT>(upper), low))
}

/// Four weighted taps alone: each digit's sum moves up to make room for the next.
#[target_feature(enable = "avx512vnni,avx512vl")]
#[inline]
fn only(taps: __m256i, weights: &Quad) -> __m256i {
    let high = _mm256_dpbusd_epi32(start()[0], taps, _mm256_set1_epi32(weights[0]));
    let upper = _mm256_dpbusd_epi32(_mm256_slli_epi32::<DIGIT>(high), taps, _mm256_set1_epi32(weights[1]));
    let sum = _mm256_dpbusd_epi32(_mm256_slli_epi32::<DIGIT>(upper), taps, _mm256_set1_epi32(weights[2]));
    _mm256_srai_epi32::<{ PRECISION as i32 }>(sum)
}

wide::passes!("avx512vnni,avx512vl");
