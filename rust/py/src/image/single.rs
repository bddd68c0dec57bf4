//! Decoding of single images.
use pyo3::prelude::*;
use recordmill_image::batch::WorkerState;
use recordmill_image::fault::Result as Outcome;
use recordmill_image::pixels::{Pixels, Samples, Window};
use recordmill_image::{jpeg, png};

use super::args::{parse_choice, parse_cmyk, parse_dct, parse_scale, parse_upsampling};
use super::image_error;
use crate::buffers::{ArrayView, Block, NumberVec, shrink_if_oversized, take_pooled_buffer};

/// Values, height, width, channels.
type Image = (Block, usize, usize, usize);

fn to_image(pixels: Pixels) -> Image {
    let numbers = match pixels.samples {
        Samples::U8(values) => NumberVec::UInt8(values),
        Samples::U16(values) => NumberVec::UInt16(values),
    };
    (Block::new(numbers), pixels.size.height, pixels.size.width, pixels.channels)
}

/// Calls `decode` with a worker state, without the interpreter lock.
fn run_decoder(py: Python<'_>, decode: impl FnOnce(&mut WorkerState) -> Outcome<Pixels> + Send) -> PyResult<Image> {
    let pixels = py.detach(|| {
        let mut worker = WorkerState::take_idle();
        let pixels = decode(&mut worker);
        worker.return_to_idle();
        pixels
    });
    pixels.map(to_image).map_err(image_error)
}

/// Decode a JPEG file, or a window (x, y, width, height) of it; raises ImageRefused.
///
/// `points` are the entry points of the file, which make decoding of a window faster.
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
    let view = ArrayView::<u8>::from_object(data)?;
    let options = parse_jpeg_options(channels, (method, upsampling, cmyk), denominator, max_pixels)?;
    let window = window.map(|(x, y, width, height)| Window { x, y, width, height });
    let data = view.as_slice();
    let table = points.map(|points| ArrayView::<u8>::from_object(&points)).transpose()?;
    let points = table.map(|table| jpeg::EntryPoints::from_bytes(table.as_slice())).transpose().map_err(image_error)?;
    run_decoder(py, |worker| {
        let mut samples = take_pooled_buffer();
        let (size, channels) =
            worker.jpeg.decode_to(data, jpeg::Region::all_rows(window), &options, points.as_ref(), &mut samples)?;
        Ok(Pixels { size, channels, samples: Samples::U8(shrink_if_oversized(samples)) })
    })
}

/// Decode a truncated JPEG file, or a window of it: (image, number of complete rows). Raises ImageRefused.
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
    let view = ArrayView::<u8>::from_object(data)?;
    let options = parse_jpeg_options(channels, (method, upsampling, cmyk), denominator, max_pixels)?;
    let window = window.map(|(x, y, width, height)| Window { x, y, width, height });
    let (data, mut num_rows) = (view.as_slice(), 0);
    let image = run_decoder(py, |worker| {
        let mut samples = take_pooled_buffer();
        let (size, channels, rows) = worker.jpeg.decode_truncated(data, window, &options, recovers, &mut samples)?;
        num_rows = rows;
        Ok(Pixels { size, channels, samples: Samples::U8(shrink_if_oversized(samples)) })
    })?;
    Ok((image, num_rows))
}

/// Converts the names of options to the options of the JPEG decoder.
fn parse_jpeg_options(
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
    let channels = parse_choice("channels", channels, &known)?;
    let limits = jpeg::Limits { max_pixels, ..jpeg::Limits::default() };
    let (dct, fancy, cmyk) = (parse_dct(method)?, parse_upsampling(upsampling)?, parse_cmyk(cmyk)?);
    Ok(jpeg::Options { channels, dct, fancy, cmyk, scale: parse_scale(denominator)?, limits })
}

/// Decode a PNG file without conversion, with transparency as an alpha channel; raises ImageRefused.
///
/// Palette images are decoded to their colors. With `indices`, they are decoded to the stored indices, and gray values
/// are not scaled to 0 to 255.
#[pyfunction]
pub fn decode_png(py: Python<'_>, data: &Bound<'_, PyAny>, indices: bool, max_pixels: u64) -> PyResult<Image> {
    let view = ArrayView::<u8>::from_object(data)?;
    let limits = png::Limits { max_pixels, ..png::Limits::default() };
    let (palette, channels) = match indices {
        true => (png::Palette::Classes, png::Channels::AsStored),
        false => (png::Palette::Colors, png::Channels::WithTransparency),
    };
    let data = view.as_slice();
    run_decoder(py, |worker| {
        let options = png::Options { palette, channels, limits, ..png::Options::default() };
        worker.png.decode(data, &options)
    })
}
