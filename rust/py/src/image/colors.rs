//! Changes of colors in floats.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::color::floats::{self, ChannelValue, Operation};
use recordmill_image::color::hls::{self, Direction};

use super::refused;
use crate::buffers::{Block, Numbers, View};

/// The colors of a flat array, changed; raises ImageRefused.
#[pyfunction]
pub fn change_colors(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    source: &str,
    change: &str,
    amount: f32,
) -> PyResult<Block> {
    let change = change_of(change, amount)?;
    match source {
        "uint8" => changed(py, pixels, change, Numbers::UInt8),
        "float32" => changed(py, pixels, change, Numbers::Float32),
        other => Err(PyValueError::new_err(format!("colors are not {other:?}"))),
    }
}

fn changed<T: ChannelValue + pyo3::buffer::Element + Send + Sync>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    change: Operation,
    wrap: fn(Vec<T>) -> Numbers,
) -> PyResult<Block> {
    let view = View::<T>::get(pixels)?;
    let values = view.slice();
    let made = py.detach(|| floats::change(values, change)).map_err(refused)?;
    Ok(Block::new(wrap(made)))
}

fn change_of(word: &str, amount: f32) -> PyResult<Operation> {
    match word {
        "to_hsv" => Ok(Operation::ToHsv),
        "from_hsv" => Ok(Operation::FromHsv),
        "saturate" => Ok(Operation::ScaleSaturation(amount)),
        "turn" => Ok(Operation::ShiftHue(amount)),
        other => Err(PyValueError::new_err(format!("a change of colors is not {other:?}"))),
    }
}

/// Bytes of red, green and blue in rows of `width` to hue, lightness and saturation, or back; raises ImageRefused.
#[pyfunction]
pub fn change_hls(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    back: bool,
    width: usize,
    behind: usize,
) -> PyResult<Block> {
    let view = View::<u8>::get(pixels)?;
    let (values, way) = (view.slice(), if back { Direction::HlsToRgb } else { Direction::RgbToHls });
    let made = py.detach(|| hls::change(values, way, width, behind)).map_err(refused)?;
    Ok(Block::new(Numbers::UInt8(made)))
}
