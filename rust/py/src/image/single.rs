//! Single images, as they are stored.
use pyo3::prelude::*;
use recordmill_image::batch::WorkerState;
use recordmill_image::fault::Result as Outcome;
use recordmill_image::pixels::{Pixels, Samples, Window};
use recordmill_image::{jpeg, png};

use super::args::{choose, dct, fancy, parse_cmyk, scale};
use super::refused;
use crate::buffers::{Block, Numbers, View, fitting, take_buffer};

/// Values, height, width, channels.
type Image = (Block, usize, usize, usize);

fn image(pixels: Pixels) -> Image {
    let numbers = match pixels.samples {
        Samples::U8(values) => Numbers::UInt8(values),
        Samples::U16(values) => Numbers::UInt16(values),
    };
    (Block::new(numbers), pixels.size.height, pixels.size.width, pixels.channels)
}

/// What `decode` makes with a worker, without the interpreter lock.
fn decoded(py: Python<'_>, decode: impl FnOnce(&mut WorkerState) -> Outcome<Pixels> + Send) -> PyResult<Image> {
    let pixels = py.detach(|| {
        let mut worker = WorkerState::take();
        let pixels = decode(&mut worker);
        worker.give_back();
        pixels
    });
    pixels.map(image).map_err(refused)
}

/// A JPEG file, or a window (x, y, width, height) of it, perhaps by its entry points; raises ImageRefused.
#[pyfunction]
#[pyo3(signature = (data, window, channels, method, upsampling, cmyk, denominator, max_pixels, points=None))]
#[allow(clippy::too_many_arguments)]
pub fn decode_jpeg(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    window: Option<(usize, usize, usize, usize)>,
    channels: &str,
    method: &str,
    upsampling: &str,
    cmyk: &str,
    denominator: usize,
    max_pixels: usize,
    points: Option<Bound<'_, PyAny>>,
) -> PyResult<Image> {
    let view = View::<u8>::get(data)?;
    let options = options(channels, (method, upsampling, cmyk), denominator, max_pixels)?;
    let window = window.map(|(x, y, width, height)| Window { x, y, width, height });
    let data = view.slice();
    let table = points.map(|points| View::<u8>::get(&points)).transpose()?;
    let points = table.map(|table| jpeg::EntryPoints::from_bytes(table.slice())).transpose().map_err(refused)?;
    decoded(py, |worker| {
        let mut samples = take_buffer();
        let (size, channels) =
            worker.jpeg.decode_to(data, jpeg::Region::all(window), &options, points.as_ref(), &mut samples)?;
        Ok(Pixels { size, channels, samples: Samples::U8(fitting(samples)) })
    })
}

/// A JPEG file that ends too early, or a window of it, and how many of its rows there are; raises ImageRefused.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn decode_truncated_jpeg(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    window: Option<(usize, usize, usize, usize)>,
    channels: &str,
    method: &str,
    upsampling: &str,
    cmyk: &str,
    denominator: usize,
    max_pixels: usize,
    recovers: bool,
) -> PyResult<(Image, usize)> {
    let view = View::<u8>::get(data)?;
    let options = options(channels, (method, upsampling, cmyk), denominator, max_pixels)?;
    let window = window.map(|(x, y, width, height)| Window { x, y, width, height });
    let (data, mut num_rows) = (view.slice(), 0);
    let image = decoded(py, |worker| {
        let mut samples = take_buffer();
        let (size, channels, rows) = worker.jpeg.decode_truncated(data, window, &options, recovers, &mut samples)?;
        num_rows = rows;
        Ok(Pixels { size, channels, samples: Samples::U8(fitting(samples)) })
    })?;
    Ok((image, num_rows))
}

/// The words and numbers of a call as options.
fn options(
    channels: &str,
    (method, upsampling, cmyk): (&str, &str, &str),
    denominator: usize,
    max_pixels: usize,
) -> PyResult<jpeg::Options> {
    let known = [
        ("stored", jpeg::Channels::AsStored),
        ("gray", jpeg::Channels::Gray),
        ("rgb", jpeg::Channels::Rgb),
        ("bgr", jpeg::Channels::Bgr),
    ];
    let channels = choose("channels", channels, &known)?;
    let limits = jpeg::Limits { max_pixels, ..jpeg::Limits::default() };
    let (dct, fancy, cmyk) = (dct(method)?, fancy(upsampling)?, parse_cmyk(cmyk)?);
    Ok(jpeg::Options { channels, dct, fancy, cmyk, scale: scale(denominator)?, limits })
}

/// A PNG file as it is stored, transparency as alpha; a palette as its colors; or stored values of a
/// palette or of gray. Raises ImageRefused.
#[pyfunction]
pub fn decode_png(py: Python<'_>, data: &Bound<'_, PyAny>, indices: bool, max_pixels: u64) -> PyResult<Image> {
    let view = View::<u8>::get(data)?;
    let limits = png::Limits { max_pixels, ..png::Limits::default() };
    let (palette, channels) = match indices {
        true => (png::Palette::Classes, png::Channels::AsStored),
        false => (png::Palette::Colors, png::Channels::WithTransparency),
    };
    let data = view.slice();
    decoded(py, |worker| {
        let options = png::Options { palette, channels, limits, ..png::Options::default() };
        worker.png.decode(data, &options)
    })
}
