//! YCbCr to RGB conversion and interleaving of planes, 32 pixels at a time.
//!
//! The factors are split so that they fit into 16 bits: 1.402 = 1 + 0.402 for red and 1.772 = 2 - 0.228 for blue. For
//! green, 1 is added to the factor of Cr, and Cr is subtracted again. The product `x * f / 65536`, rounded to nearest,
//! is computed as `(high half of 2 x * f + 1) / 2`.
use super::super::color::{self, PixelFormat, to_fixed_point};
use bytemuck::cast;
use std::arch::x86_64::*;

const STEP: usize = 32;

type Samples = [u8; STEP];
type Pixels = [u8; 3 * STEP];

/// See [`super::super::Kernel::ycc_to_rgb`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn ycc_to_rgb(planes: [&[u8]; 3], order: PixelFormat, out: &mut [u8]) {
    if planes[0].len() < STEP {
        return color::ycc_to_rgb(planes, order, out);
    }
    if order == PixelFormat::Bgr {
        for_each_chunk(planes, out, |samples, out| {
            let [red, green, blue] = ycc_to_rgb_32(samples.map(|samples| cast(*samples)));
            store_interleaved([blue, green, red], out);
        });
    } else {
        for_each_chunk(planes, out, |samples, out| {
            store_interleaved(ycc_to_rgb_32(samples.map(|samples| cast(*samples))), out)
        });
    }
}

/// See [`super::super::Kernel::interleave`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn interleave(planes: [&[u8]; 3], out: &mut [u8]) {
    if planes[0].len() < STEP {
        return color::interleave(planes, out);
    }
    for_each_chunk(planes, out, |samples, out| store_interleaved(samples.map(|samples| cast(*samples)), out));
}

/// Calls `step` for chunks of [`STEP`] pixels. The last chunk overlaps the previous one if the width is not a multiple
/// of [`STEP`].
#[inline(always)]
fn for_each_chunk([a, b, c]: [&[u8]; 3], out: &mut [u8], step: impl Fn([&Samples; 3], &mut Pixels)) {
    let out = &mut out[..3 * a.len()];
    let pieces = a.as_chunks().0.iter().zip(b.as_chunks().0).zip(c.as_chunks().0);
    for (((a, b), c), out) in pieces.zip(out.as_chunks_mut().0) {
        step([a, b, c], out);
    }
    if let ([Some(a), Some(b), Some(c)], Some(out)) = ([a, b, c].map(|row| row.last_chunk()), out.last_chunk_mut()) {
        step([a, b, c], out);
    }
}

/// Converts 32 pixels to red, green and blue.
#[target_feature(enable = "avx2")]
#[inline]
fn ycc_to_rgb_32([y, cb, cr]: [__m256i; 3]) -> [__m256i; 3] {
    let zero = _mm256_setzero_si256();
    let low = ycc_to_rgb_16([y, cb, cr].map(|samples| _mm256_unpacklo_epi8(samples, zero)));
    let high = ycc_to_rgb_16([y, cb, cr].map(|samples| _mm256_unpackhi_epi8(samples, zero)));
    let pack = |channel: usize| _mm256_packus_epi16(low[channel], high[channel]);
    [pack(0), pack(1), pack(2)]
}

/// Converts 16 pixels, in lanes of 16 bits, to red, green and blue.
#[target_feature(enable = "avx2")]
#[inline]
fn ycc_to_rgb_16([y, cb, cr]: [__m256i; 3]) -> [__m256i; 3] {
    const RED: i16 = (to_fixed_point(1.402) - (1 << 16)) as i16;
    const BLUE: i16 = (to_fixed_point(1.772) - (2 << 16)) as i16;
    const GREEN: [i16; 2] = [-to_fixed_point(0.34414) as i16, ((1 << 16) - to_fixed_point(0.71414)) as i16];
    let add = |a, b| _mm256_add_epi16(a, b);
    let middle = _mm256_set1_epi16(128);
    let (cb, cr) = (_mm256_sub_epi16(cb, middle), _mm256_sub_epi16(cr, middle));
    let (cb2, cr2) = (add(cb, cb), add(cr, cr));
    let red = add(add(y, cr), rounded_product(cr2, RED));
    let blue = add(add(y, cb2), rounded_product(cb2, BLUE));
    let half = _mm256_set1_epi32(1 << 15);
    let factors = super::idct::set_pairs(GREEN);
    let green = |pairs| _mm256_srai_epi32::<16>(_mm256_add_epi32(_mm256_madd_epi16(pairs, factors), half));
    let (left, right) = (green(_mm256_unpacklo_epi16(cb, cr)), green(_mm256_unpackhi_epi16(cb, cr)));
    let green = add(_mm256_sub_epi16(y, cr), _mm256_packs_epi32(left, right));
    [red, green, blue]
}

/// Returns `value / 2 * factor / 65536`, rounded; `value` is even.
#[target_feature(enable = "avx2")]
#[inline]
fn rounded_product(value: __m256i, factor: i16) -> __m256i {
    let product = _mm256_mulhi_epi16(value, _mm256_set1_epi16(factor));
    _mm256_srai_epi16::<1>(_mm256_add_epi16(product, _mm256_set1_epi16(1)))
}

/// Returns the shuffle indices that put the samples of `channel` into one third of 16 interleaved pixels: 16 of their
/// 48 bytes.
const fn shuffle_indices(channel: usize, third: usize) -> [u8; 32] {
    let mut shuffle_indices = [0x80; 32];
    let mut i = 0;
    while i < 32 {
        let byte = 16 * third + i % 16;
        if byte % 3 == channel {
            shuffle_indices[i] = (byte / 3) as u8;
        }
        i += 1;
    }
    shuffle_indices
}

const SHUFFLES: [[[u8; 32]; 3]; 3] = [
    [shuffle_indices(0, 0), shuffle_indices(1, 0), shuffle_indices(2, 0)],
    [shuffle_indices(0, 1), shuffle_indices(1, 1), shuffle_indices(2, 1)],
    [shuffle_indices(0, 2), shuffle_indices(1, 2), shuffle_indices(2, 2)],
];

/// Writes 32 interleaved pixels of three bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn store_interleaved(channels: [__m256i; 3], out: &mut Pixels) {
    for (third, shuffle_indices) in SHUFFLES.iter().enumerate() {
        let put = |channel: usize| _mm256_shuffle_epi8(channels[channel], cast(shuffle_indices[channel]));
        let bytes = _mm256_or_si256(_mm256_or_si256(put(0), put(1)), put(2));
        let [left, right] = cast::<_, [[u8; 16]; 2]>(bytes);
        out[16 * third..16 * third + 16].copy_from_slice(&left);
        out[48 + 16 * third..64 + 16 * third].copy_from_slice(&right);
    }
}
