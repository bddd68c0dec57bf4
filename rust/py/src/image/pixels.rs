//! The steps behind decoding, on pixels in memory.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{Element, Job, SourcePixel, change_pixels};
use recordmill_image::pixels::Size;

use super::args::JobArgs;
use super::batch::with_payloads;
use super::refused;
use crate::buffers::{Block, Numbers, View};

/// Values, height, width, channels.
type Image = (Block, usize, usize, usize);

/// Does to the pixels of one image what a job says of its only image. Raises ImageRefused.
#[pyfunction]
pub fn change_image(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    source: &str,
    job: JobArgs<'_>,
    dtype: &str,
) -> PyResult<Image> {
    match source {
        "uint8" => changed::<u8>(py, pixels, shape, &job, dtype),
        "uint16" => changed::<u16>(py, pixels, shape, &job, dtype),
        "float32" => changed::<f32>(py, pixels, shape, &job, dtype),
        other => Err(PyValueError::new_err(format!("pixels are not {other:?}"))),
    }
}

fn changed<S: SourcePixel + pyo3::buffer::Element>(
    py: Python<'_>,
    pixels: &Bound<'_, PyAny>,
    shape: (usize, usize, usize),
    job: &JobArgs<'_>,
    dtype: &str,
) -> PyResult<Image> {
    let view = View::<S>::get(pixels)?;
    let values = view.slice();
    match dtype {
        "uint8" => written::<S, u8>(py, values, shape, job, Numbers::UInt8),
        "uint16" | "float16" => written::<S, u16>(py, values, shape, job, Numbers::UInt16),
        "float32" => written::<S, f32>(py, values, shape, job, Numbers::Float32),
        other => Err(PyValueError::new_err(format!("dtype is not {other:?}"))),
    }
}

fn written<S: SourcePixel, T: Element>(
    py: Python<'_>,
    values: &[S],
    (height, width, channels): (usize, usize, usize),
    args: &JobArgs<'_>,
    wrap: fn(Vec<T>) -> Numbers,
) -> PyResult<Image> {
    let mut values = values.to_vec();
    let size = Size { width, height };
    let mut run = |job: &Job| match job.geometry {
        [_] => change_pixels::<S, T>(&mut values, size, channels, job).map(Some),
        _ => Ok(None),
    };
    let made = with_payloads!(py, args, &[], run).map_err(refused)?;
    let made = made.ok_or_else(|| PyValueError::new_err("the plan is for one image"))?;
    Ok((Block::new(wrap(made.values)), made.size.height, made.size.width, made.channels))
}
