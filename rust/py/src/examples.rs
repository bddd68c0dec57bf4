//! Reading of records as Python objects: threads read and parse groups, and the caller's thread creates the objects.
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use recordmill_core::payload::{Column, Plan, Values};

use crate::buffers::recycle_buffer;
use crate::byte_strings::ByteString;
use crate::columns::{FrameArgs, RecordError, RecordSelection, record_error};
use crate::error::out_of_memory_error;
use crate::framing::PyFrameKind;
use crate::long_strings::{RecordGroup, max_threads, read_long_strings, split_by_bytes};
use crate::payload::{PyPlan, column_to_python};
use crate::source::Source;

/// Approximate number of bytes of the records in a group. The columns of such a group fit into the processor's cache.
const GROUP_BYTES: usize = 512 << 10;
/// Minimum number of groups per thread; for fewer groups, starting a thread takes longer than it saves.
const MIN_GROUPS_PER_THREAD: usize = 2;

type ParseResult = Result<Vec<Column>, RecordError>;

/// Read columns like `read_columns`, but return one (number of records, columns) per group of consecutive records.
///
/// A column with one string per record has a list of `bytes` as its values.
#[pyfunction]
#[pyo3(signature = (frames, plan, *, verify=true))]
pub fn read_examples(
    py: Python<'_>,
    frames: FrameArgs<'_>,
    plan: &PyPlan,
    verify: bool,
) -> PyResult<Vec<(usize, Vec<Py<PyTuple>>)>> {
    let (records, plan) = (RecordSelection::new(frames, verify)?, plan.core_plan());
    if let Some(groups) = read_long_strings(py, &records, plan)? {
        return Ok(groups);
    }
    let groups = split_by_bytes(records.lengths(), 0..records.lengths().len(), GROUP_BYTES);
    let groups = groups.map_err(out_of_memory_error)?;
    let num_threads = match groups.len() / MIN_GROUPS_PER_THREAD {
        0 | 1 => 1,
        count => count.min(max_threads()),
    };
    if num_threads < 2 {
        let parse = |group: &Range<usize>| py.detach(|| records.parse_columns(group.clone(), plan));
        return groups.iter().map(|group| group_to_python(py, group.len(), parse(group))).collect();
    }
    // The scope waits for its threads, which may need the interpreter lock, to read from a source of Python.
    py.detach(|| {
        thread::scope(|scope| {
            Python::attach(|py| parse_groups_in_threads(py, scope, &records, plan, &groups, num_threads))
        })
    })
}

/// Parses groups with several threads and converts them for Python.
fn parse_groups_in_threads<'s>(
    py: Python<'_>,
    scope: &'s Scope<'s, '_>,
    records: &'s RecordSelection,
    plan: &'s Plan,
    groups: &'s [Range<usize>],
    num_threads: usize,
) -> PyResult<Vec<RecordGroup>> {
    let groups_of = |thread: usize| groups.iter().skip(thread).step_by(num_threads);
    let mut receivers: Vec<_> =
        (0..num_threads).map(|thread| spawn_parser(scope, records, plan, groups_of(thread))).collect();
    let convert = |(number, group): (usize, &Range<usize>)| {
        py.check_signals()?;
        let parsed = match &mut receivers[number % num_threads] {
            Some(receiver) => py.detach(move || receiver.recv()).ok(),
            None => None,
        };
        // If the thread could not be started, or has ended, the caller's thread parses the group.
        let parsed = parsed.unwrap_or_else(|| py.detach(|| records.parse_columns(group.clone(), plan)));
        group_to_python(py, group.len(), parsed)
    };
    groups.iter().enumerate().map(convert).collect()
}

/// Read the columns of one record, in the form in which `read_examples` returns the columns of a group.
///
/// `frame` is (offset and length of the record's frame, checksum of its payload in the sidecar index or -1).
#[pyfunction]
#[pyo3(signature = (source, kind, frame, plan, *, verify=true))]
pub fn read_example(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    frame: (u64, u64, i64),
    plan: &PyPlan,
    verify: bool,
) -> PyResult<Vec<Py<PyTuple>>> {
    let (records, plan) = (RecordSelection::from_frame(source, kind, frame, verify)?, plan.core_plan());
    let group = read_long_strings(py, &records, plan)?.and_then(|mut groups| groups.pop());
    let (_, columns) =
        group.map_or_else(|| group_to_python(py, 1, py.detach(|| records.parse_columns(0..1, plan))), Ok)?;
    Ok(columns)
}

/// Starts a thread that parses groups, at most two ahead of the receiver. Returns None if no thread can be started.
fn spawn_parser<'s>(
    scope: &'s Scope<'s, '_>,
    records: &'s RecordSelection,
    plan: &'s Plan,
    groups: impl Iterator<Item = &'s Range<usize>> + Send + 's,
) -> Option<Receiver<ParseResult>> {
    let (sender, receiver): (SyncSender<ParseResult>, _) = sync_channel(1);
    let work = move || {
        for group in groups {
            if sender.send(records.parse_columns(group.clone(), plan)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("recordmill-read".into()).spawn_scoped(scope, work).ok().map(|_| receiver)
}

fn group_to_python(py: Python<'_>, num_records: usize, parsed: ParseResult) -> PyResult<RecordGroup> {
    let columns = parsed.map_err(record_error)?;
    let columns = columns.into_iter().map(|column| column_to_objects(py, column)).collect::<PyResult<_>>()?;
    Ok((num_records, columns))
}

fn column_to_objects(py: Python<'_>, column: Column) -> PyResult<Py<PyTuple>> {
    match column {
        Column { values: Values::Bytes { data, splits }, row_splits: None, frame_splits: None } => {
            let strings = splits.windows(2).map(|pair| ByteString(&data[pair[0] as usize..pair[1] as usize]));
            let list = PyList::new(py, strings)?;
            recycle_buffer(data);
            Ok((list, py.None(), py.None()).into_pyobject(py)?.unbind())
        }
        column => column_to_python(py, column),
    }
}
