//! Records as Python objects: threads read and parse them, and fill the byte strings that are made meanwhile.
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use recordmill_core::payload::{Column, Plan, Values};

use crate::buffers::give_buffer;
use crate::columns::{Chosen, FrameArgs, Stopped, stopped_error};
use crate::payload::{PyPlan, columns_out};
use crate::unfilled::{Places, Strings};

/// Bytes of records that are made into objects at a time, while they are in the processor's cache.
const GROUP: i64 = 512 << 10;
/// Groups for each thread, at least: a thread takes a while to begin.
const GROUPS_PER_THREAD: usize = 2;
/// More threads than this wait for memory.
const MOST_THREADS: usize = 4;

type Parsed = Result<Vec<Column>, Stopped>;

/// A thread that parses groups, as the one with the interpreter sees it.
struct Lane<'e> {
    parsed: Receiver<Parsed>,
    places: Sender<Vec<Places<'e>>>,
}

/// A column in Python: byte strings by their number, or as it is.
enum Made {
    Strings(usize),
    Other(Py<PyTuple>),
}

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
    let groups = groups(chosen.lengths());
    let threads = match groups.len() / GROUPS_PER_THREAD {
        0 | 1 => 0,
        most => most.min(MOST_THREADS).min(thread::available_parallelism().map_or(1, usize::from)),
    };
    let strings = Strings::default();
    let made = if threads < 2 {
        let parse = |group: &Range<usize>| py.detach(|| chosen.parse(group.clone(), plan));
        groups.iter().map(|group| copied(py, parse(group), &strings)).collect::<PyResult<Vec<_>>>()?
    } else {
        made_in_threads(py, (&chosen, plan), &groups, threads, &strings)?
    };
    let lists = strings.into_lists(py)?;
    let counts = groups.iter().map(Range::len);
    counts.zip(made).map(|(count, columns)| Ok((count, finished(py, columns, &lists)?))).collect()
}

/// The columns of all groups; their strings are filled when this returns.
fn made_in_threads<'e>(
    py: Python<'_>,
    (chosen, plan): (&'e Chosen, &'e Plan),
    groups: &'e [Range<usize>],
    threads: usize,
    strings: &'e Strings,
) -> PyResult<Vec<Vec<Made>>> {
    thread::scope(|scope| {
        let own = |lane: usize| groups.iter().skip(lane).step_by(threads);
        let spawned = (0..threads).map(|lane| spawn(scope, (chosen, plan), own(lane)));
        let (mut lanes, handles): (Vec<_>, Vec<_>) = spawned.map(Option::unzip).unzip();
        let group_of = |(number, group): (usize, &Range<usize>)| {
            py.check_signals()?;
            match &mut lanes[number % threads] {
                Some(lane) => taken(py, lane, strings),
                // Where no thread could be had, this one does its work.
                None => copied(py, py.detach(|| chosen.parse(group.clone(), plan)), strings),
            }
        };
        let made = groups.iter().enumerate().map(group_of).collect();
        drop(lanes);
        py.detach(|| handles.into_iter().flatten().for_each(ended));
        made
    })
}

fn ended(handle: ScopedJoinHandle<'_, ()>) {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// Starts the thread that parses some groups and fills their strings, those of one group behind the parsing of the next.
fn spawn<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    (chosen, plan): (&'e Chosen, &'e Plan),
    groups: impl Iterator<Item = &'e Range<usize>> + Send + 's,
) -> Option<(Lane<'e>, ScopedJoinHandle<'s, ()>)> {
    let (sender, parsed): (SyncSender<Parsed>, _) = sync_channel(1);
    let (places, receiver) = channel::<Vec<Places<'e>>>();
    let fill = move |held: Vec<Vec<u8>>| {
        for (data, places) in held.into_iter().zip(receiver.recv().unwrap_or_default()) {
            places.fill(&data);
            give_buffer(data);
        }
    };
    let work = move || {
        let mut held = None;
        for group in groups {
            let (parsed, data) = apart(chosen.parse(group.clone(), plan));
            if sender.send(parsed).is_err() {
                return;
            }
            held.replace(data).into_iter().for_each(&fill);
        }
        held.into_iter().for_each(&fill);
    };
    let handle = thread::Builder::new().name("recordmill-read".into()).spawn_scoped(scope, work).ok()?;
    Some((Lane { parsed, places }, handle))
}

/// Columns without the bytes of their strings, and these.
fn apart(mut parsed: Parsed) -> (Parsed, Vec<Vec<u8>>) {
    let columns = parsed.iter_mut().flatten();
    let data = columns.filter_map(|column| strings_of(column).map(|(data, _)| std::mem::take(data))).collect();
    (parsed, data)
}

/// Bytes and splits of a column that has one string for each record.
fn strings_of(column: &mut Column) -> Option<(&mut Vec<u8>, &[i64])> {
    match column {
        Column { values: Values::Bytes { data, splits }, row_splits: None, frame_splits: None } => Some((data, splits)),
        _ => None,
    }
}

/// The next group of a lane, whose thread is told where the bytes go.
fn taken<'e>(py: Python<'_>, lane: &mut Lane<'e>, strings: &'e Strings) -> PyResult<Vec<Made>> {
    let parsed = &mut lane.parsed;
    // A thread that ended has panicked, which is told when it is joined.
    let Ok(parsed) = py.detach(move || parsed.recv()) else { return Ok(Vec::new()) };
    let mut places = Vec::new();
    let made = made(py, parsed, |_, splits| {
        let (unfilled, number) = strings.make(py, splits)?;
        places.push(unfilled);
        Ok(number)
    })?;
    // As above.
    let _ = lane.places.send(places);
    Ok(made)
}

/// A group whose strings are filled here.
fn copied(py: Python<'_>, parsed: Parsed, strings: &Strings) -> PyResult<Vec<Made>> {
    made(py, parsed, |data, splits| {
        let string = |pair: &[i64]| PyBytes::new(py, &data[pair[0] as usize..pair[1] as usize]).unbind();
        let number = strings.add(splits.windows(2).map(string).collect());
        give_buffer(std::mem::take(data));
        Ok(number)
    })
}

fn made(
    py: Python<'_>,
    parsed: Parsed,
    mut number_of: impl FnMut(&mut Vec<u8>, &[i64]) -> PyResult<usize>,
) -> PyResult<Vec<Made>> {
    let object = |mut column| match strings_of(&mut column) {
        Some((data, splits)) => Ok(Made::Strings(number_of(data, splits)?)),
        None => Ok(Made::Other(columns_out(py, vec![column])?.remove(0))),
    };
    parsed.map_err(stopped_error)?.into_iter().map(object).collect()
}

fn finished(py: Python<'_>, columns: Vec<Made>, lists: &[Py<PyList>]) -> PyResult<Vec<Py<PyTuple>>> {
    let column = |made| match made {
        Made::Strings(number) => Ok((&lists[number], py.None(), py.None()).into_pyobject(py)?.unbind()),
        Made::Other(column) => Ok(column),
    };
    columns.into_iter().map(column).collect()
}

/// Parts of the records that hold about as many bytes each.
fn groups(lengths: &[i64]) -> Vec<Range<usize>> {
    let (mut groups, mut start, mut held) = (Vec::new(), 0, 0);
    for (ordinal, &length) in lengths.iter().enumerate() {
        held = i64::saturating_add(held, length);
        if held >= GROUP {
            groups.push(start..ordinal + 1);
            (start, held) = (ordinal + 1, 0);
        }
    }
    if start < lengths.len() {
        groups.push(start..lengths.len());
    }
    groups
}
