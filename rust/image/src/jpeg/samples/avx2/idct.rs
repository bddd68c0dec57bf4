//! AVX2 inverse DCTs, with their loads, transpositions and stores.
//!
//! A block in *paired* form consists of four registers with two rows each: the left halves of both rows in the lower
//! 128 bits, the right halves in the upper 128 bits. Unpacking two such registers interleaves whole rows, and packing
//! 32-bit results yields the same form again.
use crate::jpeg::samples::idct::{self, *};
use bytemuck::cast;
use std::arch::x86_64::*;

pub(super) type Paired = [__m256i; 4];

/// Loads rows `2 * pair` and `2 * pair + 1`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_pair(block: &Block, pair: usize) -> __m256i {
    let rows: &[[i16; 16]; 4] = bytemuck::cast_ref(block);
    cast(rows[pair])
}

/// Loads row `row`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_row(block: &Block, row: usize) -> __m128i {
    let rows: &[[i16; 8]; 8] = bytemuck::cast_ref(block);
    cast(rows[row])
}

/// Returns a vector that holds a pair of 16-bit values in every 32-bit lane.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn set_pairs(values: [i16; 2]) -> __m256i {
    _mm256_set1_epi32(cast::<[i16; 2], i32>(values))
}

/// Transposes a block in paired form.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose_paired(p: Paired) -> Paired {
    let (top_left, top_right) = transpose_four_rows(p[0], p[1]);
    let (bottom_left, bottom_right) = transpose_four_rows(p[2], p[3]);
    [
        _mm256_permute2x128_si256::<0x20>(top_left, bottom_left),
        _mm256_permute2x128_si256::<0x20>(top_right, bottom_right),
        _mm256_permute2x128_si256::<0x31>(top_left, bottom_left),
        _mm256_permute2x128_si256::<0x31>(top_right, bottom_right),
    ]
}

/// Transposes the two 4 x 4 blocks of four rows. The first result has columns 0, 1 and 4, 5; the second has 2, 3 and 6,
/// 7.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose_four_rows(rows01: __m256i, rows23: __m256i) -> (__m256i, __m256i) {
    let interleave = _mm256_setr_epi8(
        0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
    );
    let (rows01, rows23) = (_mm256_shuffle_epi8(rows01, interleave), _mm256_shuffle_epi8(rows23, interleave));
    (_mm256_unpacklo_epi32(rows01, rows23), _mm256_unpackhi_epi32(rows01, rows23))
}

/// Writes a block in paired form that holds columns instead of rows: saturates to bytes, adds 128, and transposes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store_columns(columns: Paired, out: &mut [u8], stride: usize) {
    let gather = _mm256_setr_epi8(
        0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
    );
    let middle = _mm256_set1_epi8(-128);
    let left = _mm256_shuffle_epi8(_mm256_packs_epi16(columns[0], columns[1]), gather);
    let right = _mm256_shuffle_epi8(_mm256_packs_epi16(columns[2], columns[3]), gather);
    let rows0145 = _mm256_xor_si256(_mm256_unpacklo_epi32(left, right), middle);
    let rows2367 = _mm256_xor_si256(_mm256_unpackhi_epi32(left, right), middle);
    let [rows01, rows45] = cast::<_, [[u8; 16]; 2]>(rows0145);
    let [rows23, rows67] = cast::<_, [[u8; 16]; 2]>(rows2367);
    store_rows([rows01, rows23, rows45, rows67], out, stride);
}

/// Writes eight rows of eight samples; each array holds two rows.
#[inline(always)]
pub(super) fn store_rows(rows: [[u8; 16]; 4], out: &mut [u8], stride: usize) {
    let out = &mut out[..7 * stride + 8];
    for (i, two) in rows.iter().enumerate() {
        let start = 2 * i * stride;
        out[start..start + 8].copy_from_slice(&two[..8]);
        out[start + stride..start + stride + 8].copy_from_slice(&two[8..]);
    }
}

// The accurate inverse DCT on eight columns or rows at a time.

