//! Pixels of three channels to three planes of floats with AVX2, eight pixels at a time.
use super::blend::Pair;
use std::arch::x86_64::*;

/// Pixels of a step.
const STEP: usize = 8;
/// Bytes of one load: four pixels, and some of the others.
const LOAD: usize = 16;

/// A row of bytes normalized, as far as whole steps go; how many pixels that are.
#[target_feature(enable = "avx2")]
pub(super) fn bytes(row: &[u8], mean: [f32; 3], factor: [f32; 3], output: [&mut [f32]; 3]) -> usize {
    let orders: [__m256i; 3] = [order(0), order(1), order(2)];
    let [first, second, third] = output.map(|plane| plane.as_chunks_mut::<STEP>().0);
    let mut done = 0;
    let (steps, _) = row.as_chunks::<{ 3 * STEP }>();
    for (pixels, ((first, second), third)) in steps.iter().zip(first.iter_mut().zip(second).zip(third)) {
        let pixels = load(pixels);
        for (channel, to) in [first, second, third].into_iter().enumerate() {
            let values = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, orders[channel]));
            *to = bytemuck::cast(normalized(values, mean[channel], factor[channel]));
        }
        done += STEP;
    }
    done
}

/// Rows of floats, the wanted one lying between them, normalized, as far as whole steps go; how many pixels that are.
#[target_feature(enable = "avx2")]
pub(super) fn floats(pair: Pair, mean: [f32; 3], factor: [f32; 3], output: [&mut [f32]; 3]) -> usize {
    let (upper, lower) = (pair.upper.as_chunks::<{ 3 * STEP }>().0, pair.lower.as_chunks::<{ 3 * STEP }>().0);
    let [first, second, third] = output.map(|plane| plane.as_chunks_mut::<STEP>().0);
    let weight = _mm256_set1_ps(pair.weight);
    let mut done = 0;
    for ((upper, lower), ((first, second), third)) in
        upper.iter().zip(lower).zip(first.iter_mut().zip(second).zip(third))
    {
        let (upper, lower) = (upper.as_chunks::<STEP>().0, lower.as_chunks::<STEP>().0);
        let mut parts = [_mm256_setzero_ps(); 3];
        for ((part, upper), lower) in parts.iter_mut().zip(upper).zip(lower) {
            let (upper, lower): (__m256, __m256) = (bytemuck::cast(*upper), bytemuck::cast(*lower));
            *part = _mm256_add_ps(upper, _mm256_mul_ps(_mm256_sub_ps(lower, upper), weight));
        }
        let [a, b, c] = parts;
        // Of every channel, each part has what the other parts have not, by place.
        let reds = _mm256_blend_ps::<0b0010_0100>(_mm256_blend_ps::<0b1001_0010>(a, b), c);
        let greens = _mm256_blend_ps::<0b0100_1001>(_mm256_blend_ps::<0b0010_0100>(a, b), c);
        let blues = _mm256_blend_ps::<0b1001_0010>(_mm256_blend_ps::<0b0100_1001>(a, b), c);
        let reds = _mm256_permutevar8x32_ps(reds, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
        let greens = _mm256_permutevar8x32_ps(greens, _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6));
        let blues = _mm256_permutevar8x32_ps(blues, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
        *first = bytemuck::cast(normalized(reds, mean[0], factor[0]));
        *second = bytemuck::cast(normalized(greens, mean[1], factor[1]));
        *third = bytemuck::cast(normalized(blues, mean[2], factor[2]));
        done += STEP;
    }
    done
}

#[target_feature(enable = "avx2")]
#[inline]
fn normalized(values: __m256, mean: f32, factor: f32) -> __m256 {
    _mm256_mul_ps(_mm256_sub_ps(values, _mm256_set1_ps(mean)), _mm256_set1_ps(factor))
}

/// Eight pixels: four in the lower half, four in the upper with what goes before them.
#[target_feature(enable = "avx2")]
#[inline]
fn load(pixels: &[u8; 3 * STEP]) -> __m256i {
    let halves: [[u8; LOAD]; 2] = [*pixels.first_chunk().expect("a load"), *pixels.last_chunk().expect("a load")];
    bytemuck::cast(halves)
}

/// The shuffle that makes 32-bit numbers of one channel.
fn order(channel: usize) -> __m256i {
    // The upper half begins with what of the lower pixels shares its load.
    let before = |place: usize| if place < LOAD { 0 } else { 3 * STEP / 2 - (3 * STEP - LOAD) };
    let bytes: [u8; 32] =
        std::array::from_fn(
            |place| {
                if place % 4 == 0 { (before(place) + place % LOAD / 4 * 3 + channel) as u8 } else { 0x80 }
            },
        );
    bytemuck::cast(bytes)
}
