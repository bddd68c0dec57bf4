//! Batches of encoded masks.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{Class, Decoded, Job, MaskPlan, masks_each, masks_into};
use recordmill_image::fault::Result as Outcome;
use recordmill_image::pixels::Size;

use super::args::JobArgs;
use super::batch::{Each, Faults, with_job};
use super::kernels::rule_of;
use super::parts;
use crate::buffers::{Block, Numbers, ViewMut, vector};

/// What masks need beside a job; `sizes` has four numbers for each mask that follows an image: width and height of the
/// upright image, and those at which it is decoded.
#[derive(FromPyObject)]
pub struct MaskArgs<'py> {
    job: JobArgs<'py>,
    upright: bool,
    sizes: Option<Bound<'py, PyAny>>,
    fit: bool,
    rule: String,
}

impl MaskArgs<'_> {
    fn plan(&self, py: Python<'_>) -> PyResult<MaskPlan> {
        let sizes = self.sizes.as_ref().map(|sizes| vector::<i64>(py, sizes)).transpose()?.unwrap_or_default();
        if self.sizes.is_some() && sizes.len() != 4 * self.job.payloads.len()? {
            return Err(PyValueError::new_err("sizes has four numbers for every mask"));
        }
        let side = |number: i64| usize::try_from(number).unwrap_or(0);
        let size = |width: i64, height: i64| Size { width: side(width), height: side(height) };
        let pairs = sizes.as_chunks::<4>().0.iter().map(|[a, b, c, d]| (size(*a, *b), size(*c, *d)));
        Ok(MaskPlan { upright: self.upright, sizes: pairs.collect(), fit: self.fit, rule: rule_of(&self.rule)? })
    }
}

/// Decodes masks into `out`, an array of equal parts. Returns the rows that failed.
#[pyfunction]
pub fn decode_masks(
    py: Python<'_>,
    masks: MaskArgs<'_>,
    dtype: &str,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Faults> {
    match dtype {
        "uint8" => fill::<u8>(py, &masks, out, threads),
        "uint16" => fill::<u16>(py, &masks, out, threads),
        "int32" => fill::<i32>(py, &masks, out, threads),
        "int64" => fill::<i64>(py, &masks, out, threads),
        other => Err(PyValueError::new_err(format!("dtype is not {other:?}"))),
    }
}

fn fill<C: Class + pyo3::buffer::Element>(
    py: Python<'_>,
    masks: &MaskArgs<'_>,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Faults> {
    let (mut out, plan, args) = (ViewMut::<C>::get(out)?, masks.plan(py)?, &masks.job);
    let memory = out.slice();
    let count = args.payloads.len()?;
    if count > 0 && !memory.len().is_multiple_of(count) {
        return Err(PyValueError::new_err("the output must have equal parts for all payloads"));
    }
    let faults = with_job!(py, args, |job: &Job| masks_into(job, &plan, memory, threads));
    Ok(faults.into_iter().map(|(row, fault)| (row, parts(fault))).collect())
}

/// Decodes masks one by one: for each (values, height, width, 1) or None, and the fault or None.
#[pyfunction]
pub fn decode_each_mask(py: Python<'_>, masks: MaskArgs<'_>, dtype: &str, threads: usize) -> PyResult<Vec<Each>> {
    match dtype {
        "uint8" => each::<u8>(py, &masks, threads, Numbers::UInt8),
        "uint16" => each::<u16>(py, &masks, threads, Numbers::UInt16),
        "int32" => each::<i32>(py, &masks, threads, Numbers::Int32),
        "int64" => each::<i64>(py, &masks, threads, Numbers::Int64),
        other => Err(PyValueError::new_err(format!("dtype is not {other:?}"))),
    }
}

fn each<C: Class>(
    py: Python<'_>,
    masks: &MaskArgs<'_>,
    threads: usize,
    wrap: fn(Vec<C>) -> Numbers,
) -> PyResult<Vec<Each>> {
    let (plan, args) = (masks.plan(py)?, &masks.job);
    let found: Vec<Outcome<Decoded<C>>> = with_job!(py, args, |job: &Job| masks_each(job, &plan, threads));
    let each = found.into_iter().map(|mask| match mask {
        Ok(mask) => (Some((Block::new(wrap(mask.values)), mask.size.height, mask.size.width, 1)), None),
        Err(fault) => (None, Some(parts(fault))),
    });
    Ok(each.collect())
}
