//! Decoding of JPEG files without metadata to the memory layout of Pillow images.
use pyo3::prelude::*;
use recordmill_image::batch::WorkerState;
use recordmill_image::color::channels::pad_colors;
use recordmill_image::fault::{ImageFault, ImageFaultKind, Result as Outcome};
use recordmill_image::jpeg::{Header, Limits, Options, Region};
use recordmill_image::memory;
use recordmill_image::pixels::Size;

use super::image_error;
use crate::buffers::{ArrayView, Block, recycle_buffer, shrink_if_oversized, take_pooled_buffer};

/// Decode a JPEG file to (values, height, width, bytes per pixel). A gray pixel has 1 byte. A color pixel has 4 bytes:
/// RGB and an unused byte.
///
/// Raises ImageRefused if the file cannot be decoded or has a comment. With `upright`, also raises it if the file may
/// have an EXIF orientation.
#[pyfunction]
pub fn decode_plain_jpeg(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    upright: bool,
    max_pixels: usize,
) -> PyResult<(Block, usize, usize, usize)> {
    let view = ArrayView::<u8>::from_object(data)?;
    let data = view.as_slice();
    let limits = Limits { max_pixels, ..Limits::default() };
    let decoded = py.detach(|| {
        let mut worker = WorkerState::take_idle();
        let mut out = take_pooled_buffer();
        let decoded =
            refuse_metadata(data, upright).and_then(|()| decode_pillow_pixels(&mut worker, data, limits, &mut out));
        worker.return_to_idle();
        if decoded.is_err() {
            recycle_buffer(std::mem::take(&mut out));
        }
        decoded.map(|(size, bytes_per_pixel)| (out, size, bytes_per_pixel))
    });
    let (out, size, bytes_per_pixel) = decoded.map_err(image_error)?;
    Ok((Block::from_bytes(shrink_if_oversized(out)), size.height, size.width, bytes_per_pixel))
}

fn refuse_metadata(data: &[u8], upright: bool) -> Outcome<()> {
    let header = Header::parse(data)?;
    if header.has_comment || (upright && header.has_app1) {
        return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "pixels alone", "a comment, or EXIF or XMP"));
    }
    Ok(())
}

/// Decodes a JPEG file and replaces the content of `out` by its pixels. Returns the image size and the number of bytes
/// per pixel.
fn decode_pillow_pixels(
    worker: &mut WorkerState,
    data: &[u8],
    limits: Limits,
    out: &mut Vec<u8>,
) -> Outcome<(Size, usize)> {
    let options = Options { limits, ..Options::default() };
    let WorkerState { jpeg, pixels, .. } = worker;
    let (size, channels) = jpeg.decode_to(data, Region::default(), &options, None, pixels)?;
    if channels == 1 {
        out.clear();
        memory::extend_from_slice(out, pixels)?;
        return Ok((size, 1));
    }
    pad_colors(pixels, out)?;
    Ok((size, 4))
}
