//! Encoding of PNG files from pixels and from other PNG files.
use pyo3::prelude::*;
use recordmill_image::batch::WorkerState;
use recordmill_image::fault::{ImageFault, ImageFaultKind};
use recordmill_image::memory;
use recordmill_image::pixels::Size;
use recordmill_image::png::{Channels, Limits, RecodeOptions, Recoder};

use super::args::{EncodedImages, unsupported_choice};
use super::{image_error, row_memory_error};
use crate::buffers::{ArrayView, Block, take_pooled_buffer};

/// Encode PNG files again: (data, row_splits, heights and widths).
///
/// A row is empty, and its height and width are 0, if the file is not a valid PNG file, has more than `max_pixels`
/// pixels, or contains other data than pixels. With `upright`, this includes files that may have an EXIF orientation.
#[pyfunction]
pub fn recode_png(
    py: Python<'_>,
    files: EncodedImages<'_>,
    channels: &str,
    upright: bool,
    max_pixels: u64,
) -> PyResult<(Block, Block, Block)> {
    let channels = match channels {
        "stored" => Channels::AsStored,
        "gray" => Channels::Gray,
        "rgb" => Channels::Rgb,
        other => return Err(unsupported_choice("channels", &["stored", "gray", "rgb"], other)),
    };
    let options = RecodeOptions { channels, upright, limits: Limits { max_pixels, ..Limits::default() } };
    let views = files.get_views()?;
    let files = views.as_slices()?;
    let recoded = py.detach(|| {
        let mut worker = WorkerState::take_idle();
        let recoded = recode_files(&mut worker, &files, options);
        worker.return_to_idle();
        recoded
    });
    let (data, splits, sides) = recoded.map_err(|(row, fault)| row_memory_error(row, fault))?;
    Ok((Block::from_bytes(data), Block::from_integers(splits), Block::from_integers(sides)))
}

/// Files, their row splits, and the height and width of each image.
type RecodedFiles = (Vec<u8>, Vec<i64>, Vec<i64>);

/// Returns the new files, their row splits, and the height and width of each image, which are 0 for files that cannot
/// be recoded. An error contains the row of a file for which there is not enough memory.
fn recode_files(
    worker: &mut WorkerState,
    files: &[&[u8]],
    options: RecodeOptions,
) -> Result<RecodedFiles, (usize, ImageFault)> {
    let WorkerState { png, png_encoder, pixels, .. } = worker;
    let mut recoder = Recoder { decoder: png, encoder: png_encoder, pixels };
    let mut data = take_pooled_buffer();
    data.clear();
    let new = |len| memory::with_capacity(len).map_err(|error| (0, error.into()));
    let (mut splits, mut sides) = (new(files.len() + 1)?, new(2 * files.len())?);
    splits.push(0);
    for (row, file) in files.iter().enumerate() {
        let size = match recoder.recode(file, options, &mut data) {
            Err(fault) if fault.kind == ImageFaultKind::OutOfMemory => return Err((row, fault)),
            size => size.unwrap_or(Size { width: 0, height: 0 }),
        };
        splits.push(data.len() as i64);
        sides.extend([size.height as i64, size.width as i64]);
    }
    Ok((data, splits, sides))
}

/// Encode 8-bit samples of 1 to 4 channels as a PNG file; raises ImageRefused.
#[pyfunction]
pub fn encode_png(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    height: usize,
    width: usize,
    channels: usize,
) -> PyResult<Block> {
    let view = ArrayView::<u8>::from_object(samples)?;
    let samples = view.as_slice();
    let encoded = py.detach(|| {
        let mut worker = WorkerState::take_idle();
        let mut out = Vec::new();
        let encoded = worker.png_encoder.encode(samples, Size { width, height }, channels, &mut out);
        worker.return_to_idle();
        encoded.map(|()| out)
    });
    encoded.map(Block::from_bytes).map_err(image_error)
}
