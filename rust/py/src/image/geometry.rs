//! Resizing, cropping and warping of images in memory.
use pyo3::prelude::*;
use recordmill_image::geometry;
use recordmill_image::geometry::pixel_type::PixelType;
use recordmill_image::geometry::resize::boxes::{Boxes, Images, resize_boxes};
use recordmill_image::geometry::resize::{Kernel, Nearest, resize_many, resize_nearest};
use recordmill_image::geometry::warp::Affine;
use recordmill_image::geometry::warp_fixed::{Taps, warp_fixed as warped};
use recordmill_image::pixels::Size;

use super::args::{parse_choice, unsupported_choice};
use super::image_error;
use super::kernels::{parse_kernel, parse_nearest};
use crate::buffers::{ArrayView, Block, NumberVec, copy_array};

const PIXEL_TYPES: [&str; 3] = ["uint8", "uint16", "float32"];

/// Resize images in a flat array to floats; `shape` is (height, width, channels) and `size` is (height, width).
///
/// Raises ImageRefused if the native code cannot process the pixels.
#[pyfunction]
pub fn resize_floats(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    shape: (usize, usize, usize),
    size: (usize, usize),
    kernel: &str,
) -> PyResult<Block> {
    let kernel = parse_kernel(kernel)?;
    match source {
        "uint8" => resize_array::<u8>(py, pixels, shape, size, kernel),
        "uint16" => resize_array::<u16>(py, pixels, shape, size, kernel),
        "float32" => resize_array::<f32>(py, pixels, shape, size, kernel),
        other => Err(unsupported_choice("source", &PIXEL_TYPES, other)),
    }
}

fn resize_array<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    size: (usize, usize),
    kernel: Kernel,
) -> PyResult<Block> {
    let view = ArrayView::<T>::from_object(pixels)?;
    let values = view.as_slice();
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let output = py.detach(|| resize_many(values, from, channels, size, kernel)).map_err(image_error)?;
    Ok(Block::new(NumberVec::Float32(output)))
}

/// Resize one image in a flat array by nearest-neighbor sampling; `shape` is (height, width, channels) and `size` is
/// (height, width).
///
/// Raises ImageRefused if the native code cannot process the pixels.
#[pyfunction]
pub fn pick_pixels(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    shape: (usize, usize, usize),
    size: (usize, usize),
    rule: &str,
) -> PyResult<Block> {
    let rule = parse_nearest(rule)?;
    match source {
        "uint8" => resize_nearest_array(py, pixels, shape, size, rule, NumberVec::UInt8),
        "uint16" => resize_nearest_array(py, pixels, shape, size, rule, NumberVec::UInt16),
        "float32" => resize_nearest_array(py, pixels, shape, size, rule, NumberVec::Float32),
        other => Err(unsupported_choice("source", &PIXEL_TYPES, other)),
    }
}

fn resize_nearest_array<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    size: (usize, usize),
    rule: Nearest,
    wrap: fn(Vec<T>) -> NumberVec,
) -> PyResult<Block> {
    let view = ArrayView::<T>::from_object(pixels)?;
    let values = view.as_slice();
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let pick = || resize_nearest(geometry::view::View::new(values, from, channels)?, size, rule);
    let output = py.detach(pick).map_err(image_error)?;
    Ok(Block::new(wrap(output)))
}

/// Crop boxes of images in a flat array and resize them to floats of one size.
///
/// `shape` is (height, width, channels) of the images and `size` is (height, width) of the output. `places` has the
/// four coordinates of each box, and `images` the index of its image. Raises ImageRefused if the native code cannot
/// process the pixels.
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
    let (places, images) = (copy_array::<f32>(py, places)?, copy_array::<i64>(py, images)?);
    let size = Size { width: size.1, height: size.0 };
    let boxes = Boxes { coordinates: &places, image_indices: &images, size, nearest, extrapolation_value: beyond };
    match source {
        "uint8" => resize_boxes_array::<u8>(py, pixels, shape, boxes),
        "uint16" => resize_boxes_array::<u16>(py, pixels, shape, boxes),
        "float32" => resize_boxes_array::<f32>(py, pixels, shape, boxes),
        other => Err(unsupported_choice("source", &PIXEL_TYPES, other)),
    }
}

fn resize_boxes_array<T: PixelType + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    (height, width, channels): (usize, usize, usize),
    boxes: Boxes,
) -> PyResult<Block> {
    let view = ArrayView::<T>::from_object(pixels)?;
    let images = Images { values: view.as_slice(), size: Size { width, height }, channels };
    let output = py.detach(|| resize_boxes(images, boxes)).map_err(image_error)?;
    Ok(Block::new(NumberVec::Float32(output)))
}

// Affine maps of images in memory.

/// Warp an 8-bit image in a flat array; `shape` is (height, width, channels) and `size` is (height, width).
///
/// `matrix` is the affine map from output coordinates to input coordinates. Raises ImageRefused if the native code
/// cannot process the pixels.
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
    let taps = parse_choice("kernel", kernel, &known)?;
    let [a, b, c, d, e, f] = matrix;
    let view = ArrayView::<u8>::from_object(pixels)?;
    let (values, (height, width, channels)) = (view.as_slice(), shape);
    let (from, size) = (Size { width, height }, Size { width: size.1, height: size.0 });
    let warp =
        || warped(geometry::view::View::new(values, from, channels)?, &Affine { a, b, c, d, e, f }, size, taps, fill);
    Ok(Block::new(NumberVec::UInt8(py.detach(warp).map_err(image_error)?)))
}
