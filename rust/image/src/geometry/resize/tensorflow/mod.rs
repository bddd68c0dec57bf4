//! `tf.image.resize` of TensorFlow 2 (2.21; kernels/image/): float32 results, half-pixel centres.
//!
//! All methods equal TensorFlow on x86-64 bit for bit but those with transcendental curves (Lanczos, Gaussian), whose last
//! bits depend on the C library's sine and exponential.
mod area;
mod cubic;
mod nearest;
mod scale;

use super::two_tap::TwoTap;
use crate::fault::Result;
use crate::geometry::level::Level;
use crate::geometry::view::{View, count_values};
use crate::pixels::Size;
pub(crate) use nearest::nearest;

/// `tf.image.ResizeMethod`, but for nearest neighbours, which are no floats.
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
pub(crate) fn resize<T: Level>(source: View<T>, size: Size, method: Method, antialias: bool) -> Result<Vec<f32>> {
    let count = count_values(size, source.channels())?;
    count_values(Size { width: source.size().width, height: size.height }, source.channels())?;
    match method {
        Method::Area => Ok(area::resize(source, size)),
        Method::Bicubic if !antialias => Ok(cubic::resize(source, size)),
        Method::Bilinear if !antialias => {
            let mut output = vec![0.0; count];
            let mut reader = TwoTap::new(source, size, false);
            let rows = output.chunks_exact_mut(size.width * source.channels());
            rows.enumerate().for_each(|(y, row)| reader.read(y, row));
            Ok(output)
        }
        _ => scale::resize(source, size, method, antialias),
    }
}
