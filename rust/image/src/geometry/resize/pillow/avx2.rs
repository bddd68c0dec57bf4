//! The passes with AVX2. A weight of 23 bits is split into `high * 2^11 + low`; both parts fit into 16 bits, so pairs of taps
//! are multiplied and added by one instruction each. All sums wrap at 32 bits like those of the portable path.
use super::quads::{Columns, Quad};
use super::spans::PRECISION;
use super::wide::{self, ROWS};
use std::arch::x86_64::*;

/// Bits of the low part of a weight.
const LOW: u32 = 11;

/// High parts of the even taps' weights and of the odd taps', and the low parts likewise.
pub(super) fn cut(weights: Quad) -> Quad {
    let [a, b, c, d] = weights;
    let high = |first: i32, second: i32| ((first >> LOW) & 0xffff) | (second >> LOW) << 16;
    let low = |first: i32, second: i32| (first & ((1 << LOW) - 1)) | (second & ((1 << LOW) - 1)) << 16;
    [high(a, c), high(b, d), low(a, c), low(b, d)]
}

/// Sums of the high parts and of the low parts.
type Sums = [__m256i; 2];

#[target_feature(enable = "avx2")]
#[inline]
fn start() -> Sums {
    [_mm256_setzero_si256(), _mm256_set1_epi32(1 << (PRECISION - 1))]
}

/// Adds four weighted taps, which are the bytes of a 32-bit number.
#[target_feature(enable = "avx2")]
#[inline]
fn add([high, low]: Sums, taps: __m256i, weights: &Quad) -> Sums {
    let [even_high, odd_high, even_low, odd_low] = *weights;
    let (even, odd) = (_mm256_and_si256(taps, _mm256_set1_epi16(255)), _mm256_srli_epi16::<8>(taps));
    let weigh = |even_weights: i32, odd_weights: i32| {
        let even = _mm256_madd_epi16(even, _mm256_set1_epi32(even_weights));
        _mm256_add_epi32(even, _mm256_madd_epi16(odd, _mm256_set1_epi32(odd_weights)))
    };
    [_mm256_add_epi32(high, weigh(even_high, odd_high)), _mm256_add_epi32(low, weigh(even_low, odd_low))]
}

/// The sums as whole numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn total([high, low]: Sums) -> __m256i {
    _mm256_srai_epi32::<{ PRECISION as i32 }>(_mm256_add_epi32(_mm256_slli_epi32::<{ LOW as i32 }>(high), low))
}

/// Four weighted taps alone.
#[target_feature(enable = "avx2")]
#[inline]
fn only(taps: __m256i, weights: &Quad) -> __m256i {
    total(add(start(), taps, weights))
}

wide::passes!("avx2");
