//! Records with one long byte string, which is read from the file directly into its Python object.
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use recordmill_core::framing::payload_of_frame;
use recordmill_core::long_strings::Around;
use recordmill_core::payload::{Column, LONG, Parser, Plan, Values};
use recordmill_core::source::ReadAt;

use crate::byte_strings::{ByteStrings, StringBuffer};
use crate::columns::Chosen;
use crate::payload::columns_out;

/// Bytes of records between two looks at signals.
const ROUND: usize = 64 << 20;
/// Bytes of records that a thread takes at a time, about.
const SHARE: usize = 1 << 20;
/// More threads than this wait for memory.
const MOST_THREADS: usize = 4;

/// Records and their columns in Python.
pub type Objects = (usize, Vec<Py<PyTuple>>);

/// A record whose string, if it is a long one, has a place.
struct Task<'s> {
    ordinal: usize,
    long: Option<(Around, StringBuffer<'s>)>,
}

/// Some records: what their parser made of all but the long strings, and in which column each has one.
struct Share {
    number: usize,
    columns: Vec<Column>,
    long: Vec<Option<usize>>,
}

/// The chosen records, or none if that is no gain or anything about them is unusual, faults included.
pub fn read_straight(py: Python<'_>, chosen: &Chosen, plan: &Plan) -> PyResult<Option<Vec<Objects>>> {
    let lengths = chosen.lengths();
    let total = lengths.iter().fold(0_i64, |sum, &length| sum.saturating_add(length));
    if total / (lengths.len().max(1) as i64) < LONG as i64 || !chosen.is_positioned() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    for round in parts(lengths, 0..lengths.len(), ROUND) {
        py.check_signals()?;
        match read_round(py, chosen, plan, round)? {
            Some(more) => objects.extend(more),
            None => return Ok(None),
        }
    }
    Ok(Some(objects))
}

fn read_round(py: Python<'_>, chosen: &Chosen, plan: &Plan, round: Range<usize>) -> PyResult<Option<Vec<Objects>>> {
    let look = |ordinal| {
        let (source, frame) = chosen.frame(ordinal);
        Around::look(source, chosen.how().0, plan, frame)
    };
    let found: Vec<_> = py.detach(|| round.clone().map(look).collect());
    if found.iter().flatten().count() * 2 < found.len() {
        return Ok(None);
    }
    let strings = ByteStrings::default();
    let mut tasks = Vec::with_capacity(found.len());
    for (ordinal, around) in round.clone().zip(found) {
        let long = around.map(|around| Ok::<_, PyErr>((strings.make(py, around.num_bytes())?, around)));
        let long = long.transpose()?.map(|(place, around)| (around, place));
        tasks.push(Task { ordinal, long });
    }
    let Some(shares) = py.detach(|| fill(chosen, plan, round, tasks)) else { return Ok(None) };
    let mut strings = strings.into_inner().into_iter();
    shares.into_iter().map(|share| objects(py, share, &mut strings)).collect::<PyResult<_>>().map(Some)
}

/// Reads all records, in several threads if there is enough for them; the shares are in order.
fn fill(chosen: &Chosen, plan: &Plan, round: Range<usize>, tasks: Vec<Task<'_>>) -> Option<Vec<Share>> {
    let mut tasks = tasks.into_iter();
    let shares = parts(chosen.lengths(), round, SHARE).into_iter().enumerate();
    let shares: Vec<_> = shares.map(|(number, part)| (number, tasks.by_ref().take(part.len()).collect())).collect();
    let threads = if shares.len() > 1 { shares.len().min(most_threads()) } else { 1 };
    let (left, done) = (Mutex::new(shares.into_iter()), Mutex::new(Some(Vec::new())));
    let next = || lock(&left).next();
    let work = || {
        while let Some((number, tasks)) = next() {
            match (read_share(chosen, plan, number, tasks), &mut *lock(&done)) {
                (Some(share), Some(shares)) => shares.push(share),
                (_, done) => {
                    *done = None;
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread this one does all the work.
            let _ = thread::Builder::new().name("recordmill-read".into()).spawn_scoped(scope, work);
        }
        work();
    });
    let mut shares = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    shares.sort_unstable_by_key(|share| share.number);
    Some(shares)
}

/// Threads that read at once: as many as there are cores, which takes longer to ask than to read a photograph.
pub fn most_threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_share(chosen: &Chosen, plan: &Plan, number: usize, tasks: Vec<Task<'_>>) -> Option<Share> {
    let mut parser = Parser::new(plan, tasks.len());
    let (mut long, mut bytes, mut joined) = (Vec::with_capacity(tasks.len()), Vec::new(), Vec::new());
    let ((kind, verify), mut sources) = (chosen.how(), Vec::<&Arc<dyn ReadAt>>::new());
    for Task { ordinal, long: found } in tasks {
        let (source, (offset, length)) = chosen.frame(ordinal);
        if let Some((around, mut place)) = found {
            around.read(source, verify, place.memory(), &mut bytes)?;
            parser.push(&bytes).ok()?;
            parser.last_string(around.column()).filter(|&string| string == around.kept())?;
            long.push(Some(around.column()));
        } else {
            bytes.resize(length, 0);
            source.read_at(offset, &mut bytes).ok().filter(|&count| count == length)?;
            parser.push(payload_of_frame(kind, &bytes, offset, verify, &mut joined).ok()?).ok()?;
            long.push(None);
        }
        if !sources.iter().any(|known| Arc::ptr_eq(known, source)) {
            sources.push(source);
        }
    }
    sources.iter().try_for_each(|source| source.check_unchanged()).ok()?;
    Some(Share { number, columns: parser.finish(), long })
}

/// The columns of a share; `strings` are the long strings of this and all later ones.
fn objects(py: Python<'_>, share: Share, strings: &mut impl Iterator<Item = Py<PyBytes>>) -> PyResult<Objects> {
    let long: Vec<_> = share.long.iter().map(|column| column.map(|column| (column, strings.next()))).collect();
    let column = |(number, column): (usize, Column)| match column {
        Column { values: Values::Bytes { data, splits }, row_splits: None, frame_splits: None } => {
            let is_single = splits.len() == long.len() + 1;
            let string = |(row, pair): (usize, &[i64])| match long.get(row).filter(|_| is_single) {
                Some(Some((column, Some(string)))) if *column == number => string.clone_ref(py),
                _ => PyBytes::new(py, &data[pair[0] as usize..pair[1] as usize]).unbind(),
            };
            let list = PyList::new(py, splits.windows(2).enumerate().map(string).collect::<Vec<_>>())?;
            Ok((list, py.None(), py.None()).into_pyobject(py)?.unbind())
        }
        column => Ok(columns_out(py, vec![column])?.remove(0)),
    };
    let columns = share.columns.into_iter().enumerate().map(column).collect::<PyResult<_>>()?;
    Ok((long.len(), columns))
}

/// Parts of some records that hold about as many bytes each.
pub fn parts(lengths: &[i64], all: Range<usize>, num_bytes: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut held) = (Vec::new(), all.start, 0_usize);
    for ordinal in all.clone() {
        held = held.saturating_add(lengths[ordinal] as usize);
        if held >= num_bytes || ordinal + 1 == all.end {
            parts.push(start..ordinal + 1);
            (start, held) = (ordinal + 1, 0);
        }
    }
    parts
}
