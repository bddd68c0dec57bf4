//! Rows of different lengths in one buffer: checked, listed, summed, padded.
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use recordmill_core::checksum::crc32c_of_rows;

use crate::buffers::{Block, View, take_buffer, vector};

/// Row splits that begin with 0, never fall and end with the length of the data.
pub fn check_row_splits(row_splits: &[i64], length: usize) -> PyResult<()> {
    let sound = row_splits.first() == Some(&0)
        && row_splits.last() == Some(&(length as i64))
        && row_splits.windows(2).all(|pair| pair[0] <= pair[1]);
    if sound { Ok(()) } else { Err(PyValueError::new_err("row_splits must rise from 0 to the length of the data")) }
}

/// The rows of a ragged byte buffer as a list of `bytes`.
#[pyfunction]
pub fn split<'py>(
    py: Python<'py>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let view = View::<u8>::get(data)?;
    let row_splits = View::<i64>::get(row_splits)?;
    let (data, row_splits) = (view.slice(), row_splits.slice());
    check_row_splits(row_splits, data.len())?;
    PyList::new(py, row_splits.windows(2).map(|pair| PyBytes::new(py, &data[pair[0] as usize..pair[1] as usize])))
}

/// CRC-32C of every row of a ragged byte buffer.
#[pyfunction]
pub fn row_checksums(py: Python<'_>, data: &Bound<'_, PyAny>, row_splits: &Bound<'_, PyAny>) -> PyResult<Block> {
    let view = View::<u8>::get(data)?;
    let row_splits = vector::<i64>(py, row_splits)?;
    let data = view.slice();
    check_row_splits(&row_splits, data.len())?;
    let sums = py.detach(|| {
        let rows: Vec<_> = row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]).collect();
        let mut sums = vec![0; rows.len()];
        crc32c_of_rows(&rows, &mut sums);
        sums.into_iter().map(i64::from).collect()
    });
    Ok(Block::integers(sums))
}

/// The rows of a ragged buffer side by side, and how many items each has: `width`, or as many as the longest. Longer rows are
/// cut, shorter ones filled up with `fill`, which is one item.
#[pyfunction]
pub fn pad(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    width: Option<usize>,
    fill: &[u8],
) -> PyResult<(Block, usize)> {
    let view = View::<u8>::get(data)?;
    let splits = View::<i64>::get(row_splits)?;
    let (data, row_splits) = (view.slice(), splits.slice());
    if fill.is_empty() || !data.len().is_multiple_of(fill.len()) {
        return Err(PyValueError::new_err("the data must be whole items, each as long as the filling"));
    }
    check_row_splits(row_splits, data.len() / fill.len())?;
    let width =
        width.unwrap_or_else(|| row_splits.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0));
    let num_bytes = width.checked_mul(fill.len()).and_then(|bytes| bytes.checked_mul(row_splits.len() - 1));
    let num_bytes = num_bytes.filter(|&size| size <= isize::MAX as usize);
    let num_bytes = num_bytes.ok_or_else(|| PyValueError::new_err("the padded rows do not fit into memory"))?;
    let padded = py.detach(|| {
        let mut out = take_buffer();
        out.clear();
        out.try_reserve_exact(num_bytes).map_err(|_| PyMemoryError::new_err("no memory for the padded rows"))?;
        let filling = fill.repeat(if num_bytes == 0 { 0 } else { width });
        for pair in row_splits.windows(2) {
            let row = &data[pair[0] as usize * fill.len()..pair[1] as usize * fill.len()];
            let kept = row.len().min(filling.len());
            out.extend_from_slice(&row[..kept]);
            out.extend_from_slice(&filling[kept..]);
        }
        Ok::<_, PyErr>(out)
    })?;
    Ok((Block::bytes(padded), width))
}
