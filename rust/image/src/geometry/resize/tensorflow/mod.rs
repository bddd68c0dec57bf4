//! `tf.image.resize` of TensorFlow 2 (2.21; kernels/image/): float32 results, half-pixel centers.
//!
//! All methods equal TensorFlow on x86-64 bit for bit but those with transcendental curves (Lanczos, Gaussian), whose last
//! bits depend on the C library's sine and exponential.
mod across;
mod area;
mod cubic;
mod nearest;
mod scale;

use super::two_tap::TwoTap;
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{View, count_values};
use crate::pixels::Size;
pub(crate) use nearest::nearest;

/// `tf.image.ResizeMethod`, but for nearest neighbors, which are no floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `BILINEAR`
    Bilinear,
    /// `BICUBIC`
    Bicubic,
    /// `AREA`, which takes no antialiasing.
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

/// `source` at `size`.
pub(crate) fn resize<T: PixelType>(source: View<T>, size: Size, method: Method, antialias: bool) -> Result<Vec<f32>> {
    let mut output = Vec::with_capacity(count_values(size, source.channels())?);
    append(source, size, method, antialias, &mut output)?;
    Ok(output)
}

/// Appends `source` at `size` to `output`.
pub(crate) fn append<T: PixelType>(
    source: View<T>,
    size: Size,
    method: Method,
    antialias: bool,
    output: &mut Vec<f32>,
) -> Result<()> {
    count_values(size, source.channels())?;
    count_values(Size { width: source.size().width, height: size.height }, source.channels())?;
    match method {
        Method::Area => area::append(source, size, output),
        Method::Bicubic if !antialias => cubic::append(source, size, output),
        Method::Bilinear if !antialias => TwoTap::new(source, size, false).append(output),
        _ => scale::append(source, size, method, antialias, output)?,
    }
    Ok(())
}
