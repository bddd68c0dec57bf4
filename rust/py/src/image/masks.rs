//! Decoding of batches of masks.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{Class, Job, MaskPlan, decode_masks_into};
use recordmill_image::memory;
use recordmill_image::pixels::Size;

use super::args::{ImagePlanArgs, unsupported_choice};
use super::batch::{ImageOrFault, RowFaults, collect_images, collect_row_faults, with_job};
use super::kernels::parse_nearest;
use crate::buffers::{ArrayViewMut, NumberVec, copy_array, memory_error};

const MASK_DTYPES: [&str; 4] = ["uint8", "uint16", "int32", "int64"];

/// The Python `MaskPlan`: how each mask of a batch is processed.
///
/// If the masks follow the geometry of images, `sizes` has four numbers per mask: width and height of the upright
/// image, and the width and height at which the image is decoded.
#[derive(FromPyObject)]
pub struct MaskPlanArgs<'py> {
    job: ImagePlanArgs<'py>,
    upright: bool,
    sizes: Option<Bound<'py, PyAny>>,
    fit: bool,
    rule: String,
}

impl MaskPlanArgs<'_> {
    fn parse_plan(&self, py: Python<'_>) -> PyResult<MaskPlan> {
        let sizes = self.sizes.as_ref().map(|sizes| copy_array::<i64>(py, sizes)).transpose()?.unwrap_or_default();
        if self.sizes.is_some() && sizes.len() != 4 * self.job.payloads.num_images()? {
            return Err(PyValueError::new_err("sizes must have four numbers for every mask"));
        }
        let side = |number: i64| usize::try_from(number).unwrap_or(0);
        let size = |width: i64, height: i64| Size { width: side(width), height: side(height) };
        let pairs = sizes.as_chunks::<4>().0.iter().map(|[a, b, c, d]| (size(*a, *b), size(*c, *d)));
        let sizes = memory::collect(pairs).map_err(memory_error)?;
        Ok(MaskPlan { upright: self.upright, sizes, fit: self.fit, rule: parse_nearest(&self.rule)? })
    }
}

/// Decode masks into `out`, which has room for the same number of values per mask. Returns the faults with their rows.
#[pyfunction]
pub fn decode_masks(
    py: Python<'_>,
    masks: MaskPlanArgs<'_>,
    dtype: &str,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<RowFaults> {
    match dtype {
        "uint8" => decode_into_array::<u8>(py, &masks, out, threads),
        "uint16" => decode_into_array::<u16>(py, &masks, out, threads),
        "int32" => decode_into_array::<i32>(py, &masks, out, threads),
        "int64" => decode_into_array::<i64>(py, &masks, out, threads),
        other => Err(unsupported_choice("dtype", &MASK_DTYPES, other)),
    }
}

fn decode_into_array<C: Class + pyo3::buffer::Element>(
    py: Python<'_>,
    masks: &MaskPlanArgs<'_>,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<RowFaults> {
    let (mut out, plan, args) = (ArrayViewMut::<C>::from_object(out)?, masks.parse_plan(py)?, &masks.job);
    args.check_no_overlap(&out)?;
    let memory = out.as_slice();
    let count = args.payloads.num_images()?;
    if count > 0 && !memory.len().is_multiple_of(count) {
        return Err(PyValueError::new_err("the size of the output must be a multiple of the number of payloads"));
    }
    collect_row_faults(with_job!(py, args, |job: &Job| decode_masks_into(job, &plan, memory, threads)))
}

/// Decode masks to separate arrays: for each mask ((values, height, width, 1) or None, fault or None).
#[pyfunction]
pub fn decode_each_mask(
    py: Python<'_>,
    masks: MaskPlanArgs<'_>,
    dtype: &str,
    threads: usize,
) -> PyResult<Vec<ImageOrFault>> {
    match dtype {
        "uint8" => decode_to_arrays::<u8>(py, &masks, threads, NumberVec::UInt8),
        "uint16" => decode_to_arrays::<u16>(py, &masks, threads, NumberVec::UInt16),
        "int32" => decode_to_arrays::<i32>(py, &masks, threads, NumberVec::Int32),
        "int64" => decode_to_arrays::<i64>(py, &masks, threads, NumberVec::Int64),
        other => Err(unsupported_choice("dtype", &MASK_DTYPES, other)),
    }
}

fn decode_to_arrays<C: Class>(
    py: Python<'_>,
    masks: &MaskPlanArgs<'_>,
    threads: usize,
    wrap: fn(Vec<C>) -> NumberVec,
) -> PyResult<Vec<ImageOrFault>> {
    let (plan, args) = (masks.parse_plan(py)?, &masks.job);
    let masks = with_job!(py, args, |job: &Job| recordmill_image::batch::decode_each_mask(job, &plan, threads));
    collect_images(masks, wrap)
}
