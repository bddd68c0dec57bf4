//! Records as Python objects: threads read and parse some of them while others become byte strings.
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use recordmill_core::payload::{Column, Plan, Values};

use crate::buffers::give_buffer;
use crate::columns::{Chosen, FrameArgs, Stopped, stopped_error};
use crate::framing::PyFrameKind;
use crate::long_strings::{max_threads, parts, read_long_strings};
use crate::payload::{PyPlan, columns_out};
use crate::source::Source;

/// Bytes of records that are made into objects at a time, while they are in the processor's cache.
const GROUP: usize = 512 << 10;
/// Groups for each thread, at least: a thread takes a while to begin.
const GROUPS_PER_THREAD: usize = 2;

type Parsed = Result<Vec<Column>, Stopped>;

/// Columns of records as `read_columns` reads them, in groups that follow one another; the strings of a column with one
/// for each record are a list of `bytes`.
#[pyfunction]
#[pyo3(signature = (frames, plan, *, verify=true))]
pub fn read_examples(
    py: Python<'_>,
    frames: FrameArgs<'_>,
    plan: &PyPlan,
    verify: bool,
) -> PyResult<Vec<(usize, Vec<Py<PyTuple>>)>> {
    let (chosen, plan) = (Chosen::new(frames, verify)?, plan.plan());
    if let Some(objects) = read_long_strings(py, &chosen, plan)? {
        return Ok(objects);
    }
    let groups = parts(chosen.lengths(), 0..chosen.lengths().len(), GROUP);
    let threads = match groups.len() / GROUPS_PER_THREAD {
        0 | 1 => 1,
        most => most.min(max_threads()),
    };
    if threads < 2 {
        let parse = |group: &Range<usize>| py.detach(|| chosen.parse(group.clone(), plan));
        return groups.iter().map(|group| objects(py, group.len(), parse(group))).collect();
    }
    thread::scope(|scope| {
        let own = |lane: usize| groups.iter().skip(lane).step_by(threads);
        let mut lanes: Vec<_> = (0..threads).map(|lane| spawn(scope, &chosen, plan, own(lane))).collect();
        let group_of = |(number, group): (usize, &Range<usize>)| {
            py.check_signals()?;
            let parsed = match &mut lanes[number % threads] {
                Some(lane) => py.detach(move || lane.recv()).ok(),
                None => None,
            };
            // Where no thread could be had, or it ended, this one does its work.
            objects(py, group.len(), parsed.unwrap_or_else(|| py.detach(|| chosen.parse(group.clone(), plan))))
        };
        groups.iter().enumerate().map(group_of).collect()
    })
}

/// Columns of the record of `length` bytes at `offset`, as `read_examples` gives them.
#[pyfunction]
#[pyo3(signature = (source, kind, offset, length, plan, *, verify=true))]
pub fn read_example(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    offset: u64,
    length: u64,
    plan: &PyPlan,
    verify: bool,
) -> PyResult<Vec<Py<PyTuple>>> {
    let (chosen, plan) = (Chosen::single(source, kind, (offset, length), verify)?, plan.plan());
    let straight = read_long_strings(py, &chosen, plan)?.and_then(|mut groups| groups.pop());
    let (_, columns) = straight.map_or_else(|| objects(py, 1, py.detach(|| chosen.parse(0..1, plan))), Ok)?;
    Ok(columns)
}

/// Starts the thread that parses some groups, at most two ahead of those that were taken.
fn spawn<'s>(
    scope: &'s Scope<'s, '_>,
    chosen: &'s Chosen,
    plan: &'s Plan,
    groups: impl Iterator<Item = &'s Range<usize>> + Send + 's,
) -> Option<Receiver<Parsed>> {
    let (sender, receiver): (SyncSender<Parsed>, _) = sync_channel(1);
    let work = move || {
        for group in groups {
            if sender.send(chosen.parse(group.clone(), plan)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("recordmill-read".into()).spawn_scoped(scope, work).ok().map(|_| receiver)
}

fn objects(py: Python<'_>, count: usize, parsed: Parsed) -> PyResult<(usize, Vec<Py<PyTuple>>)> {
    let columns = parsed.map_err(stopped_error)?;
    let columns = columns.into_iter().map(|column| object_column(py, column)).collect::<PyResult<_>>()?;
    Ok((count, columns))
}

fn object_column(py: Python<'_>, column: Column) -> PyResult<Py<PyTuple>> {
    match column {
        Column { values: Values::Bytes { data, splits }, row_splits: None, frame_splits: None } => {
            let strings = splits.windows(2).map(|pair| PyBytes::new(py, &data[pair[0] as usize..pair[1] as usize]));
            let list = PyList::new(py, strings)?;
            give_buffer(data);
            Ok((list, py.None(), py.None()).into_pyobject(py)?.unbind())
        }
        column => Ok(columns_out(py, vec![column])?.remove(0)),
    }
}
