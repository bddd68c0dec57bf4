//! Batches of encoded images.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch;
use recordmill_image::batch::{DecodeOptions, Decoded, Element, Job, decode_each, decode_into, describe};
use recordmill_image::fault::Result as Outcome;

use super::args::{JobArgs, Payloads, ReadingArgs};
use super::{Parts, parts};
use crate::buffers::{Block, Numbers, ViewMut};

pub(super) type Faults = Vec<(usize, Parts)>;

/// Width, height, decoded width and height, orientation, channels and whether it can be scaled, of each image; what
/// cannot be read, by row.
#[pyfunction]
pub fn image_headers(
    py: Python<'_>,
    payloads: Payloads<'_>,
    reading: ReadingArgs,
    upright: bool,
) -> PyResult<(Block, Faults)> {
    let (views, reading) = (payloads.views()?, reading.reading()?);
    let payloads = views.slices()?;
    let (table, faults) = py.detach(|| headers(&payloads, &reading, upright));
    Ok((Block::integers(table), faults))
}

fn headers(payloads: &[&[u8]], reading: &DecodeOptions, upright: bool) -> (Vec<i64>, Faults) {
    let (mut table, mut faults) = (Vec::with_capacity(7 * payloads.len()), Vec::new());
    for (row, data) in payloads.iter().enumerate() {
        let numbers = match describe(data, reading, upright) {
            Ok(found) => {
                let (size, decoded) = (found.size, found.decoded);
                let sides = [size.width, size.height, decoded.width, decoded.height];
                let [a, b, c, d] = sides.map(|side| side as i64);
                [a, b, c, d, i64::from(found.orientation), found.channels as i64, i64::from(found.scalable)]
            }
            Err(fault) => {
                faults.push((row, parts(fault)));
                [0; 7]
            }
        };
        table.extend(numbers);
    }
    (table, faults)
}

/// Calls `$run` with the job that `$args` describe.
macro_rules! with_job {
    ($py:ident, $args:ident, $run:expr) => {{
        let views = $args.payloads.views()?;
        let payloads = views.slices()?;
        $crate::image::batch::with_payloads!($py, $args, &payloads, $run)
    }};
}

/// The same with payloads that are not the arguments' own.
macro_rules! with_payloads {
    ($py:ident, $args:ident, $payloads:expr, $run:expr) => {{
        let (geometry, colors) = ($args.moves($py)?, $args.colors($py)?);
        let tables = $args.points.views()?;
        let points = tables.slices()?;
        let job = recordmill_image::batch::Job {
            payloads: $payloads,
            points: &points,
            decode_options: $args.reading.reading()?,
            geometry: &geometry,
            kernel: $args.kernel()?,
            padding: $args.beyond()?,
            sampling: $args.sampling()?,
            warp_fill: $args.warp_fill.clone(),
            colors: &colors,
            output_format: $args.finish()?,
        };
        $py.detach(|| $run(&job))
    }};
}

pub(super) use {with_job, with_payloads};

/// Decodes images into `out`, an array of equal parts; float16 comes as uint16. Returns the rows that failed.
#[pyfunction]
pub fn decode_images(
    py: Python<'_>,
    job: JobArgs<'_>,
    dtype: &str,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Faults> {
    match dtype {
        "uint8" => fill::<u8>(py, &job, out, threads),
        "uint16" | "float16" => fill::<u16>(py, &job, out, threads),
        "float32" => fill::<f32>(py, &job, out, threads),
        other => Err(PyValueError::new_err(format!("dtype is not {other:?}"))),
    }
}

fn fill<T: Element + pyo3::buffer::Element>(
    py: Python<'_>,
    args: &JobArgs<'_>,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Faults> {
    let mut out = ViewMut::<T>::get(out)?;
    let memory = out.slice();
    let count = args.payloads.len()?;
    if count > 0 && !memory.len().is_multiple_of(count) {
        return Err(PyValueError::new_err("the output must have equal parts for all payloads"));
    }
    let faults = with_job!(py, args, |job: &Job| decode_into(job, memory, threads));
    Ok(faults.into_iter().map(|(row, fault)| (row, parts(fault))).collect())
}

pub(super) type Each = (Option<(Block, usize, usize, usize)>, Option<Parts>);

/// Decodes images one by one: for each (values, height, width, channels) or None, and the fault or None.
#[pyfunction]
pub fn decode_each_image(py: Python<'_>, job: JobArgs<'_>, dtype: &str, threads: usize) -> PyResult<Vec<Each>> {
    match dtype {
        "uint8" => each(py, &job, threads, Numbers::UInt8),
        "uint16" | "float16" => each(py, &job, threads, Numbers::UInt16),
        "float32" => each(py, &job, threads, Numbers::Float32),
        other => Err(PyValueError::new_err(format!("dtype is not {other:?}"))),
    }
}

fn each<T: Element>(
    py: Python<'_>,
    args: &JobArgs<'_>,
    threads: usize,
    wrap: fn(Vec<T>) -> Numbers,
) -> PyResult<Vec<Each>> {
    let images: Vec<Outcome<Decoded<T>>> = with_job!(py, args, |job: &Job| decode_each(job, threads));
    let each = images.into_iter().map(|image| match image {
        Ok(image) => {
            let shape = (Block::new(wrap(image.values)), image.size.height, image.size.width, image.channels);
            (Some(shape), None)
        }
        Err(fault) => (None, Some(parts(fault))),
    });
    Ok(each.collect())
}

// Entry points of JPEG images.

/// Entry points of the images that are the rows of `data`, as bytes and their row splits; an empty row where there are none.
#[pyfunction]
pub fn entry_points(
    py: Python<'_>,
    data: Bound<'_, PyAny>,
    row_splits: Bound<'_, PyAny>,
    share: f64,
    fixed: usize,
    threads: usize,
) -> PyResult<(Block, Block)> {
    let views = Payloads::Rows(data, row_splits).views()?;
    let payloads = views.slices()?;
    let tables = py.detach(|| batch::entry_points(&payloads, share, fixed, threads));
    let mut ends = vec![0];
    ends.extend(tables.iter().scan(0, |end, table| {
        *end += table.len() as i64;
        Some(*end)
    }));
    Ok((Block::bytes(tables.concat()), Block::integers(ends)))
}