/// See [`super::super::Kernel::idct_islow`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn idct_islow(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(islow_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let rows = [load(0), load(1), load(2), load(3)];
    if exceeds_14_bits(rows[0]) {
        return islow_fallback(block, last, multipliers, out, stride);
    }
    let paired = rows.map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let columns = transpose_paired(islow_pass::<{ CONST_BITS - PASS1_BITS }>(paired));
    store_columns(islow_pass::<{ CONST_BITS + PASS1_BITS + 3 }>(columns), out, stride);
}

/// Returns whether a value in the first row exceeds 14 bits. If all other rows are zero, the portable code shifts such
/// values in 16 bits, which `islow_pass` does not reproduce.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn exceeds_14_bits(rows: __m256i) -> bool {
    let moved = _mm_add_epi16(_mm256_castsi256_si128(rows), _mm_set1_epi16(1 << 13));
    _mm_testz_si128(moved, _mm_set1_epi16(0b11 << 14)) == 0
}

#[cold]
fn islow_fallback(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    idct::idct_islow(block, last, multipliers, out, stride);
}

/// Transforms along the rows. Results are shifted right by `SHIFT`, rounded, and saturate to 16 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn islow_pass<const SHIFT: i32>(p: Paired) -> Paired {
    let dot = |pair: __m256i, factors| _mm256_madd_epi16(pair, set_pairs(factors));
    let swapped = |factors: [i16; 2]| [factors[1], factors[0]];
    let (sums, z37) = (_mm256_add_epi16(p[0], p[2]), _mm256_add_epi16(p[1], p[3]));
    let (sum, difference) = (widen_even::<SHIFT>(sums), widen_even::<SHIFT>(_mm256_sub_epi16(p[0], p[2])));
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
    let (r0, r7) = butterfly::<SHIFT>(_mm256_add_epi32(sum, e2), o0);
    let (r1, r6) = butterfly::<SHIFT>(_mm256_add_epi32(difference, e6), o1);
    let (r2, r5) = butterfly::<SHIFT>(_mm256_sub_epi32(difference, e6), o2);
    let (r3, r4) = butterfly::<SHIFT>(_mm256_sub_epi32(sum, e2), o3);
    [_mm256_packs_epi32(r0, r1), _mm256_packs_epi32(r2, r3), _mm256_packs_epi32(r4, r5), _mm256_packs_epi32(r6, r7)]
}

/// Widens the even row of a pair to 32 bits, shifts it to the fixed-point scale of the products, and adds the rounding
/// term for the final shift by `SHIFT`.
#[target_feature(enable = "avx2")]
#[inline]
fn widen_even<const SHIFT: i32>(pair: __m256i) -> __m256i {
    let upper = _mm256_unpacklo_epi16(_mm256_setzero_si256(), pair);
    _mm256_add_epi32(_mm256_srai_epi32::<{ 16 - CONST_BITS }>(upper), _mm256_set1_epi32(1 << (SHIFT - 1)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn butterfly<const SHIFT: i32>(even: __m256i, odd: __m256i) -> (__m256i, __m256i) {
    (_mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even, odd)), _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even, odd)))
}

// The inverse DCT to 4 x 4 samples: eight columns, then four rows at a time.

/// See [`super::super::Kernel::idct_4x4`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn idct_4x4(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(islow_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 4, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let rows = [load(0), load(1), load(2), load(3)];
    if exceeds_14_bits(rows[0]) {
        return half_fallback(block, last, multipliers, out, stride);
    }
    let p = rows.map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let (v13, v57) = (_mm256_unpackhi_epi16(p[0], p[1]), _mm256_unpackhi_epi16(p[2], p[3]));
    let [r0, r1, r2, r3] =
        half_pass::<{ CONST_BITS - PASS1_BITS + 1 }>(p[0], _mm256_unpacklo_epi16(p[1], p[3]), v13, v57);
    let (c0145, c2367) = transpose_four_rows(_mm256_packs_epi32(r0, r1), _mm256_packs_epi32(r2, r3));
    store_half(half_second_pass(c0145, c2367), out, stride);
}

#[cold]
fn half_fallback(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    idct::idct_4x4(block, last, multipliers, out, stride);
}

