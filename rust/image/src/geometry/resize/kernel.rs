//! All resize kernels, and the resize functions that take one.
use super::nearest::{Nearest, resize_nearest};
use super::opencv::{self, Interpolation};
use super::pillow::{self, Filter};
use super::tensorflow::{self, Method};
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{MAX_VALUES, View, bad_argument, count_values};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// A resize kernel, named by the library whose arithmetic it reproduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// TensorFlow's bilinear kernel without antialiasing: two taps at half-pixel centers in float32.
    Fast,
    /// Nearest neighbor.
    Nearest(Nearest),
    /// Pillow's antialiased filters.
    Pillow(Filter),
    /// OpenCV's kernels, which MXNet also uses.
    Opencv(Interpolation),
    /// TensorFlow's float32 kernels.
    Tensorflow {
        /// Interpolation method.
        method: Method,
        /// Whether the kernel is widened by the scale factor when the image shrinks.
        antialias: bool,
    },
}

/// Resizes an 8-bit image. The results of float kernels are rounded to the nearest integer, ties to even.
pub fn resize(source: View<u8>, size: Size, kernel: Kernel) -> Result<Vec<u8>> {
    match kernel {
        Kernel::Nearest(rule) => resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize(source, size, filter, false),
        Kernel::Opencv(interpolation) => opencv::resize(source, size, interpolation),
        Kernel::Fast | Kernel::Tensorflow { .. } => Ok(round_values(&resize_f32(source, size, kernel)?)?),
    }
}

/// Resizes an image to float32 values. The results of float kernels are not rounded.
pub fn resize_f32<T: PixelType>(source: View<T>, size: Size, kernel: Kernel) -> Result<Vec<f32>> {
    match kernel {
        Kernel::Fast => tensorflow::resize(source, size, Method::Bilinear, false),
        Kernel::Tensorflow { method, antialias } => tensorflow::resize(source, size, method, antialias),
        _ => Ok(convert_to_f32(&resize_high_depth(source, size, kernel)?)?),
    }
}

/// Resizes images of equal size, contiguous in `pixels`, to float32 values. If the size does not change, the values are
/// only converted.
pub fn resize_many<T: PixelType>(
    pixels: &[T],
    from: Size,
    channels: usize,
    size: Size,
    kernel: Kernel,
) -> Result<Vec<f32>> {
    let (values, output_len) = (count_values(from, channels)?, count_values(size, channels)?);
    let count = pixels.len() / values;
    if !pixels.len().is_multiple_of(values) || (count as u64).saturating_mul(output_len as u64) > MAX_VALUES {
        let found = format!("{} values for {count} x {output_len}", pixels.len());
        return bad_argument(
            format!("whole images of {values} values, and no more than {MAX_VALUES} result values"),
            found,
        );
    }
    if count == 1 && from != size && !matches!(kernel, Kernel::Tensorflow { .. }) {
        return resize_f32(View::new(pixels, from, channels)?, size, kernel);
    }
    let mut output = memory::with_capacity(count * output_len)?;
    for image in pixels.chunks_exact(values) {
        let source = View::new(image, from, channels)?;
        match kernel {
            _ if from == size => output.extend(image.iter().map(|value| -> f32 { (*value).into() })),
            Kernel::Tensorflow { method, antialias } => {
                tensorflow::append_resized(source, size, method, antialias, &mut output)?;
            }
            _ => output.extend_from_slice(&resize_f32(source, size, kernel)?),
        }
    }
    Ok(output)
}

/// Resizes an image of more than 8 bits in floating point. Integer types are rounded at the end.
pub fn resize_high_depth<T: PixelType>(source: View<T>, size: Size, kernel: Kernel) -> Result<Vec<T>> {
    let values = match kernel {
        Kernel::Nearest(rule) => return resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize_high_depth(source, size, filter)?,
        Kernel::Opencv(interpolation) => opencv::resize_high_depth(source, size, interpolation)?,
        Kernel::Fast | Kernel::Tensorflow { .. } => resize_f32(source, size, kernel)?,
    };
    Ok(round_values(&values)?)
}

/// Converts values to float32.
pub(super) fn convert_to_f32<T: PixelType>(values: &[T]) -> Result<Vec<f32>, OutOfMemory> {
    memory::collect(values.iter().map(|value| (*value).into()))
}

/// Rounds values to the type of a pixel.
fn round_values<T: PixelType>(values: &[f32]) -> Result<Vec<T>, OutOfMemory> {
    memory::collect(values.iter().map(|value| T::round_from_f32(*value)))
}
