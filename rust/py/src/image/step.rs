//! One step on the pixels of one image.
use pyo3::prelude::*;
use recordmill_image::geometry::resize::resize;
use recordmill_image::geometry::view::View as Image;
use recordmill_image::pixels::Size;

use super::args::kernel;
use super::refused;
use crate::buffers::{Block, View};

/// Bytes of an image of (height, width, channels) at another (height, width); raises ImageRefused.
#[pyfunction]
pub fn resize_image(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    size: (usize, usize),
    word: &str,
) -> PyResult<Block> {
    let (view, kernel) = (View::<u8>::get(data)?, kernel(word)?);
    let (from, to) = (Size { width: shape.1, height: shape.0 }, Size { width: size.1, height: size.0 });
    let samples = view.slice();
    let resized = py.detach(|| resize(Image::new(samples, from, shape.2)?, to, kernel));
    resized.map(Block::bytes).map_err(refused)
}
