//! Sums of floats that keep what additions lose.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::collate::sums::{self, Addend, Block as Shape};

use super::refused;
use crate::buffers::{Block, Numbers, View};

/// Sums along the middle of three axes of a flat array; raises ImageRefused.
#[pyfunction]
pub fn add_compensated(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    source: &str,
    before: usize,
    among: usize,
    after: usize,
) -> PyResult<Block> {
    let shape = Shape { before, among, after };
    match source {
        "float32" => added(py, values, shape, Numbers::Float32),
        "float64" => added(py, values, shape, Numbers::Float64),
        other => Err(PyValueError::new_err(format!("sums are not of {other:?}"))),
    }
}

fn added<T: Addend + pyo3::buffer::Element + Send + Sync>(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    shape: Shape,
    wrap: fn(Vec<T>) -> Numbers,
) -> PyResult<Block> {
    let view = View::<T>::get(values)?;
    let values = view.slice();
    let sums = py.detach(|| sums::along(values, shape)).map_err(refused)?;
    Ok(Block::new(wrap(sums)))
}
