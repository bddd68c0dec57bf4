//! Entry points of JPEG images.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch;

use crate::buffers::{Block, View};

/// Entry points of the images that are the rows of `data`, as bytes and their row splits; an empty row where there are none.
#[pyfunction]
pub fn entry_points(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    share: f64,
    fixed: usize,
    threads: usize,
) -> PyResult<(Block, Block)> {
    let (data, splits) = (View::<u8>::get(data)?, View::<i64>::get(row_splits)?);
    let payloads = rows(data.slice(), splits.slice())?;
    let tables = py.detach(|| batch::entry_points(&payloads, share, fixed, threads));
    let mut ends = vec![0];
    ends.extend(tables.iter().scan(0, |end, table| {
        *end += table.len() as i64;
        Some(*end)
    }));
    Ok((Block::bytes(tables.concat()), Block::integers(ends)))
}

fn rows<'a>(data: &'a [u8], splits: &[i64]) -> PyResult<Vec<&'a [u8]>> {
    let row = |bounds: &[i64]| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        data.get(start..end)
    };
    let rows: Option<Vec<_>> = splits.windows(2).map(row).collect();
    rows.ok_or_else(|| PyValueError::new_err("row splits must rise within the data"))
}