/// Performs the second pass of the transform to 4 x 4 samples. The lower halves of the results hold four columns of
/// four samples.
#[target_feature(enable = "avx2")]
#[inline]
fn half_second_pass(c0145: __m256i, c2367: __m256i) -> [__m256i; 4] {
    let lower = |columns| _mm256_permute4x64_epi64::<0b11_01_01_00>(columns);
    let upper = |columns| _mm256_permute4x64_epi64::<0b11_11_11_10>(columns);
    let (c01, c45, c23, c67) = (lower(c0145), upper(c0145), lower(c2367), upper(c2367));
    let (v13, v57) = (_mm256_unpackhi_epi16(c01, c23), _mm256_unpackhi_epi16(c45, c67));
    half_pass::<{ CONST_BITS + PASS1_BITS + 4 }>(c01, _mm256_unpacklo_epi16(c23, c67), v13, v57)
}

/// Computes four rows from the even row of `v0` and from the interleaved rows of the other arguments. Results are
/// shifted right by `SHIFT` and rounded.
#[target_feature(enable = "avx2")]
#[inline]
fn half_pass<const SHIFT: i32>(v0: __m256i, v26: __m256i, v13: __m256i, v57: __m256i) -> [__m256i; 4] {
    let dot = |pair: __m256i, factors| _mm256_madd_epi16(pair, set_pairs(factors));
    let first = _mm256_srai_epi32::<{ 16 - CONST_BITS - 1 }>(_mm256_unpacklo_epi16(_mm256_setzero_si256(), v0));
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

/// Writes four columns as rows: saturates to bytes and adds 128.
#[target_feature(enable = "avx2")]
#[inline]
fn store_half(columns: [__m256i; 4], out: &mut [u8], stride: usize) {
    let [c0, c1, c2, c3] = columns.map(|column| _mm256_castsi256_si128(column));
    let bytes = _mm_packs_epi16(_mm_packs_epi32(c0, c1), _mm_packs_epi32(c2, c3));
    let gather = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let rows = _mm_xor_si128(_mm_shuffle_epi8(bytes, gather), _mm_set1_epi8(-128));
    for (i, row) in cast::<_, [[u8; 4]; 4]>(rows).iter().enumerate() {
        out[i * stride..i * stride + 4].copy_from_slice(row);
    }
}

// The inverse DCT to 2 x 2 samples: eight columns, then two rows at a time.

/// See [`super::super::Kernel::idct_2x2`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn idct_2x2(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(quarter_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 2, out, stride);
    }
    let load = |pair| _mm256_mullo_epi16(load_pair(block, pair), load_pair(&multipliers.0, pair));
    let p = [load(0), load(1), load(2), load(3)].map(|rows| _mm256_permute4x64_epi64::<0b11_01_10_00>(rows));
    let first = _mm256_srai_epi32::<{ 16 - CONST_BITS - 2 }>(_mm256_unpacklo_epi16(_mm256_setzero_si256(), p[0]));
    let v13 = _mm256_madd_epi16(_mm256_unpackhi_epi16(p[0], p[1]), set_pairs([QUARTER[0], QUARTER[1]]));
    let v57 = _mm256_madd_epi16(_mm256_unpackhi_epi16(p[2], p[3]), set_pairs([QUARTER[2], QUARTER[3]]));
    let odd = _mm256_add_epi32(v13, v57);
    let shift = |sum| {
        let half = _mm256_set1_epi32(1 << (CONST_BITS - PASS1_BITS + 1));
        _mm256_srai_epi32::<{ CONST_BITS - PASS1_BITS + 2 }>(_mm256_add_epi32(sum, half))
    };
    let samples = quarter_second_pass(shift(_mm256_add_epi32(first, odd)), shift(_mm256_sub_epi32(first, odd)));
    out[..2].copy_from_slice(&samples[..2]);
    out[stride..stride + 2].copy_from_slice(&samples[2..]);
}

