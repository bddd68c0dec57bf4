//! Conversion between channel layouts: grayscale, color and alpha.
use super::layout::Encoding;
use super::options::{GrayRule, Target};
use crate::color::channels::{luma, luma_16};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};

/// Adds an alpha channel to a row: 0 for pixels equal to `key`, the maximum for all others.
pub(super) fn add_alpha<T: Sample>(row: &[T], key: &[T], out: &mut Vec<T>) -> Result<(), OutOfMemory> {
    out.clear();
    memory::reserve(out, row.len() + row.len() / key.len())?;
    for pixel in row.chunks_exact(key.len()) {
        out.extend_from_slice(pixel);
        out.push(if pixel == key { T::default() } else { T::MAX });
    }
    Ok(())
}

/// Converts a row of one to four channels to the target channels.
pub(super) fn convert_channels<T: Sample>(
    row: &[T],
    channels: usize,
    target: Target,
    gray: &GrayConversion,
    out: &mut [T],
) {
    match channels {
        1 => from_gray(row, target, out),
        2 => from_gray_alpha(row, target, out),
        3 => from_rgb(row, target, gray, out),
        _ => from_rgba(row, target, gray, out),
    }
}

fn from_gray<T: Sample>(row: &[T], target: Target, out: &mut [T]) {
    match target {
        Target::Gray => out.copy_from_slice(row),
        Target::GrayAlpha => map_pixels(row, out, |[v]| [v, T::MAX]),
        Target::Rgb | Target::Bgr => map_pixels(row, out, |[v]| [v, v, v]),
        Target::Rgba | Target::Bgra => map_pixels(row, out, |[v]| [v, v, v, T::MAX]),
    }
}

fn from_gray_alpha<T: Sample>(row: &[T], target: Target, out: &mut [T]) {
    match target {
        Target::Gray => map_pixels(row, out, |[v, _]| [v]),
        Target::GrayAlpha => out.copy_from_slice(row),
        Target::Rgb | Target::Bgr => map_pixels(row, out, |[v, _]| [v, v, v]),
        Target::Rgba | Target::Bgra => map_pixels(row, out, |[v, a]| [v, v, v, a]),
    }
}

fn from_rgb<T: Sample>(row: &[T], target: Target, gray: &GrayConversion, out: &mut [T]) {
    match target {
        Target::Gray => map_pixels(row, out, |rgb| [T::to_gray(gray, rgb)]),
        Target::GrayAlpha => map_pixels(row, out, |rgb| [T::to_gray(gray, rgb), T::MAX]),
        Target::Rgb => out.copy_from_slice(row),
        Target::Bgr => map_pixels(row, out, |[r, g, b]| [b, g, r]),
        Target::Rgba => map_pixels(row, out, |[r, g, b]| [r, g, b, T::MAX]),
        Target::Bgra => map_pixels(row, out, |[r, g, b]| [b, g, r, T::MAX]),
    }
}

fn from_rgba<T: Sample>(row: &[T], target: Target, gray: &GrayConversion, out: &mut [T]) {
    match target {
        Target::Gray => map_pixels(row, out, |[r, g, b, _]| [T::to_gray(gray, [r, g, b])]),
        Target::GrayAlpha => map_pixels(row, out, |[r, g, b, a]| [T::to_gray(gray, [r, g, b]), a]),
        Target::Rgb => map_pixels(row, out, |[r, g, b, _]| [r, g, b]),
        Target::Bgr => map_pixels(row, out, |[r, g, b, _]| [b, g, r]),
        Target::Rgba => out.copy_from_slice(row),
        Target::Bgra => map_pixels(row, out, |[r, g, b, a]| [b, g, r, a]),
    }
}

#[inline(always)]
fn map_pixels<T: Sample, const S: usize, const D: usize>(row: &[T], out: &mut [T], pixel: impl Fn([T; S]) -> [T; D]) {
    for (out, &stored) in out.as_chunks_mut::<D>().0.iter_mut().zip(row.as_chunks::<S>().0) {
        *out = pixel(stored);
    }
}

/// libpng's weights for red, green and blue in units of 1/32,768: 0.299 and 0.587 truncated, and the rest for blue.
const LIBPNG_WEIGHTS: [u32; 3] = [9_797, 19_234, 3_737];
/// 1.0 in the fixed-point unit of gamma values (1/100,000).
const ONE: f64 = 100_000.0;
/// Exponents that differ from 1 by at most this much (in units of 1/100,000) are treated as 1 (libpng's
/// PNG_GAMMA_THRESHOLD).
const GAMMA_THRESHOLD: f64 = 5_000.0;

