//! OpenCV's `resize` for 8-bit images (4.14, x86-64; modules/imgproc/src/resize.cpp), also used by MXNet.
//!
//! All kernels are bit-exact with OpenCV, with one exception: wheels with Intel IPP use IPP for the cubic kernel, and
//! the results of IPP differ by at most one. `cv2.ipp.setUseIPP(False)` gives the results of this module. The cubic
//! kernel of OpenCV 3.4, which MXNet 1.9 contains, also differs by at most one. The Lanczos kernel of OpenCV 3.4 has
//! wrong weights for positions very close to a pixel, so its results differ there.
mod area;
mod coefficients;
mod fixed;
mod high_depth;
mod two_tap;
#[cfg(target_arch = "x86_64")]
mod two_tap_avx2;

use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::resize::kernel::convert_to_f32;
use crate::geometry::view::{View, count_values};
use crate::memory;
use crate::pixels::{Size, Window};
use coefficients::Axis;
pub(crate) use coefficients::{cubic_weights, lanczos_weights};
pub(crate) use two_tap::ResizeWindow;

/// OpenCV's `InterpolationFlags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// `INTER_LINEAR`
    Linear,
    /// `INTER_CUBIC`
    Cubic,
    /// `INTER_AREA`
    Area,
    /// `INTER_LANCZOS4`
    Lanczos4,
    /// MXNet's `inter_method` 9: cubic if both sides grow, area if both shrink, otherwise linear.
    Auto,
    /// OneFlow's "auto": area if neither side grows, otherwise linear.
    AreaOrLinear,
}

impl Interpolation {
    fn resolve_automatic(self, from: Size, to: Size) -> Self {
        match self {
            Self::Auto if to.width > from.width && to.height > from.height => Self::Cubic,
            Self::Auto if to.width < from.width && to.height < from.height => Self::Area,
            Self::AreaOrLinear if to.width <= from.width && to.height <= from.height => Self::Area,
            Self::Auto | Self::AreaOrLinear => Self::Linear,
            named => named,
        }
    }
}

/// Resizes an 8-bit image to `size`.
pub(crate) fn resize(source: View<u8>, size: Size, interpolation: Interpolation) -> Result<Vec<u8>> {
    let count = count_values(size, source.channels())?;
    count_values(Size { width: size.width, height: source.size().height }, source.channels())?;
    if let Some(part) = prepare_window(source.size(), size, interpolation, Window::whole(size))? {
        let mut output = memory::filled(count, 0)?;
        let source = source.crop(part.source_window())?;
        let mut reader = part.row_resizer(source, false)?;
        let rows = output.chunks_exact_mut(size.width * source.channels());
        rows.enumerate().for_each(|(y, row)| reader.compute_row(y, row));
        return Ok(output);
    }
    let (across, down) = axes(source.size(), size);
    Ok(match interpolation.resolve_automatic(source.size(), size) {
        _ if source.size() == size => source.to_vec()?,
        Interpolation::Cubic => fixed::resize_cubic(source, &across.cubic_taps()?, &down.cubic_taps()?)?,
        Interpolation::Lanczos4 => fixed::resize_lanczos(source, &across.lanczos_taps()?, &down.lanczos_taps()?)?,
        Interpolation::Area => area::resize_area(source, size, across, down)?,
        Interpolation::Linear | Interpolation::Auto | Interpolation::AreaOrLinear => {
            area::average_blocks(source, size, 2, 2)?
        }
    })
}

/// Prepares to compute the `window` of an image of size `from` that is resized to `to`. Returns `None` if the kernel
/// does not have two taps per axis.
pub(crate) fn prepare_window(
    from: Size,
    to: Size,
    interpolation: Interpolation,
    window: Window,
) -> Result<Option<ResizeWindow>> {
    count_values(to, 1)?;
    let (across, down) = axes(from, to);
    let halves = across.integer_scale() == Some(2) && down.integer_scale() == Some(2);
    let shrinks = across.scale >= 1.0 && down.scale >= 1.0;
    Ok(match interpolation.resolve_automatic(from, to) {
        _ if from == to => None,
        Interpolation::Linear if !halves => Some(ResizeWindow::new(across.linear_taps()?, down.linear_taps()?, window)),
        Interpolation::Area if !shrinks => Some(ResizeWindow::new(across.area_taps()?, down.area_taps()?, window)),
        _ => None,
    })
}

fn axes(from: Size, to: Size) -> (Axis, Axis) {
    (Axis::new(from.width, to.width), Axis::new(from.height, to.height))
}

/// Resizes an image of more than 8 bits to float32 values. Bit-exact with OpenCV's 16-bit images, except Lanczos, which
/// may differ by one level.
pub(crate) fn resize_high_depth<T: PixelType>(
    source: View<T>,
    size: Size,
    interpolation: Interpolation,
) -> Result<Vec<f32>> {
    count_values(size, source.channels())?;
    count_values(Size { width: size.width, height: source.size().height }, source.channels())?;
    if source.size() == size {
        return Ok(convert_to_f32(&source.to_vec()?)?);
    }
    Ok(high_depth::resize(source, size, interpolation.resolve_automatic(source.size(), size))?)
}
