//! Every kernel by name, and the resizes that take one.
use super::opencv::{self, Interpolation};
use super::pick::pick;
use super::pillow::{self, Filter};
use super::tensorflow::{self, Method};
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{MAX_VALUES, View, count_values, refuse};
use crate::pixels::Size;

/// A library's way to resize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Two taps at half-pixel centers in float32: TensorFlow's bilinear kernel without antialiasing.
    Fast,
    /// The nearest neighbor.
    Nearest(Nearest),
    /// Pillow's antialiased filters.
    Pillow(Filter),
    /// OpenCV's kernels, which are MXNet's too.
    Opencv(Interpolation),
    /// TensorFlow's float32 kernels.
    Tensorflow {
        /// Which kernel.
        method: Method,
        /// Whether the kernel grows with the scale when the image shrinks.
        antialias: bool,
    },
}

/// Whose neighbor is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearest {
    /// Pillow: output centers, positions summed in float64.
    Pillow,
    /// OpenCV and MXNet: upper left corners.
    Opencv,
    /// TensorFlow: output centers in float32.
    Tensorflow,
}

/// `source` at `size`, in bytes. Kernels that compute floats are rounded to the nearest byte, ties to even.
pub fn resize(source: View<u8>, size: Size, kernel: Kernel) -> Result<Vec<u8>> {
    match kernel {
        Kernel::Nearest(rule) => resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize(source, size, filter, false),
        Kernel::Opencv(interpolation) => opencv::resize(source, size, interpolation),
        Kernel::Fast | Kernel::Tensorflow { .. } => {
            Ok(resize_f32(source, size, kernel)?.into_iter().map(u8::nearest).collect())
        }
    }
}

/// `source` at `size` in float32, unrounded where the kernel computes floats.
pub fn resize_f32<T: PixelType>(source: View<T>, size: Size, kernel: Kernel) -> Result<Vec<f32>> {
    match kernel {
        Kernel::Fast => tensorflow::resize(source, size, Method::Bilinear, false),
        Kernel::Tensorflow { method, antialias } => tensorflow::resize(source, size, method, antialias),
        _ => Ok(resize_deep(source, size, kernel)?.into_iter().map(T::into).collect()),
    }
}

/// Images of one size, side by side in `pixels`, at another size in float32; those that have it stay as they are.
pub fn resize_many<T: PixelType>(
    pixels: &[T],
    from: Size,
    channels: usize,
    size: Size,
    kernel: Kernel,
) -> Result<Vec<f32>> {
    let (values, wanted) = (count_values(from, channels)?, count_values(size, channels)?);
    let count = pixels.len() / values;
    if !pixels.len().is_multiple_of(values) || (count as u64).saturating_mul(wanted as u64) > MAX_VALUES {
        let found = format!("{} values for {count} x {wanted}", pixels.len());
        return refuse(format!("whole images of {values} values, and no more than {MAX_VALUES} of results"), found);
    }
    if count == 1 && from != size && !matches!(kernel, Kernel::Tensorflow { .. }) {
        return resize_f32(View::new(pixels, from, channels)?, size, kernel);
    }
    let mut output = Vec::with_capacity(count * wanted);
    for image in pixels.chunks_exact(values) {
        let source = View::new(image, from, channels)?;
        match kernel {
            _ if from == size => output.extend(image.iter().map(|value| -> f32 { (*value).into() })),
            Kernel::Tensorflow { method, antialias } => {
                tensorflow::append(source, size, method, antialias, &mut output)?;
            }
            _ => output.extend_from_slice(&resize_f32(source, size, kernel)?),
        }
    }
    Ok(output)
}

/// `source` at `size`, computed in floats: for levels of more than eight bits. Whole numbers are rounded at the end.
pub fn resize_deep<T: PixelType>(source: View<T>, size: Size, kernel: Kernel) -> Result<Vec<T>> {
    let values = match kernel {
        Kernel::Nearest(rule) => return resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize_deep(source, size, filter)?,
        Kernel::Opencv(interpolation) => opencv::resize_deep(source, size, interpolation)?,
        Kernel::Fast | Kernel::Tensorflow { .. } => resize_f32(source, size, kernel)?,
    };
    Ok(values.into_iter().map(T::nearest).collect())
}

/// Pixels of `source` at `size`, none of them mixed: for masks, in any element type.
pub fn resize_nearest<T: Copy>(source: View<T>, size: Size, rule: Nearest) -> Result<Vec<T>> {
    count_values(size, source.channels())?;
    let from = source.size();
    let (columns, rows) = match rule {
        Nearest::Pillow => pillow::nearest(from, size),
        Nearest::Opencv => opencv::nearest(from, size),
        Nearest::Tensorflow => tensorflow::nearest(from, size),
    };
    Ok(pick(source, &columns, &rows))
}