/// A grayscale conversion prepared for one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrayConversion<'a> {
    Pillow,
    Libpng,
    /// libpng's conversion in linear light, for 8-bit samples with a known gamma.
    Linear(&'a Curves),
}

/// Lookup tables from stored to linear samples and back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Curves {
    gamma: u32,
    to_linear: [u8; 256],
    from_linear: [u8; 256],
}

impl Curves {
    /// Builds the tables for a gamma in units of 1/100,000.
    fn new(gamma: u32) -> Self {
        let inverse = reciprocal(gamma.into());
        Self { gamma, to_linear: lookup_table(inverse), from_linear: lookup_table(reciprocal(inverse)) }
    }
}

/// Returns the reciprocal of an exponent, rounded; both are in units of 1/100,000.
fn reciprocal(exponent: f64) -> f64 {
    (ONE * ONE / exponent + 0.5).floor()
}

fn is_significant(exponent: f64) -> bool {
    (exponent - ONE).abs() > GAMMA_THRESHOLD
}

/// Computes `255 (k / 255) ^ (exponent / 100000)`, rounded, for every `k`.
fn lookup_table(exponent: f64) -> [u8; 256] {
    std::array::from_fn(|k| match is_significant(exponent) {
        true => (255.0 * (k as f64 / 255.0).powf(exponent / ONE) + 0.5).floor() as u8,
        false => k as u8,
    })
}

impl<'a> GrayConversion<'a> {
    /// Prepares the conversion for an image. `curves` caches the tables for the next image with the same gamma.
    pub(super) fn new(
        rule: GrayRule,
        encoding: Encoding,
        depth: u8,
        curves: &'a mut Option<Box<Curves>>,
    ) -> Result<Self> {
        if rule == GrayRule::Pillow {
            return Ok(Self::Pillow);
        }
        if encoding.profile {
            return Err(unsupported_gray("an ICC profile"));
        }
        let is_relevant = |gamma: &u32| is_significant((*gamma).into()) || is_significant(reciprocal((*gamma).into()));
        let Some(gamma) = encoding.gamma().filter(is_relevant) else {
            return Ok(Self::Libpng);
        };
        if depth == 16 {
            return Err(unsupported_gray("16-bit samples of a known gamma"));
        }
        if curves.as_ref().is_none_or(|curves| curves.gamma != gamma) {
            *curves = Some(Box::new(Curves::new(gamma)));
        }
        Ok(curves.as_deref().map_or(Self::Libpng, Self::Linear))
    }
}

fn unsupported_gray(found: &str) -> ImageFault {
    let expected = "an image for which libpng's grayscale conversion is implemented";
    ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found)
}

/// Returns the sum of a color's samples with libpng's weights.
fn weighted_sum([r, g, b]: [u32; 3]) -> u32 {
    LIBPNG_WEIGHTS[0] * r + LIBPNG_WEIGHTS[1] * g + LIBPNG_WEIGHTS[2] * b
}

/// A sample of 8 or 16 bits.
pub(super) trait Sample: Copy + Default + PartialEq {
    /// The alpha value of opaque pixels.
    const MAX: Self;

    /// Returns the gray level of a color.
    fn to_gray(gray: &GrayConversion, rgb: [Self; 3]) -> Self;
}

impl Sample for u8 {
    const MAX: Self = u8::MAX;

    #[inline(always)]
    fn to_gray(gray: &GrayConversion, rgb: [Self; 3]) -> Self {
        match gray {
            GrayConversion::Pillow => luma(rgb[0], rgb[1], rgb[2]),
            GrayConversion::Libpng => (weighted_sum(rgb.map(u32::from)) >> 15) as u8,
            GrayConversion::Linear(_) if rgb[0] == rgb[1] && rgb[0] == rgb[2] => rgb[0],
            GrayConversion::Linear(curves) => {
                let linear = rgb.map(|sample| u32::from(curves.to_linear[usize::from(sample)]));
                curves.from_linear[((weighted_sum(linear) + 0x4000) >> 15) as usize]
            }
        }
    }
}

impl Sample for u16 {
    const MAX: Self = u16::MAX;

    #[inline(always)]
    fn to_gray(gray: &GrayConversion, rgb: [Self; 3]) -> Self {
        match gray {
            GrayConversion::Pillow => luma_16(rgb[0], rgb[1], rgb[2]),
            GrayConversion::Libpng | GrayConversion::Linear(_) => {
                ((weighted_sum(rgb.map(u32::from)) + 0x4000) >> 15) as u16
            }
        }
    }
}
