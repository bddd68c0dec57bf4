//! Columns of payloads in memory: rows of one buffer, or bytes objects; threads share what is long.
use std::panic::resume_unwind;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use recordmill_core::error::Fault;
use recordmill_core::payload::{Column, Parser, Plan};

use crate::buffers::{View, take_room, vector};
use crate::error::fault_error;
use crate::payload::{PyPlan, columns_out};
use crate::rows::check_row_splits;

/// A thread takes longer to begin than to parse fewer payloads than this.
const SHARE: usize = 256;
/// Parsing payloads of more bytes than this on average is copying, and columns of several threads are copied once more.
const LARGE: usize = 4 << 10;

/// Columns of payloads in a buffer.
#[pyfunction]
#[pyo3(signature = (data, row_splits, plan, *, threads=1))]
pub fn parse(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    plan: &PyPlan,
    threads: usize,
) -> PyResult<Vec<Py<PyTuple>>> {
    let view = View::<u8>::get(data)?;
    let row_splits = vector::<i64>(py, row_splits)?;
    let data = view.slice();
    check_row_splits(&row_splits, data.len())?;
    let rows: Vec<_> = row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]).collect();
    columns_of(py, &rows, plan, threads)
}

/// Columns of payloads that are a bytes object each.
#[pyfunction]
#[pyo3(signature = (payloads, plan, *, threads=1))]
pub fn parse_each(
    py: Python<'_>,
    payloads: &Bound<'_, PyTuple>,
    plan: &PyPlan,
    threads: usize,
) -> PyResult<Vec<Py<PyTuple>>> {
    // Neither a tuple nor bytes can change while the interpreter lock is released.
    let payloads: Vec<_> = payloads.iter().collect();
    let rows = payloads.iter().map(|payload| Ok(payload.cast::<PyBytes>()?.as_bytes()));
    let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
    columns_of(py, &rows, plan, threads)
}

fn columns_of(py: Python<'_>, rows: &[&[u8]], plan: &PyPlan, threads: usize) -> PyResult<Vec<Py<PyTuple>>> {
    let parsed = py.detach(|| shared(plan.plan(), rows, threads));
    columns_out(py, parsed.map_err(|(fault, ordinal)| fault_error(fault, Some(ordinal)))?)
}

/// Parses in as many threads as pay; the fault is that of the first payload that has one.
fn shared(plan: &Plan, rows: &[&[u8]], threads: usize) -> Result<Vec<Column>, (Fault, usize)> {
    let most = rows.iter().map(|row| row.len()).sum();
    let is_large = most > rows.len().saturating_mul(LARGE);
    let threads = if is_large { 1 } else { threads.min(rows.len() / SHARE).max(1) };
    let share = rows.len().div_ceil(threads).max(1);
    let (own, others) = rows.split_at(share.min(rows.len()));
    thread::scope(|scope| {
        let others: Vec<_> = others
            .chunks(share)
            .map(|part| {
                let work = move || in_order(plan, part, part.len(), most);
                let thread = thread::Builder::new().name("recordmill-parse".into()).spawn_scoped(scope, work);
                (thread, work)
            })
            .collect();
        let mut columns = in_order(plan, own, rows.len(), most)?;
        for (number, (thread, work)) in others.into_iter().enumerate() {
            // Where no further thread can be had, this one does its work.
            let more =
                thread.map_or_else(|_| work(), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let more = more.map_err(|(fault, ordinal)| (fault, ordinal + (number + 1) * share))?;
            columns.iter_mut().zip(more).for_each(|(column, more)| column.append(more));
        }
        Ok(columns)
    })
}

/// Parses one after another; makes room for `num_records`, whose byte strings are `most` bytes at most.
fn in_order(plan: &Plan, rows: &[&[u8]], num_records: usize, most: usize) -> Result<Vec<Column>, (Fault, usize)> {
    let mut parser = Parser::new(plan, num_records);
    for (ordinal, payload) in rows.iter().enumerate() {
        parser.push(payload).map_err(|fault| (fault, ordinal))?;
        if ordinal == 0 {
            parser.preallocate(num_records, most, take_room);
        }
    }
    Ok(parser.finish())
}
