//! Records that follow one another, each read straight to its byte string.
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use recordmill_core::framing::Single;

use crate::error::source_error;
use crate::framing::PyFrameKind;
use crate::source::Source;
use crate::unfilled::Strings;

/// Bytes after which a call ends.
const MOST: usize = 256 << 10;

/// A payload and where its record begins.
type Placed = (u64, Py<PyBytes>);

/// Records from `start` on, with the offset of each, and where the next one begins. Ends before a record of less than `shortest`
/// bytes, and before any that is not plainly sound: `scan` and `fetch` tell what there is.
#[pyfunction]
#[pyo3(signature = (source, kind, start, max_records, *, shortest=0, verify=true))]
pub fn read_singles(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    start: u64,
    max_records: usize,
    shortest: usize,
    verify: bool,
) -> PyResult<(Vec<Placed>, u64)> {
    let plain = source.plain();
    let (strings, mut offsets, mut at, mut num_bytes) = (Strings::default(), Vec::new(), start, 0);
    while offsets.len() < max_records && num_bytes < MOST {
        let found = py.detach(|| Single::look(plain, kind.into(), at)).filter(|single| single.num_bytes() >= shortest);
        let Some(single) = found else { break };
        let mut place = strings.make(py, single.num_bytes())?;
        if py.detach(|| single.read(plain, verify, place.memory())).is_none() {
            break;
        }
        offsets.push(at);
        num_bytes += single.num_bytes();
        at = single.end();
    }
    py.detach(|| plain.check_unchanged()).map_err(|error| source_error(error, None))?;
    Ok((offsets.into_iter().zip(strings.into_inner()).collect(), at))
}
