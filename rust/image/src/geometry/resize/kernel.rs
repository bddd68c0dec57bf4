//! Every kernel by name, and the resizes that take one.
use super::opencv::{self, Interpolation};
use super::pick::pick;
use super::pillow::{self, Filter};
use super::tensorflow::{self, Method};
use crate::collate::lanes::to_byte;
use crate::fault::Result;
use crate::geometry::view::{View, count_values, refuse};
use crate::pixels::Size;

/// A library's way to resize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Two taps at half-pixel centres in float32: TensorFlow's bilinear kernel without antialiasing.
    Fast,
    /// The nearest neighbour.
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

/// Whose neighbour is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearest {
    /// Pillow's eight-bit modes: output centres, positions summed in float64.
    Pillow,
    /// Pillow's mode `I;16`: output centres, positions multiplied in float64.
    PillowDeep,
    /// OpenCV and MXNet: upper left corners.
    Opencv,
    /// TensorFlow: output centres in float32.
    Tensorflow,
}

/// `source` at `size`, in bytes. Kernels that compute floats are rounded to the nearest byte, ties to even.
pub fn resize(source: View<u8>, size: Size, kernel: Kernel) -> Result<Vec<u8>> {
    match kernel {
        Kernel::Nearest(rule) => resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize(source, size, filter, false),
        Kernel::Opencv(interpolation) => opencv::resize(source, size, interpolation),
        Kernel::Fast | Kernel::Tensorflow { .. } => {
            Ok(resize_f32(source, size, kernel)?.into_iter().map(to_byte).collect())
        }
    }
}

/// `source` at `size`, in float32 in the 0 to 255 scale, unrounded where the kernel computes floats.
pub fn resize_f32(source: View<u8>, size: Size, kernel: Kernel) -> Result<Vec<f32>> {
    match kernel {
        Kernel::Fast => tensorflow::resize(source, size, Method::Bilinear, false),
        Kernel::Tensorflow { method, antialias } => tensorflow::resize(source, size, method, antialias),
        _ => Ok(resize(source, size, kernel)?.into_iter().map(f32::from).collect()),
    }
}

/// 16-bit values, for the kernels that have a rule for them: nearest neighbours and Pillow's filters.
pub fn resize_u16(source: View<u16>, size: Size, kernel: Kernel) -> Result<Vec<u16>> {
    match kernel {
        Kernel::Nearest(Nearest::Pillow) => resize_nearest(source, size, Nearest::PillowDeep),
        Kernel::Nearest(rule) => resize_nearest(source, size, rule),
        Kernel::Pillow(filter) => pillow::resize_deep(source, size, filter),
        _ => refuse("a nearest or Pillow kernel for 16-bit values", format!("{kernel:?}")),
    }
}

/// Pixels of `source` at `size`, none of them mixed: for masks, in any element type.
pub fn resize_nearest<T: Copy>(source: View<T>, size: Size, rule: Nearest) -> Result<Vec<T>> {
    count_values(size, source.channels())?;
    let from = source.size();
    let (columns, rows) = match rule {
        Nearest::Pillow => pillow::nearest(from, size, false),
        Nearest::PillowDeep => pillow::nearest(from, size, true),
        Nearest::Opencv => opencv::nearest(from, size),
        Nearest::Tensorflow => tensorflow::nearest(from, size),
    };
    Ok(pick(source, &columns, &rows))
}
