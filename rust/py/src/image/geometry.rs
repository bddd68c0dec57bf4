//! Images in memory, or boxes of them, at other sizes in floats.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::geometry;
use recordmill_image::geometry::pixel_type::PixelType;
use recordmill_image::geometry::resize::boxes::{Boxes, Images, resize_boxes};
use recordmill_image::geometry::resize::{Kernel, Nearest, resize_many, resize_nearest};
use recordmill_image::geometry::warp::Affine;
use recordmill_image::geometry::warp_fixed::{Taps, warp_fixed as warped};
use recordmill_image::pixels::Size;

use super::args::choose;
use super::kernels::{kernel_of, rule_of};
use super::refused;
use crate::buffers::{Block, Numbers, View, vector};

/// Images of height, width and channels in a flat array, at another height and width; raises ImageRefused.
#[pyfunction]
pub fn resize_floats(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    shape: (usize, usize, usize),
    size: (usize, usize),
    kernel: &str,
) -> PyResult<Block> {
    let kernel = kernel_of(kernel)?;
    match source {
        "uint8" => resized::<u8>(py, pixels, shape, size, kernel),
        "uint16" => resized::<u16>(py, pixels, shape, size, kernel),
        "float32" => resized::<f32>(py, pixels, shape, size, kernel),
        other => Err(PyValueError::new_err(format!("pixels are not {other:?}"))),
    }
}

fn resized<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    size: (usize, usize),
    kernel: Kernel,
) -> PyResult<Block> {
    let view = View::<T>::get(pixels)?;
    let values = view.slice();
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let made = py.detach(|| resize_many(values, from, channels, size, kernel)).map_err(refused)?;
    Ok(Block::new(Numbers::Float32(made)))
}

/// One image of height, width and channels in a flat array, at another height and width, by its nearest pixels; raises
/// ImageRefused.
#[pyfunction]
pub fn pick_pixels(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    shape: (usize, usize, usize),
    size: (usize, usize),
    rule: &str,
) -> PyResult<Block> {
    let rule = rule_of(rule)?;
    match source {
        "uint8" => picked(py, pixels, shape, size, rule, Numbers::UInt8),
        "uint16" => picked(py, pixels, shape, size, rule, Numbers::UInt16),
        "float32" => picked(py, pixels, shape, size, rule, Numbers::Float32),
        other => Err(PyValueError::new_err(format!("pixels are not {other:?}"))),
    }
}

fn picked<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    size: (usize, usize),
    rule: Nearest,
    wrap: fn(Vec<T>) -> Numbers,
) -> PyResult<Block> {
    let view = View::<T>::get(pixels)?;
    let values = view.slice();
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let pick = || resize_nearest(geometry::view::View::new(values, from, channels)?, size, rule);
    let made = py.detach(pick).map_err(refused)?;
    Ok(Block::new(wrap(made)))
}

/// Boxes of such images: four places and the image of each, and the height and width of all; raises ImageRefused.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn cut_boxes(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    shape: (usize, usize, usize),
    places: &Bound<'_, PyAny>,
    images: &Bound<'_, PyAny>,
    size: (usize, usize),
    nearest: bool,
    beyond: f32,
) -> PyResult<Block> {
    let (places, images) = (vector::<f32>(py, places)?, vector::<i64>(py, images)?);
    let size = Size { width: size.1, height: size.0 };
    let boxes = Boxes { coordinates: &places, image_indices: &images, size, nearest, extrapolation_value: beyond };
    match source {
        "uint8" => crop_or_pad::<u8>(py, pixels, shape, boxes),
        "uint16" => crop_or_pad::<u16>(py, pixels, shape, boxes),
        "float32" => crop_or_pad::<f32>(py, pixels, shape, boxes),
        other => Err(PyValueError::new_err(format!("pixels are not {other:?}"))),
    }
}

fn crop_or_pad<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    boxes: Boxes,
) -> PyResult<Block> {
    let view = View::<T>::get(pixels)?;
    let images = Images { values: view.slice(), size: Size { width, height }, channels };
    let made = py.detach(|| resize_boxes(images, boxes)).map_err(refused)?;
    Ok(Block::new(Numbers::Float32(made)))
}

// Affine maps of images in memory.

/// Bytes of height, width and channels in a flat array, at another height and width, through a map from there to here;
/// raises ImageRefused.
#[pyfunction]
pub fn warp_fixed(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    size: (usize, usize),
    matrix: [f64; 6],
    kernel: &str,
    fill: [u8; 4],
) -> PyResult<Block> {
    let known =
        [("nearest", Taps::Nearest), ("bilinear", Taps::Linear), ("cubic", Taps::Cubic), ("lanczos4", Taps::Lanczos4)];
    let taps = choose("kernel", kernel, &known)?;
    let [a, b, c, d, e, f] = matrix;
    let view = View::<u8>::get(pixels)?;
    let (values, (height, width, channels)) = (view.slice(), shape);
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let warp =
        || warped(geometry::view::View::new(values, from, channels)?, &Affine { a, b, c, d, e, f }, size, taps, fill);
    Ok(Block::new(Numbers::UInt8(py.detach(warp).map_err(refused)?)))
}
