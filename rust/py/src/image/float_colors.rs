//! Color conversions of pixels in memory.
use pyo3::prelude::*;
use recordmill_image::color::floats::{self, ChannelValue, Operation};
use recordmill_image::color::hls::{self, Direction};

use super::args::unsupported_choice;
use super::image_error;
use crate::buffers::{ArrayView, Block, NumberVec};

/// Apply a color change to the pixels of a flat array; raises ImageRefused.
#[pyfunction]
pub fn change_colors(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    change: &str,
    amount: f32,
) -> PyResult<Block> {
    let change = parse_change(change, amount)?;
    match source {
        "uint8" => change_array(py, pixels, change, NumberVec::UInt8),
        "float32" => change_array(py, pixels, change, NumberVec::Float32),
        other => Err(unsupported_choice("source", &["uint8", "float32"], other)),
    }
}

fn change_array<T: ChannelValue + pyo3::buffer::Element + Send + Sync>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    change: Operation,
    wrap: fn(Vec<T>) -> NumberVec,
) -> PyResult<Block> {
    let view = ArrayView::<T>::from_object(pixels)?;
    let values = view.as_slice();
    let output = py.detach(|| floats::apply_operation(values, change)).map_err(image_error)?;
    Ok(Block::new(wrap(output)))
}

fn parse_change(word: &str, amount: f32) -> PyResult<Operation> {
    match word {
        "to_hsv" => Ok(Operation::ToHsv),
        "from_hsv" => Ok(Operation::FromHsv),
        "saturate" => Ok(Operation::ScaleSaturation(amount)),
        "turn" => Ok(Operation::ShiftHue(amount)),
        other => Err(unsupported_choice("change", &["to_hsv", "from_hsv", "saturate", "turn"], other)),
    }
}

/// Convert 8-bit RGB pixels in rows of `width` pixels to HLS, or back; raises ImageRefused.
#[pyfunction]
pub fn change_hls(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    back: bool,
    width: usize,
    behind: usize,
) -> PyResult<Block> {
    let view = ArrayView::<u8>::from_object(pixels)?;
    let (values, direction) = (view.as_slice(), if back { Direction::HlsToRgb } else { Direction::RgbToHls });
    let output = py.detach(|| hls::convert(values, direction, width, behind)).map_err(image_error)?;
    Ok(Block::new(NumberVec::UInt8(output)))
}
