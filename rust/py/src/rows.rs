//! Rows of different lengths in one buffer: validation, splitting, checksums and padding.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use recordmill_core::checksum::crc32c_of_rows;
use recordmill_core::memory::{self, OutOfMemory};

use crate::buffers::{ArrayView, Block, copy_array, take_pooled_buffer, with_elements};
use crate::byte_strings::ByteString;
use crate::error::{fault_error, out_of_memory_error};

/// Checks that row splits start with 0, never decrease and end with the length of the data.
pub fn check_row_splits(row_splits: &[i64], length: usize) -> PyResult<()> {
    let is_valid = row_splits.first() == Some(&0)
        && row_splits.last() == Some(&(length as i64))
        && row_splits.windows(2).all(|pair| pair[0] <= pair[1]);
    if is_valid {
        Ok(())
    } else {
        Err(PyValueError::new_err("row_splits must be non-decreasing, from 0 to the length of the data"))
    }
}

/// Return the rows of a ragged byte buffer as a list of `bytes`.
#[pyfunction]
pub fn split<'py>(
    py: Python<'py>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let row_splits = copy_array::<i64>(py, row_splits)?;
    let mut rows = memory::with_capacity(row_splits.len()).map_err(out_of_memory_error)?;
    // Creating `bytes` objects runs no Python code.
    with_elements(data, |data: &[u8]| {
        check_row_splits(&row_splits, data.len())?;
        for (ordinal, pair) in row_splits.windows(2).enumerate() {
            let row = &data[pair[0] as usize..pair[1] as usize];
            let memory_error = |_| fault_error(OutOfMemory { num_bytes: row.len() }.into(), Some(ordinal));
            rows.push(ByteString(row).into_pyobject(py).map_err(memory_error)?);
        }
        PyResult::Ok(())
    })??;
    PyList::new(py, rows)
}

/// Return the CRC-32C of each row of a ragged byte buffer.
#[pyfunction]
pub fn row_checksums(py: Python<'_>, data: &Bound<'_, PyAny>, row_splits: &Bound<'_, PyAny>) -> PyResult<Block> {
    let view = ArrayView::<u8>::from_object(data)?;
    let row_splits = copy_array::<i64>(py, row_splits)?;
    let data = view.as_slice();
    check_row_splits(&row_splits, data.len())?;
    let checksums = py.detach(|| {
        let rows = row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]);
        let rows = memory::collect(rows)?;
        let mut checksums = memory::filled(rows.len(), 0)?;
        crc32c_of_rows(&rows, &mut checksums);
        memory::collect(checksums.into_iter().map(i64::from))
    });
    Ok(Block::from_integers(checksums.map_err(out_of_memory_error)?))
}

/// Pad the rows of a ragged buffer to the same number of items: (data, number of items per row).
///
/// The number of items per row is `width`, or that of the longest row if `width` is None. Longer rows are truncated;
/// shorter rows are filled with `fill`, the bytes of one item.
#[pyfunction]
pub fn pad(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    width: Option<usize>,
    fill: &[u8],
) -> PyResult<(Block, usize)> {
    let view = ArrayView::<u8>::from_object(data)?;
    let splits = ArrayView::<i64>::from_object(row_splits)?;
    let (data, row_splits) = (view.as_slice(), splits.as_slice());
    if fill.is_empty() || !data.len().is_multiple_of(fill.len()) {
        return Err(PyValueError::new_err("the length of the data must be a multiple of the length of fill"));
    }
    check_row_splits(row_splits, data.len() / fill.len())?;
    let width =
        width.unwrap_or_else(|| row_splits.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0));
    let num_bytes = width.checked_mul(fill.len()).and_then(|bytes| bytes.checked_mul(row_splits.len() - 1));
    let num_bytes = num_bytes.filter(|&size| size <= isize::MAX as usize);
    let num_bytes = num_bytes.ok_or_else(|| PyValueError::new_err("the padded rows do not fit into memory"))?;
    let padded = py.detach(|| {
        let mut out = take_pooled_buffer();
        out.clear();
        memory::reserve(&mut out, num_bytes)?;
        let width = if num_bytes == 0 { 0 } else { width };
        let mut padding = memory::with_capacity(width * fill.len())?;
        (0..width).for_each(|_| padding.extend_from_slice(fill));
        for pair in row_splits.windows(2) {
            let row = &data[pair[0] as usize * fill.len()..pair[1] as usize * fill.len()];
            let row_len = row.len().min(padding.len());
            out.extend_from_slice(&row[..row_len]);
            out.extend_from_slice(&padding[row_len..]);
        }
        Ok::<_, OutOfMemory>(out)
    });
    let padded = padded.map_err(out_of_memory_error)?;
    Ok((Block::from_bytes(padded), width))
}
