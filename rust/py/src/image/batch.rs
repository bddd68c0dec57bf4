//! Decoding of batches of images, and entry points of JPEG images.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch;
use recordmill_image::batch::{
    DecodeOptions, Decoded, Element, Job, NumberedImages, decode_each, decode_into, read_image_info,
};
use recordmill_image::fault::ImageFault;
use recordmill_image::memory::{self, OutOfMemory};

use super::args::{DecodeOptionArgs, EncodedImages, ImagePlanArgs, unsupported_choice};
use super::{FaultTuple, fault_tuple, row_memory_error};
use crate::buffers::{ArrayViewMut, Block, NumberVec, memory_error};

pub(super) const DTYPES: [&str; 4] = ["uint8", "uint16", "float16", "float32"];

/// Faults, each with the row of its image.
pub(super) type RowFaults = Vec<(usize, FaultTuple)>;

/// Read the headers of images: (table with seven columns, faults by row).
///
/// The columns are width, height, decoded width, decoded height, orientation, channels, and whether the image can be
/// decoded at a smaller scale. All columns are 0 for an image with a fault.
#[pyfunction]
pub fn image_headers(
    py: Python<'_>,
    payloads: EncodedImages<'_>,
    reading: DecodeOptionArgs,
    upright: bool,
) -> PyResult<(Block, RowFaults)> {
    let (views, reading) = (payloads.get_views()?, reading.parse_options()?);
    let payloads = views.as_slices()?;
    let (table, faults) = py.detach(|| build_header_table(&payloads, &reading, upright)).map_err(memory_error)?;
    Ok((Block::from_integers(table), faults))
}

fn build_header_table(
    payloads: &[&[u8]],
    reading: &DecodeOptions,
    upright: bool,
) -> Result<(Vec<i64>, RowFaults), OutOfMemory> {
    let (mut table, mut faults) = (memory::with_capacity(7 * payloads.len())?, Vec::new());
    for (row, data) in payloads.iter().enumerate() {
        let numbers = match read_image_info(data, reading, upright) {
            Ok(info) => {
                let (size, decoded) = (info.size, info.decoded);
                let sides = [size.width, size.height, decoded.width, decoded.height];
                let [a, b, c, d] = sides.map(|side| side as i64);
                [a, b, c, d, i64::from(info.orientation), info.channels as i64, i64::from(info.scalable)]
            }
            Err(fault) => {
                memory::push(&mut faults, (row, fault_tuple(fault)))?;
                [0; 7]
            }
        };
        table.extend(numbers);
    }
    Ok((table, faults))
}

/// Converts `$args`, an `ImagePlanArgs`, to a `Job`, and calls `$run` with it, without the interpreter lock.
macro_rules! with_job {
    ($py:ident, $args:ident, $run:expr) => {{
        let views = $args.payloads.get_views()?;
        let payloads = views.as_slices()?;
        $crate::image::batch::with_payloads!($py, $args, &payloads, $run)
    }};
}

/// Like `with_job`, but the job has the payloads `$payloads` instead of those in `$args`.
macro_rules! with_payloads {
    ($py:ident, $args:ident, $payloads:expr, $run:expr) => {{
        let (geometry, colors) = ($args.parse_geometry($py)?, $args.parse_colors($py)?);
        let tables = $args.points.get_views()?;
        let points = tables.as_slices()?;
        let job = recordmill_image::batch::Job {
            payloads: $payloads,
            points: &points,
            decode_options: $args.reading.parse_options()?,
            geometry: &geometry,
            kernel: $args.parse_kernel()?,
            padding: $args.parse_padding()?,
            sampling: $args.parse_sampling()?,
            warp_fill: $args.warp_fill.clone(),
            colors: &colors,
            output_format: $args.parse_output_format()?,
        };
        $py.detach(|| $run(&job))
    }};
}

pub(super) use {with_job, with_payloads};

