//! The inverse DCT to 4 x 4 samples, eight columns and then four rows at once.
use super::super::islow::{self, BETWEEN, FRACTION};
use super::super::reduced::{self, factors::*};
use super::super::transform::Block;
use super::super::transform::Multipliers;
use super::vectors::{load_pair, two, upper_rows};
use bytemuck::cast;
use std::arch::x86_64::*;

/// See [`super::super::Kernel::half`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return islow::flat(islow::level(block[0].wrapping_mul(multipliers.0[0])), 4, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let rows = [load(0), load(1), load(2), load(3)];
    if super::islow::is_absurd(rows[0]) {
        return absurd(block, last, multipliers, out, stride);
    }
    let p = rows.map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let (v13, v57) = (_mm256_unpackhi_epi16(p[0], p[1]), _mm256_unpackhi_epi16(p[2], p[3]));
    let [r0, r1, r2, r3] = pass::<{ FRACTION - BETWEEN + 1 }>(p[0], _mm256_unpacklo_epi16(p[1], p[3]), v13, v57);
    let (c0145, c2367) = upper_rows(_mm256_packs_epi32(r0, r1), _mm256_packs_epi32(r2, r3));
    store(second(c0145, c2367), out, stride);
}

#[cold]
fn absurd(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    reduced::half(block, last, multipliers, out, stride);
}

/// The second pass; four columns of four samples in the lower halves of the results.
#[target_feature(enable = "avx2")]
#[inline]
fn second(c0145: __m256i, c2367: __m256i) -> [__m256i; 4] {
    let lower = |columns| _mm256_permute4x64_epi64::<0b11_01_01_00>(columns);
    let upper = |columns| _mm256_permute4x64_epi64::<0b11_11_11_10>(columns);
    let (c01, c45, c23, c67) = (lower(c0145), upper(c0145), lower(c2367), upper(c2367));
    let (v13, v57) = (_mm256_unpackhi_epi16(c01, c23), _mm256_unpackhi_epi16(c45, c67));
    pass::<{ FRACTION + BETWEEN + 4 }>(c01, _mm256_unpacklo_epi16(c23, c67), v13, v57)
}

/// Four rows from the even row of `v0` and interleaved rows; results lose `SHIFT` bits, rounded.
#[target_feature(enable = "avx2")]
#[inline]
fn pass<const SHIFT: i32>(v0: __m256i, v26: __m256i, v13: __m256i, v57: __m256i) -> [__m256i; 4] {
    let dot = |pair: __m256i, factors| _mm256_madd_epi16(pair, two(factors));
    let first = _mm256_srai_epi32::<{ 16 - FRACTION - 1 }>(_mm256_unpacklo_epi16(_mm256_setzero_si256(), v0));
    let first = _mm256_add_epi32(first, _mm256_set1_epi32(1 << (SHIFT - 1)));
    let second = dot(v26, HALF_26);
    let odd = |f: [i16; 4]| _mm256_add_epi32(dot(v13, [f[0], f[1]]), dot(v57, [f[2], f[3]]));
    let (inner, outer) = (odd(HALF_INNER), odd(HALF_OUTER));
    let (sum, difference) = (_mm256_add_epi32(first, second), _mm256_sub_epi32(first, second));
    [
        _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(sum, outer)),
        _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(difference, inner)),
        _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(difference, inner)),
        _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(sum, outer)),
    ]
}

/// Writes four columns, narrowed to bytes around 128, as rows.
#[target_feature(enable = "avx2")]
#[inline]
fn store(columns: [__m256i; 4], out: &mut [u8], stride: usize) {
    let [c0, c1, c2, c3] = columns.map(|column| _mm256_castsi256_si128(column));
    let bytes = _mm_packs_epi16(_mm_packs_epi32(c0, c1), _mm_packs_epi32(c2, c3));
    let gather = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let rows = _mm_xor_si128(_mm_shuffle_epi8(bytes, gather), _mm_set1_epi8(-128));
    for (i, row) in cast::<_, [[u8; 4]; 4]>(rows).iter().enumerate() {
        out[i * stride..i * stride + 4].copy_from_slice(row);
    }
}
