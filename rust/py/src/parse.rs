//! Parsing of payloads in memory: rows of one buffer, or `bytes` objects.
use std::panic::resume_unwind;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use recordmill_core::error::Fault;
use recordmill_core::memory::{self, OutOfMemory};
use recordmill_core::payload::{Column, Parser, Plan};

use crate::buffers::{ArrayView, allocate_buffer, copy_array};
use crate::error::{fault_error, out_of_memory_error};
use crate::payload::{PyPlan, columns_to_python};
use crate::rows::check_row_splits;

/// Minimum number of payloads per thread; starting a thread takes longer than parsing fewer payloads.
const MIN_ROWS_PER_THREAD: usize = 256;
/// Payloads with a larger average size are parsed by one thread. They take longer to copy than to parse, and the
/// columns of several threads are copied once more.
const MAX_PARALLEL_PAYLOAD: usize = 4 << 10;

/// Parse the payloads in a buffer into columns.
#[pyfunction]
#[pyo3(signature = (data, row_splits, plan, *, threads=1))]
pub fn parse(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    plan: &PyPlan,
    threads: usize,
) -> PyResult<Vec<Py<PyTuple>>> {
    let view = ArrayView::<u8>::from_object(data)?;
    let row_splits = copy_array::<i64>(py, row_splits)?;
    let data = view.as_slice();
    check_row_splits(&row_splits, data.len())?;
    let rows = row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]);
    let rows = memory::collect(rows).map_err(out_of_memory_error)?;
    parse_rows(py, &rows, plan, threads)
}

/// Parse payloads that are separate `bytes` objects into columns.
#[pyfunction]
#[pyo3(signature = (payloads, plan, *, threads=1))]
pub fn parse_each(
    py: Python<'_>,
    payloads: &Bound<'_, PyTuple>,
    plan: &PyPlan,
    threads: usize,
) -> PyResult<Vec<Py<PyTuple>>> {
    // Tuples and bytes are immutable, so the rows cannot change while the interpreter lock is released.
    let payloads: Vec<_> = payloads.iter().collect();
    let rows = payloads.iter().map(|payload| Ok(payload.cast::<PyBytes>()?.as_bytes()));
    let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
    parse_rows(py, &rows, plan, threads)
}

fn parse_rows(py: Python<'_>, rows: &[&[u8]], plan: &PyPlan, threads: usize) -> PyResult<Vec<Py<PyTuple>>> {
    let columns = py.detach(|| parse_in_threads(plan.core_plan(), rows, threads));
    columns_to_python(py, columns.map_err(|(fault, ordinal)| fault_error(fault, Some(ordinal)))?)
}

/// Parses with up to `threads` threads. The error is the fault of the first invalid payload and its ordinal.
fn parse_in_threads(plan: &Plan, rows: &[&[u8]], threads: usize) -> Result<Vec<Column>, (Fault, usize)> {
    let num_bytes = rows.iter().map(|row| row.len()).sum();
    let is_large = num_bytes > rows.len().saturating_mul(MAX_PARALLEL_PAYLOAD);
    let num_threads = if is_large { 1 } else { threads.min(rows.len() / MIN_ROWS_PER_THREAD).max(1) };
    let rows_per_thread = rows.len().div_ceil(num_threads).max(1);
    let (first_rows, other_rows) = rows.split_at(rows_per_thread.min(rows.len()));
    thread::scope(|scope| {
        let threads: Vec<_> = other_rows
            .chunks(rows_per_thread)
            .map(|rows| {
                let work = move || parse_in_order(plan, rows, rows.len(), num_bytes);
                let thread = thread::Builder::new().name("recordmill-parse".into()).spawn_scoped(scope, work);
                (thread, work)
            })
            .collect();
        let mut columns = parse_in_order(plan, first_rows, rows.len(), num_bytes)?;
        for (number, (thread, work)) in threads.into_iter().enumerate() {
            // If the thread could not be started, this thread parses the payloads meant for it.
            let more =
                thread.map_or_else(|_| work(), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let more = more.map_err(|(fault, ordinal)| (fault, ordinal + (number + 1) * rows_per_thread))?;
            for (column, more) in columns.iter_mut().zip(more) {
                column.append(more).map_err(|error| memory_fault(error, (number + 1) * rows_per_thread))?;
            }
        }
        Ok(columns)
    })
}

/// Parses payloads in order. Reserves memory for `num_records` records with at most `max_bytes` bytes of strings.
fn parse_in_order(
    plan: &Plan,
    rows: &[&[u8]],
    num_records: usize,
    max_bytes: usize,
) -> Result<Vec<Column>, (Fault, usize)> {
    let mut parser = Parser::new(plan, num_records).map_err(|error| memory_fault(error, 0))?;
    for (ordinal, payload) in rows.iter().enumerate() {
        parser.push_payload(payload).map_err(|fault| (fault, ordinal))?;
        if ordinal == 0 {
            parser.preallocate(num_records, max_bytes, allocate_buffer);
        }
    }
    parser.finish().map_err(|error| memory_fault(error, 0))
}

fn memory_fault(error: OutOfMemory, ordinal: usize) -> (Fault, usize) {
    (error.into(), ordinal)
}
