//! `tf.image.resize` of TensorFlow 2 (2.21; kernels/image/): float32 results, half-pixel centers.
//!
//! All methods are bit-exact with TensorFlow on x86-64, except those with transcendental functions (Lanczos, Gaussian),
//! whose last bits depend on the sine and exponential of the C library.
mod area;
mod cubic;
mod horizontal;
mod scale;

use super::two_tap::TwoTap;
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{View, count_values};
use crate::memory;
use crate::pixels::Size;

/// `tf.image.ResizeMethod`, except nearest neighbor, which does not produce floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `BILINEAR`
    Bilinear,
    /// `BICUBIC`
    Bicubic,
    /// `AREA`, which has no antialiasing.
    Area,
    /// `LANCZOS3`
    Lanczos3,
    /// `LANCZOS5`
    Lanczos5,
    /// `GAUSSIAN`
    Gaussian,
    /// `MITCHELLCUBIC`
    Mitchell,
}

/// Resizes `source` to `size`.
pub(crate) fn resize<T: PixelType>(source: View<T>, size: Size, method: Method, antialias: bool) -> Result<Vec<f32>> {
    let mut output = Vec::new();
    append_resized(source, size, method, antialias, &mut output)?;
    Ok(output)
}

/// Appends `source` resized to `size` to `output`.
pub(crate) fn append_resized<T: PixelType>(
    source: View<T>,
    size: Size,
    method: Method,
    antialias: bool,
    output: &mut Vec<f32>,
) -> Result<()> {
    // The functions below append without further allocations.
    memory::reserve(output, count_values(size, source.channels())?)?;
    count_values(Size { width: source.size().width, height: size.height }, source.channels())?;
    match method {
        Method::Area => area::append_resized(source, size, output)?,
        Method::Bicubic if !antialias => cubic::append_resized(source, size, output)?,
        Method::Bilinear if !antialias => TwoTap::new(source, size, false)?.append_rows(output),
        _ => scale::append_resized(source, size, method, antialias, output)?,
    }
    Ok(())
}
