//! Entry points of JPEG images.
use pyo3::prelude::*;
use recordmill_image::batch;

use super::payloads::Payloads;
use crate::buffers::Block;

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
