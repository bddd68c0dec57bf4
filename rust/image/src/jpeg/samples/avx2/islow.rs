//! The accurate inverse DCT, eight columns or rows at once.
use super::super::islow::{self, BETWEEN, FRACTION, factors::*};
use super::super::transform::Block;
use super::super::transform::Multipliers;
use super::vectors::{Paired, load_pair, store_columns, transpose, two};
use std::arch::x86_64::*;

/// See [`super::super::Kernel::islow`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return islow::flat(islow::level(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let rows = [load(0), load(1), load(2), load(3)];
    if is_absurd(rows[0]) {
        return absurd(block, last, multipliers, out, stride);
    }
    let paired = rows.map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let columns = transpose(pass::<{ FRACTION - BETWEEN }>(paired));
    store_columns(pass::<{ FRACTION + BETWEEN + 3 }>(columns), out, stride);
}

/// Whether the first row has values of more than 14 bits, which pass through a block without other rows in another way.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn is_absurd(rows: __m256i) -> bool {
    let moved = _mm_add_epi16(_mm256_castsi256_si128(rows), _mm_set1_epi16(1 << 13));
    _mm_testz_si128(moved, _mm_set1_epi16(0b11 << 14)) == 0
}

#[cold]
fn absurd(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    islow::block(block, last, multipliers, out, stride);
}

/// Transforms down the rows; results lose `SHIFT` bits, rounded, and saturate to 16.
#[target_feature(enable = "avx2")]
#[inline]
fn pass<const SHIFT: i32>(p: Paired) -> Paired {
    let dot = |pair: __m256i, factors| _mm256_madd_epi16(pair, two(factors));
    let swapped = |factors: [i16; 2]| [factors[1], factors[0]];
    let (sums, z37) = (_mm256_add_epi16(p[0], p[2]), _mm256_add_epi16(p[1], p[3]));
    let (sum, difference) = (whole::<SHIFT>(sums), whole::<SHIFT>(_mm256_sub_epi16(p[0], p[2])));
    let v26 = _mm256_unpacklo_epi16(p[1], p[3]);
    let z = _mm256_unpackhi_epi16(z37, sums);
    let v17 = _mm256_unpackhi_epi16(p[0], p[3]);
    let v35 = _mm256_unpackhi_epi16(p[1], p[2]);
    let (e2, e6) = (dot(v26, EVEN_2), dot(v26, EVEN_6));
    let (z3, z4) = (dot(z, ODD_37), dot(z, ODD_15));
    let o0 = _mm256_add_epi32(dot(v17, ROTATE_17), z4);
    let o1 = _mm256_add_epi32(dot(v35, ROTATE_35), z3);
    let o2 = _mm256_add_epi32(dot(v35, swapped(ROTATE_53)), z4);
    let o3 = _mm256_add_epi32(dot(v17, swapped(ROTATE_71)), z3);
    let (r0, r7) = outer::<SHIFT>(_mm256_add_epi32(sum, e2), o0);
    let (r1, r6) = outer::<SHIFT>(_mm256_add_epi32(difference, e6), o1);
    let (r2, r5) = outer::<SHIFT>(_mm256_sub_epi32(difference, e6), o2);
    let (r3, r4) = outer::<SHIFT>(_mm256_sub_epi32(sum, e2), o3);
    [_mm256_packs_epi32(r0, r1), _mm256_packs_epi32(r2, r3), _mm256_packs_epi32(r4, r5), _mm256_packs_epi32(r6, r7)]
}

/// The even row of a pair, widened, with the fraction bits of products and half of what the last shift drops.
#[target_feature(enable = "avx2")]
#[inline]
fn whole<const SHIFT: i32>(pair: __m256i) -> __m256i {
    let upper = _mm256_unpacklo_epi16(_mm256_setzero_si256(), pair);
    _mm256_add_epi32(_mm256_srai_epi32::<{ 16 - FRACTION }>(upper), _mm256_set1_epi32(1 << (SHIFT - 1)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn outer<const SHIFT: i32>(even: __m256i, odd: __m256i) -> (__m256i, __m256i) {
    (_mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even, odd)), _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even, odd)))
}
