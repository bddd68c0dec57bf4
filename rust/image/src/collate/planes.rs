//! AVX2 code that normalizes three-channel pixels and stores them in three planes of floats, eight pixels at a time.
use super::blend::RowPair;
use std::arch::x86_64::*;

/// Number of pixels that are processed at a time.
const STEP: usize = 8;
/// Number of bytes per load: four pixels of three bytes, and four bytes of neighboring pixels.
const LOAD: usize = 16;

/// Normalizes a row of bytes, `STEP` pixels at a time. Returns the number of pixels processed; fewer than `STEP`
/// remain.
#[target_feature(enable = "avx2")]
pub(super) fn normalize_bytes(row: &[u8], mean: [f32; 3], factor: [f32; 3], output: [&mut [f32]; 3]) -> usize {
    let orders: [__m256i; 3] = [channel_shuffle(0), channel_shuffle(1), channel_shuffle(2)];
    let [first, second, third] = output.map(|plane| plane.as_chunks_mut::<STEP>().0);
    let mut done = 0;
    let (steps, _) = row.as_chunks::<{ 3 * STEP }>();
    for (pixels, ((first, second), third)) in steps.iter().zip(first.iter_mut().zip(second).zip(third)) {
        let pixels = load_eight_pixels(pixels);
        for (channel, to) in [first, second, third].into_iter().enumerate() {
            let values = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, orders[channel]));
            *to = bytemuck::cast(normalize_lanes(values, mean[channel], factor[channel]));
        }
        done += STEP;
    }
    done
}

/// Interpolates between two rows of floats and normalizes the result, `STEP` pixels at a time. Returns the number of
/// pixels processed; fewer than `STEP` remain.
#[target_feature(enable = "avx2")]
pub(super) fn interpolate_and_normalize(
    pair: RowPair,
    mean: [f32; 3],
    factor: [f32; 3],
    output: [&mut [f32]; 3],
) -> usize {
    let (upper, lower) = (pair.upper.as_chunks::<{ 3 * STEP }>().0, pair.lower.as_chunks::<{ 3 * STEP }>().0);
    let [first, second, third] = output.map(|plane| plane.as_chunks_mut::<STEP>().0);
    let weight = _mm256_set1_ps(pair.weight);
    let mut done = 0;
    for ((upper, lower), ((first, second), third)) in
        upper.iter().zip(lower).zip(first.iter_mut().zip(second).zip(third))
    {
        let (upper, lower) = (upper.as_chunks::<STEP>().0, lower.as_chunks::<STEP>().0);
        let mut vectors = [_mm256_setzero_ps(); 3];
        for ((vector, upper), lower) in vectors.iter_mut().zip(upper).zip(lower) {
            let (upper, lower): (__m256, __m256) = (bytemuck::cast(*upper), bytemuck::cast(*lower));
            *vector = _mm256_add_ps(upper, _mm256_mul_ps(_mm256_sub_ps(lower, upper), weight));
        }
        let [a, b, c] = vectors;
        // The values of a channel are in different lanes of the three vectors, so blends collect all eight of them.
        let reds = _mm256_blend_ps::<0b0010_0100>(_mm256_blend_ps::<0b1001_0010>(a, b), c);
        let greens = _mm256_blend_ps::<0b0100_1001>(_mm256_blend_ps::<0b0010_0100>(a, b), c);
        let blues = _mm256_blend_ps::<0b1001_0010>(_mm256_blend_ps::<0b0100_1001>(a, b), c);
        let reds = _mm256_permutevar8x32_ps(reds, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
        let greens = _mm256_permutevar8x32_ps(greens, _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6));
        let blues = _mm256_permutevar8x32_ps(blues, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
        *first = bytemuck::cast(normalize_lanes(reds, mean[0], factor[0]));
        *second = bytemuck::cast(normalize_lanes(greens, mean[1], factor[1]));
        *third = bytemuck::cast(normalize_lanes(blues, mean[2], factor[2]));
        done += STEP;
    }
    done
}

#[target_feature(enable = "avx2")]
#[inline]
fn normalize_lanes(values: __m256, mean: f32, factor: f32) -> __m256 {
    _mm256_mul_ps(_mm256_sub_ps(values, _mm256_set1_ps(mean)), _mm256_set1_ps(factor))
}

/// Loads eight pixels. The lower half of the vector starts with the first four pixels; the upper half ends with the
/// last four.
#[target_feature(enable = "avx2")]
#[inline]
fn load_eight_pixels(pixels: &[u8; 3 * STEP]) -> __m256i {
    let halves: [[u8; LOAD]; 2] = [*pixels.first_chunk().expect("a load"), *pixels.last_chunk().expect("a load")];
    bytemuck::cast(halves)
}

/// Returns the shuffle that moves the bytes of one channel to 32-bit lanes.
fn channel_shuffle(channel: usize) -> __m256i {
    // The upper half of the vector begins with four bytes that precede its first pixel.
    let before = |lane: usize| if lane < LOAD { 0 } else { 3 * STEP / 2 - (3 * STEP - LOAD) };
    let bytes: [u8; 32] =
        std::array::from_fn(
            |lane| {
                if lane % 4 == 0 { (before(lane) + lane % LOAD / 4 * 3 + channel) as u8 } else { 0x80 }
            },
        );
    bytemuck::cast(bytes)
}
