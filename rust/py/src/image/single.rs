//! Single images, as they are stored.
use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::pixels::{Pixels, Samples, Window};
use recordmill_image::{jpeg, png};

use super::args::{dct, fancy, scale};
use super::refused;
use crate::buffers::{Block, Numbers, View};

/// Values, height, width, channels.
type Image = (Block, usize, usize, usize);

thread_local! {
    static JPEG: RefCell<jpeg::Decoder> = RefCell::default();
    static PNG: RefCell<png::Decoder> = RefCell::default();
}

fn image(pixels: Pixels) -> Image {
    let numbers = match pixels.samples {
        Samples::U8(values) => Numbers::UInt8(values),
        Samples::U16(values) => Numbers::UInt16(values),
    };
    (Block::new(numbers), pixels.size.height, pixels.size.width, pixels.channels)
}

/// A JPEG file, or a window (x, y, width, height) of it; raises ImageRefused.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn decode_jpeg(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    window: Option<(usize, usize, usize, usize)>,
    channels: &str,
    method: &str,
    upsampling: &str,
    denominator: usize,
    max_pixels: usize,
) -> PyResult<Image> {
    let view = View::<u8>::get(data)?;
    let channels = match channels {
        "stored" => jpeg::Channels::AsStored,
        "grey" => jpeg::Channels::Grey,
        "rgb" => jpeg::Channels::Rgb,
        "bgr" => jpeg::Channels::Bgr,
        other => return Err(PyValueError::new_err(format!("channels is not {other:?}"))),
    };
    let limits = jpeg::Limits { max_pixels, ..jpeg::Limits::default() };
    let (dct, fancy, scale) = (dct(method)?, fancy(upsampling)?, scale(denominator)?);
    let options = jpeg::Options { channels, dct, fancy, scale, limits };
    let window = window.map(|(x, y, width, height)| Window { x, y, width, height });
    let data = view.slice();
    let decoded = py.detach(|| JPEG.with_borrow_mut(|decoder| decoder.decode_pixels(data, window, &options)));
    decoded.map(image).map_err(refused)
}

/// A PNG file as it is stored, transparency as alpha; a palette as its colours; or stored values of a
/// palette or of grey. Raises ImageRefused.
#[pyfunction]
pub fn decode_png(py: Python<'_>, data: &Bound<'_, PyAny>, indices: bool, max_pixels: u64) -> PyResult<Image> {
    let view = View::<u8>::get(data)?;
    let limits = png::Limits { max_pixels, ..png::Limits::default() };
    let (palette, channels) = match indices {
        true => (png::Palette::Classes, png::Channels::AsStored),
        false => (png::Palette::Colours, png::Channels::WithTransparency),
    };
    let data = view.slice();
    let options = png::Options { palette, channels, limits, ..png::Options::default() };
    let decoded = py.detach(|| PNG.with_borrow_mut(|decoder| decoder.decode(data, &options)));
    decoded.map(image).map_err(refused)
}