/// Performs the second pass of the transform to 2 x 2 samples. Returns the four samples.
#[target_feature(enable = "avx2")]
#[inline]
fn quarter_second_pass(upper: __m256i, lower: __m256i) -> [u8; 4] {
    let odd_columns = _mm256_setr_epi8(
        2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1,
        -1, -1,
    );
    let odd = _mm256_shuffle_epi8(_mm256_packs_epi32(upper, lower), odd_columns);
    let (v13, v57) = (_mm256_castsi256_si128(odd), _mm256_extracti128_si256::<1>(odd));
    let factors = |pair| _mm256_castsi256_si128(set_pairs(pair));
    let v13 = _mm_madd_epi16(v13, factors([QUARTER[0], QUARTER[1]]));
    let v57 = _mm_madd_epi16(v57, factors([QUARTER[2], QUARTER[3]]));
    let odd = _mm_add_epi32(v13, v57);
    let first = _mm_unpacklo_epi32(_mm256_castsi256_si128(upper), _mm256_castsi256_si128(lower));
    let half = _mm_set1_epi32(1 << (CONST_BITS + PASS1_BITS + 4));
    let first = _mm_add_epi32(_mm_slli_epi32::<{ CONST_BITS + 2 }>(first), half);
    let sums = _mm_unpacklo_epi32(_mm_add_epi32(first, odd), _mm_sub_epi32(first, odd));
    let sums = _mm_srai_epi32::<{ CONST_BITS + PASS1_BITS + 5 }>(sums);
    let words = _mm_packs_epi32(sums, sums);
    let bytes = _mm_xor_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(-128));
    cast::<i32, [u8; 4]>(_mm_cvtsi128_si32(bytes))
}

// The fast inverse DCT on eight columns or rows at a time, in 16 bits.

type Rows = [__m128i; 8];

/// See [`super::super::Kernel::idct_ifast`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn idct_ifast(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(ifast_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let rows = [0, 1, 2, 3, 4, 5, 6, 7];
    let rows = rows.map(|row| _mm_mullo_epi16(load_row(block, row), load_row(&multipliers.0, row)));
    let columns = ifast_pass(transpose_rows(ifast_pass(rows))).map(|column| _mm_srai_epi16::<5>(column));
    let rows = transpose_rows(columns);
    let middle = _mm_set1_epi8(-128);
    let pair = |a, b| cast::<__m128i, [u8; 16]>(_mm_xor_si128(_mm_packs_epi16(a, b), middle));
    let samples = [pair(rows[0], rows[1]), pair(rows[2], rows[3]), pair(rows[4], rows[5]), pair(rows[6], rows[7])];
    store_rows(samples, out, stride);
}

/// Returns the integer part of `value * factor`, whose factor has 8 fraction bits. `value` may use 14 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply_fixed(value: __m128i, factor: i16) -> __m128i {
    _mm_mulhi_epi16(_mm_slli_epi16::<2>(value), _mm_set1_epi16(factor << 6))
}

#[target_feature(enable = "avx2")]
#[inline]
fn ifast_pass(v: Rows) -> Rows {
    let add = |a, b| _mm_add_epi16(a, b);
    let sub = |a, b| _mm_sub_epi16(a, b);
    let (sum04, difference04) = (add(v[0], v[4]), sub(v[0], v[4]));
    let sum26 = add(v[2], v[6]);
    let difference26 = sub(multiply_fixed(sub(v[2], v[6]), F1_414), sum26);
    let (e0, e1) = (add(sum04, sum26), add(difference04, difference26));
    let (e2, e3) = (sub(difference04, difference26), sub(sum04, sum26));
    let (sum17, difference17) = (add(v[1], v[7]), sub(v[1], v[7]));
    let (sum53, difference53) = (add(v[5], v[3]), sub(v[5], v[3]));
    let z5 = multiply_fixed(add(difference53, difference17), F1_847);
    let o0 = add(sum17, sum53);
    let o1 = sub(add(sub(multiply_fixed(difference53, MINUS_1_613), difference53), z5), o0);
    let o2 = sub(multiply_fixed(sub(sum17, sum53), F1_414), o1);
    let o3 = add(sub(multiply_fixed(difference17, F1_082), z5), o2);
    [add(e0, o0), add(e1, o1), add(e2, o2), sub(e3, o3), add(e3, o3), sub(e2, o2), sub(e1, o1), sub(e0, o0)]
}

#[target_feature(enable = "avx2")]
#[inline]
fn transpose_rows(r: Rows) -> Rows {
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
