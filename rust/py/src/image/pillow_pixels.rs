//! JPEG files that hold nothing but pixels, in the memory layout of Pillow's pictures.
use pyo3::prelude::*;
use recordmill_image::batch::WorkerState;
use recordmill_image::color::channels::pad_colors;
use recordmill_image::fault::{ImageFault, ImageFaultKind, Result as Outcome};
use recordmill_image::jpeg::{Header, Limits, Options, Region};
use recordmill_image::pixels::Size;

use super::refused;
use crate::buffers::{Block, View, fitting, give_buffer, take_buffer};

/// Values, height, width and bytes of a pixel: 1 of gray, 4 of colors, whose last means nothing. Raises ImageRefused,
/// also for a file with a comment and, if its EXIF orientation matters (`upright`), for one that may have any.
#[pyfunction]
pub fn decode_plain_jpeg(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    upright: bool,
    max_pixels: usize,
) -> PyResult<(Block, usize, usize, usize)> {
    let view = View::<u8>::get(data)?;
    let data = view.slice();
    let limits = Limits { max_pixels, ..Limits::default() };
    let decoded = py.detach(|| {
        let mut worker = WorkerState::take();
        let mut out = take_buffer();
        let decoded = check(data, upright).and_then(|()| decode(&mut worker, data, limits, &mut out));
        worker.give_back();
        if decoded.is_err() {
            give_buffer(std::mem::take(&mut out));
        }
        decoded.map(|(size, bytes)| (out, size, bytes))
    });
    let (out, size, bytes) = decoded.map_err(refused)?;
    Ok((Block::bytes(fitting(out)), size.height, size.width, bytes))
}

fn check(data: &[u8], upright: bool) -> Outcome<()> {
    let header = Header::parse(data)?;
    if header.has_comment || (upright && header.has_app1) {
        return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "pixels alone", "a comment, or EXIF or XMP"));
    }
    Ok(())
}

/// Decodes to the front of `out`, and nothing else is in it; size and bytes of a pixel.
fn decode(worker: &mut WorkerState, data: &[u8], limits: Limits, out: &mut Vec<u8>) -> Outcome<(Size, usize)> {
    let options = Options { limits, ..Options::default() };
    let WorkerState { jpeg, pixels, .. } = worker;
    let (size, channels) = jpeg.decode_to(data, Region::default(), &options, None, pixels)?;
    if channels == 1 {
        out.clear();
        out.extend_from_slice(pixels);
        return Ok((size, 1));
    }
    pad_colors(pixels, out)?;
    Ok((size, 4))
}
