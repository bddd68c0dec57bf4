//! Images in memory through affine maps.
use pyo3::prelude::*;
use recordmill_image::geometry;
use recordmill_image::geometry::affine::Affine;
use recordmill_image::geometry::warp_fixed::{Taps, warp_fixed as warped};
use recordmill_image::pixels::Size;

use super::args::choose;
use super::refused;
use crate::buffers::{Block, Numbers, View};

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
