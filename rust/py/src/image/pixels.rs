//! Processing of pixels in memory by the steps that follow decoding: geometry, colors, output format.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{Element, Job, SourcePixel, transform_pixels};
use recordmill_image::memory;
use recordmill_image::pixels::Size;

use super::args::{ImagePlanArgs, unsupported_choice};
use super::batch::{DTYPES, with_payloads};
use super::image_error;
use crate::buffers::{ArrayView, Block, NumberVec, memory_error};

/// Values, height, width, channels.
type Image = (Block, usize, usize, usize);

/// Apply the steps after decoding to the pixels of one image; `job` must describe one image. Raises ImageRefused.
#[pyfunction]
pub fn change_image(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    source: &str,
    job: ImagePlanArgs<'_>,
    dtype: &str,
) -> PyResult<Image> {
    match source {
        "uint8" => change_array::<u8>(py, pixels, shape, &job, dtype),
        "uint16" => change_array::<u16>(py, pixels, shape, &job, dtype),
        "float32" => change_array::<f32>(py, pixels, shape, &job, dtype),
        other => Err(unsupported_choice("source", &["uint8", "uint16", "float32"], other)),
    }
}

fn change_array<S: SourcePixel + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    job: &ImagePlanArgs<'_>,
    dtype: &str,
) -> PyResult<Image> {
    let view = ArrayView::<S>::from_object(pixels)?;
    let values = view.as_slice();
    match dtype {
        "uint8" => change_values::<S, u8>(py, values, shape, job, NumberVec::UInt8),
        "uint16" | "float16" => change_values::<S, u16>(py, values, shape, job, NumberVec::UInt16),
        "float32" => change_values::<S, f32>(py, values, shape, job, NumberVec::Float32),
        other => Err(unsupported_choice("dtype", &DTYPES, other)),
    }
}

fn change_values<S: SourcePixel, T: Element>(
    py: Python<'_>,
    values: &[S],
    (height, width, channels): (usize, usize, usize),
    args: &ImagePlanArgs<'_>,
    wrap: fn(Vec<T>) -> NumberVec,
) -> PyResult<Image> {
    let mut values = memory::copy(values).map_err(memory_error)?;
    let size = Size { width, height };
    let mut run = |job: &Job| match job.geometry {
        [_] => transform_pixels::<S, T>(&mut values, size, channels, job).map(Some),
        _ => Ok(None),
    };
    let output = with_payloads!(py, args, &[], run).map_err(image_error)?;
    let output = output.ok_or_else(|| PyValueError::new_err("the job must describe one image"))?;
    Ok((Block::new(wrap(output.values)), output.size.height, output.size.width, output.channels))
}
