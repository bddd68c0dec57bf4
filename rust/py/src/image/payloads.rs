//! Encoded images as they are handed over: rows of one buffer, or a buffer each.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::buffers::View;

/// What Python gives: `(data, row_splits)`, or a list of buffers.
#[derive(FromPyObject)]
pub enum Payloads<'py> {
    /// One behind another in one buffer.
    Rows(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// Each by itself.
    #[pyo3(transparent)]
    Each(Vec<Bound<'py, PyAny>>),
}

/// The same, held while it is read.
pub enum Views {
    /// Bytes, and where rows begin and end.
    Rows(View<u8>, View<i64>),
    /// Bytes of each.
    Each(Vec<View<u8>>),
}

impl Payloads<'_> {
    /// How many there are.
    pub fn len(&self) -> PyResult<usize> {
        match self {
            Self::Rows(_, splits) => Ok(splits.len()?.saturating_sub(1)),
            Self::Each(buffers) => Ok(buffers.len()),
        }
    }

    /// Their memory.
    pub fn views(&self) -> PyResult<Views> {
        match self {
            Self::Rows(data, splits) => Ok(Views::Rows(View::get(data)?, View::get(splits)?)),
            Self::Each(buffers) => Ok(Views::Each(buffers.iter().map(View::get).collect::<PyResult<_>>()?)),
        }
    }
}

impl Views {
    /// Bytes of each.
    pub fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Self::Rows(data, splits) => rows(data.slice(), splits.slice()),
            Self::Each(buffers) => Ok(buffers.iter().map(View::slice).collect()),
        }
    }
}

/// Rows of a buffer, none of which may lie outside.
fn rows<'a>(data: &'a [u8], splits: &[i64]) -> PyResult<Vec<&'a [u8]>> {
    let row = |bounds: &[i64]| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        data.get(start..end)
    };
    let rows: Option<Vec<_>> = splits.windows(2).map(row).collect();
    rows.ok_or_else(|| PyValueError::new_err("row splits must rise within the data"))
}
