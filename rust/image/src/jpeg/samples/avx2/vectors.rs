//! Moving blocks and rows between memory and registers, and rearranging them there.
//!
//! A block in *paired* form is four registers, each with two rows: the left halves of both rows in the lower 128 bits, the
//! right halves in the upper. Unpacking two such registers then interleaves whole rows, and packing results of 32 bits
//! yields the same form again.
use super::super::transform::Block;
use bytemuck::cast;
use std::arch::x86_64::*;

pub(super) type Paired = [__m256i; 4];

/// Rows `2 * pair` and `2 * pair + 1`, one after the other.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_pair(block: &Block, pair: usize) -> __m256i {
    let rows: &[[i16; 16]; 4] = bytemuck::cast_ref(block);
    cast(rows[pair])
}

/// Row `row`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_row(block: &Block, row: usize) -> __m128i {
    let rows: &[[i16; 8]; 8] = bytemuck::cast_ref(block);
    cast(rows[row])
}

/// Two values side by side in every 32 bits.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn two(values: [i16; 2]) -> __m256i {
    _mm256_set1_epi32(cast::<[i16; 2], i32>(values))
}

/// Exchanges rows and columns in the paired form.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose(p: Paired) -> Paired {
    let (top_left, top_right) = upper_rows(p[0], p[1]);
    let (bottom_left, bottom_right) = upper_rows(p[2], p[3]);
    [
        _mm256_permute2x128_si256::<0x20>(top_left, bottom_left),
        _mm256_permute2x128_si256::<0x20>(top_right, bottom_right),
        _mm256_permute2x128_si256::<0x31>(top_left, bottom_left),
        _mm256_permute2x128_si256::<0x31>(top_right, bottom_right),
    ]
}

/// Transposes the two 4 x 4 blocks of four rows: columns 0, 1 and 4, 5 in the first result, 2, 3 and 6, 7 in the second.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn upper_rows(rows01: __m256i, rows23: __m256i) -> (__m256i, __m256i) {
    let interleave = _mm256_setr_epi8(
        0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
    );
    let (rows01, rows23) = (_mm256_shuffle_epi8(rows01, interleave), _mm256_shuffle_epi8(rows23, interleave));
    (_mm256_unpacklo_epi32(rows01, rows23), _mm256_unpackhi_epi32(rows01, rows23))
}

/// Writes a block whose columns stand where the paired form has rows: narrowed to bytes around 128, and transposed.
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

/// Writes eight rows of eight samples, given in twos.
#[inline(always)]
pub(super) fn store_rows(rows: [[u8; 16]; 4], out: &mut [u8], stride: usize) {
    let out = &mut out[..7 * stride + 8];
    for (i, two) in rows.iter().enumerate() {
        let start = 2 * i * stride;
        out[start..start + 8].copy_from_slice(&two[..8]);
        out[start + stride..start + stride + 8].copy_from_slice(&two[8..]);
    }
}
