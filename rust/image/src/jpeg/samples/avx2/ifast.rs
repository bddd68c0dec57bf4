//! The fast inverse DCT, eight columns or rows at once in 16 bits.
use super::super::ifast::{self, factors::*};
use super::super::islow;
use super::super::transform::Block;
use super::super::transform::Multipliers;
use super::vectors::{load_row, store_rows};
use bytemuck::cast;
use std::arch::x86_64::*;

type Rows = [__m128i; 8];

/// See [`super::super::Kernel::ifast`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return islow::flat(ifast::level(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let rows = [0, 1, 2, 3, 4, 5, 6, 7];
    let rows = rows.map(|row| _mm_mullo_epi16(load_row(block, row), load_row(&multipliers.0, row)));
    let columns = pass(transpose(pass(rows))).map(|column| _mm_srai_epi16::<5>(column));
    let rows = transpose(columns);
    let middle = _mm_set1_epi8(-128);
    let pair = |a, b| cast::<__m128i, [u8; 16]>(_mm_xor_si128(_mm_packs_epi16(a, b), middle));
    let samples = [pair(rows[0], rows[1]), pair(rows[2], rows[3]), pair(rows[4], rows[5]), pair(rows[6], rows[7])];
    store_rows(samples, out, stride);
}

/// The integer part of a product, of which the value may use 14 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn times(value: __m128i, factor: i16) -> __m128i {
    _mm_mulhi_epi16(_mm_slli_epi16::<2>(value), _mm_set1_epi16(factor << 6))
}

#[target_feature(enable = "avx2")]
#[inline]
fn pass(v: Rows) -> Rows {
    let add = |a, b| _mm_add_epi16(a, b);
    let sub = |a, b| _mm_sub_epi16(a, b);
    let (sum04, difference04) = (add(v[0], v[4]), sub(v[0], v[4]));
    let sum26 = add(v[2], v[6]);
    let difference26 = sub(times(sub(v[2], v[6]), F1_414), sum26);
    let (e0, e1) = (add(sum04, sum26), add(difference04, difference26));
    let (e2, e3) = (sub(difference04, difference26), sub(sum04, sum26));
    let (sum17, difference17) = (add(v[1], v[7]), sub(v[1], v[7]));
    let (sum53, difference53) = (add(v[5], v[3]), sub(v[5], v[3]));
    let turn = times(add(difference53, difference17), F1_847);
    let o0 = add(sum17, sum53);
    let o1 = sub(add(sub(times(difference53, MINUS_1_613), difference53), turn), o0);
    let o2 = sub(times(sub(sum17, sum53), F1_414), o1);
    let o3 = add(sub(times(difference17, F1_082), turn), o2);
    [add(e0, o0), add(e1, o1), add(e2, o2), sub(e3, o3), add(e3, o3), sub(e2, o2), sub(e1, o1), sub(e0, o0)]
}

#[target_feature(enable = "avx2")]
#[inline]
fn transpose(r: Rows) -> Rows {
    let words = |a, b| (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b));
    let twos = |a, b| (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let fours = |a, b| (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
    let ((a0, a4), (b0, b4)) = (words(r[0], r[1]), words(r[2], r[3]));
    let ((c0, c4), (d0, d4)) = (words(r[4], r[5]), words(r[6], r[7]));
    let ((e0, e2), (f0, f2)) = (twos(a0, b0), twos(c0, d0));
    let ((e4, e6), (f4, f6)) = (twos(a4, b4), twos(c4, d4));
    let ((g0, g1), (g2, g3)) = (fours(e0, f0), fours(e2, f2));
    let ((g4, g5), (g6, g7)) = (fours(e4, f4), fours(e6, f6));
    [g0, g1, g2, g3, g4, g5, g6, g7]
}