/// Decode images into `out`, which has room for the same number of values per image. Returns the faults with their
/// rows.
///
/// If `dtype` is float16, `out` is a uint16 array that receives the bits of the values.
#[pyfunction]
pub fn decode_images(
    py: Python<'_>,
    job: ImagePlanArgs<'_>,
    dtype: &str,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<RowFaults> {
    match dtype {
        "uint8" => decode_into_array::<u8>(py, &job, out, threads),
        "uint16" | "float16" => decode_into_array::<u16>(py, &job, out, threads),
        "float32" => decode_into_array::<f32>(py, &job, out, threads),
        other => Err(unsupported_choice("dtype", &DTYPES, other)),
    }
}

fn decode_into_array<T: Element + pyo3::buffer::Element>(
    py: Python<'_>,
    args: &ImagePlanArgs<'_>,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<RowFaults> {
    let mut out = ArrayViewMut::<T>::from_object(out)?;
    args.check_no_overlap(&out)?;
    let memory = out.as_slice();
    let count = args.payloads.num_images()?;
    if count > 0 && !memory.len().is_multiple_of(count) {
        return Err(PyValueError::new_err("the size of the output must be a multiple of the number of payloads"));
    }
    let faults = with_job!(py, args, |job: &Job| decode_into(job, memory, threads));
    collect_row_faults(faults)
}

/// Converts the faults of a batch for Python.
pub(super) fn collect_row_faults(faults: Result<Vec<(usize, ImageFault)>, OutOfMemory>) -> PyResult<RowFaults> {
    let faults =
        faults.and_then(|faults| memory::collect(faults.into_iter().map(|(row, fault)| (row, fault_tuple(fault)))));
    faults.map_err(memory_error)
}

/// The values, height, width and channels of an image, or its fault.
pub(super) type ImageOrFault = (Option<(Block, usize, usize, usize)>, Option<FaultTuple>);

/// Decode images to separate arrays: for each image ((values, height, width, channels) or None, fault or None).
#[pyfunction]
pub fn decode_each_image(
    py: Python<'_>,
    job: ImagePlanArgs<'_>,
    dtype: &str,
    threads: usize,
) -> PyResult<Vec<ImageOrFault>> {
    match dtype {
        "uint8" => decode_to_arrays(py, &job, threads, NumberVec::UInt8),
        "uint16" | "float16" => decode_to_arrays(py, &job, threads, NumberVec::UInt16),
        "float32" => decode_to_arrays(py, &job, threads, NumberVec::Float32),
        other => Err(unsupported_choice("dtype", &DTYPES, other)),
    }
}

fn decode_to_arrays<T: Element>(
    py: Python<'_>,
    args: &ImagePlanArgs<'_>,
    threads: usize,
    wrap: fn(Vec<T>) -> NumberVec,
) -> PyResult<Vec<ImageOrFault>> {
    collect_images(with_job!(py, args, |job: &Job| decode_each(job, threads)), wrap)
}

/// Converts the images of a batch for Python.
pub(super) fn collect_images<T>(
    images: Result<NumberedImages<T>, OutOfMemory>,
    wrap: fn(Vec<T>) -> NumberVec,
) -> PyResult<Vec<ImageOrFault>> {
    let convert = |(_, image): (usize, Result<Decoded<T>, ImageFault>)| match image {
        Ok(image) => {
            let image = (Block::new(wrap(image.values)), image.size.height, image.size.width, image.channels);
            (Some(image), None)
        }
        Err(fault) => (None, Some(fault_tuple(fault))),
    };
    images.and_then(|images| memory::collect(images.into_iter().map(convert))).map_err(memory_error)
}

// Entry points of JPEG images.

/// Compute the entry points of the JPEG images in the rows of `data`: (tables, row_splits).
///
/// The row of an image without entry points is empty.
#[pyfunction]
pub fn entry_points(
    py: Python<'_>,
    data: Bound<'_, PyAny>,
    row_splits: Bound<'_, PyAny>,
    share: f64,
    fixed: usize,
    threads: usize,
) -> PyResult<(Block, Block)> {
    let views = EncodedImages::Rows(data, row_splits).get_views()?;
    let payloads = views.as_slices()?;
    let tables = py.detach(|| batch::build_entry_points(&payloads, share, fixed, threads));
    let tables = tables.map_err(|(row, fault)| row_memory_error(row, fault))?;
    let (joined, splits) = join_tables(&tables).map_err(memory_error)?;
    Ok((Block::from_bytes(joined), Block::from_integers(splits)))
}

/// Concatenates tables of entry points; returns their bytes and row splits.
fn join_tables(tables: &[Vec<u8>]) -> Result<(Vec<u8>, Vec<i64>), OutOfMemory> {
    let mut joined = memory::with_capacity(tables.iter().map(Vec::len).sum())?;
    let mut splits = memory::with_capacity(tables.len() + 1)?;
    splits.push(0);
    for table in tables {
        joined.extend_from_slice(table);
        splits.push(joined.len() as i64);
    }
    Ok((joined, splits))
}
