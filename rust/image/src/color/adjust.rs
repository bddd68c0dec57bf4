//! Brightness, contrast and saturation as in Pillow's `ImageEnhance` and in torchvision on Pillow images, and color
//! noise.
//!
//! Each adjustment blends the image with a degenerate image: `degenerate + factor * (value - degenerate)` in float32,
//! truncated to an integer in 0 to 255 (libImaging/Blend.c). Factor 1 changes nothing; factor 0 gives the degenerate
//! image. The last channel of two or four is alpha and is not changed.
use super::channels::luma;
use crate::collate::kernels::to_byte;
use crate::fault::Result;
use crate::geometry::view::{MAX_CHANNELS, bad_argument};

/// Adjusts brightness: blends with black.
pub fn brightness(pixels: &mut [u8], channels: usize, factor: f32) -> Result<()> {
    check_arguments(pixels, channels, factor)?;
    let table: [u8; 256] = std::array::from_fn(|value| blend_values(0, value as u8, factor));
    color_values(pixels, channels)
        .for_each(|pixel| pixel.iter_mut().for_each(|value| *value = table[usize::from(*value)]));
    Ok(())
}

/// Adjusts contrast: blends with the mean luma of the whole image, which is rounded to an integer, halves up.
pub fn contrast(pixels: &mut [u8], channels: usize, factor: f32) -> Result<()> {
    check_arguments(pixels, channels, factor)?;
    let count = (pixels.len() / channels).max(1);
    let sum: u64 = color_values(pixels, channels).map(|pixel| u64::from(pixel_luma(pixel))).sum();
    let mean = (sum as f64 / count as f64 + 0.5) as u8;
    let table: [u8; 256] = std::array::from_fn(|value| blend_values(mean, value as u8, factor));
    color_values(pixels, channels)
        .for_each(|pixel| pixel.iter_mut().for_each(|value| *value = table[usize::from(*value)]));
    Ok(())
}

/// Adjusts saturation: blends every pixel with its luma. Grayscale images are not changed.
pub fn saturation(pixels: &mut [u8], channels: usize, factor: f32) -> Result<()> {
    check_arguments(pixels, channels, factor)?;
    for pixel in color_values(pixels, channels) {
        let luma = pixel_luma(pixel);
        pixel.iter_mut().for_each(|value| *value = blend_values(luma, *value, factor));
    }
    Ok(())
}

fn check_arguments(pixels: &[u8], channels: usize, factor: f32) -> Result<()> {
    if !(1..=MAX_CHANNELS).contains(&channels) || !pixels.len().is_multiple_of(channels) {
        return bad_argument(
            "whole pixels of 1 to 4 channels",
            format!("{} values, {channels} channels", pixels.len()),
        );
    }
    if factor >= 0.0 && factor.is_finite() {
        return Ok(());
    }
    bad_argument("a finite factor of 0 or more", factor.to_string())
}

/// Iterates over the color channels of every pixel, without alpha. An image of one or two channels has one color
/// channel; an image of three or four channels has three.
fn color_values(pixels: &mut [u8], channels: usize) -> impl Iterator<Item = &mut [u8]> {
    let count = if channels < 3 { 1 } else { 3 };
    pixels.chunks_exact_mut(channels).map(move |pixel| &mut pixel[..count])
}

fn pixel_luma(pixel: &[u8]) -> u8 {
    match pixel {
        [red, green, blue] => luma(*red, *green, *blue),
        _ => pixel[0],
    }
}

fn blend_values(degenerate: u8, value: u8, factor: f32) -> u8 {
    let (degenerate, value) = (f32::from(degenerate), f32::from(value));
    (degenerate + factor * (value - degenerate)) as u8
}

/// Adds color noise: adds `offset[channel]` to that channel of every pixel. The sums are rounded to the nearest
/// integer, ties to even, and saturate.
///
/// The caller computes the offsets along the principal components of natural images (A. Krizhevsky, I. Sutskever, G. E.
/// Hinton: ImageNet Classification with Deep Convolutional Neural Networks, 2012, section 4.1).
pub fn add_offset<const CHANNELS: usize>(pixels: &mut [u8], offset: [f32; CHANNELS]) -> Result<()> {
    let found = pixels.len();
    let (colors, rest) = pixels.as_chunks_mut::<CHANNELS>();
    if !rest.is_empty() || offset.iter().any(|value| !value.is_finite()) {
        let expected = format!("whole pixels of {CHANNELS} channels and finite offsets");
        return bad_argument(expected, format!("{found} values, offsets {offset:?}"));
    }
    let tables = offset.map(|offset| std::array::from_fn::<u8, 256, _>(|value| to_byte(value as f32 + offset)));
    for pixel in colors {
        pixel.iter_mut().zip(&tables).for_each(|(value, table)| *value = table[usize::from(*value)]);
    }
    Ok(())
}
