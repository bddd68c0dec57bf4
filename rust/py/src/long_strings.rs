//! Records with one long byte string, which is read from the file directly into its Python object.
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use recordmill_core::framing::payload_of_frame;
use recordmill_core::long_string_record::LongStringRecord;
use recordmill_core::payload::{Column, MIN_LONG_STRING, Parser, Plan, Values};
use recordmill_core::source::ReadAt;

use crate::byte_strings::{ByteStrings, StringBuffer};
use crate::columns::Chosen;
use crate::payload::columns_out;

/// Bytes of records that are read between two checks for signals.
const ROUND_BYTES: usize = 64 << 20;
/// Approximate number of bytes that a thread reads at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// More threads would wait for memory.
const MAX_THREADS: usize = 4;

/// Records and their columns in Python.
pub type Objects = (usize, Vec<Py<PyTuple>>);

/// A record, and memory for its string if that is long.
struct Task<'s> {
    ordinal: usize,
    long: Option<(LongStringRecord, StringBuffer<'s>)>,
}

/// Consecutive records: their columns without the long strings, and the column of the long string of each record.
struct Chunk {
    number: usize,
    columns: Vec<Column>,
    long: Vec<Option<usize>>,
}

/// Reads the chosen records; None if that gains nothing or if anything is unusual, faults included.
pub fn read_long_strings(py: Python<'_>, chosen: &Chosen, plan: &Plan) -> PyResult<Option<Vec<Objects>>> {
    let lengths = chosen.lengths();
    let total = lengths.iter().fold(0_i64, |sum, &length| sum.saturating_add(length));
    if total / (lengths.len().max(1) as i64) < MIN_LONG_STRING as i64 || !chosen.is_positioned() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    for round in parts(lengths, 0..lengths.len(), ROUND_BYTES) {
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
        LongStringRecord::find(source, chosen.how().0, plan, frame)
    };
    let found: Vec<_> = py.detach(|| round.clone().map(look).collect());
    if found.iter().flatten().count() * 2 < found.len() {
        return Ok(None);
    }
    let strings = ByteStrings::default();
    let mut tasks = Vec::with_capacity(found.len());
    for (ordinal, record) in round.clone().zip(found) {
        let long = record.map(|record| Ok::<_, PyErr>((strings.make(py, record.num_bytes())?, record)));
        let long = long.transpose()?.map(|(buffer, record)| (record, buffer));
        tasks.push(Task { ordinal, long });
    }
    let Some(chunks) = py.detach(|| fill(chosen, plan, round, tasks)) else { return Ok(None) };
    let mut strings = strings.into_inner().into_iter();
    chunks.into_iter().map(|chunk| objects(py, chunk, &mut strings)).collect::<PyResult<_>>().map(Some)
}

/// Reads all records, with several threads if there are several chunks; the result is in order.
fn fill(chosen: &Chosen, plan: &Plan, round: Range<usize>, tasks: Vec<Task<'_>>) -> Option<Vec<Chunk>> {
    let mut tasks = tasks.into_iter();
    let chunks = parts(chosen.lengths(), round, CHUNK_BYTES).into_iter().enumerate();
    let chunks: Vec<_> = chunks.map(|(number, part)| (number, tasks.by_ref().take(part.len()).collect())).collect();
    let threads = if chunks.len() > 1 { chunks.len().min(max_threads()) } else { 1 };
    let (left, done) = (Mutex::new(chunks.into_iter()), Mutex::new(Some(Vec::new())));
    let next = || lock(&left).next();
    let work = || {
        while let Some((number, tasks)) = next() {
            match (read_chunk(chosen, plan, number, tasks), &mut *lock(&done)) {
                (Some(chunk), Some(chunks)) => chunks.push(chunk),
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
    let mut chunks = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    chunks.sort_unstable_by_key(|chunk| chunk.number);
    Some(chunks)
}

/// Number of threads that read at once. Asking for the number of cores takes longer than reading a photograph.
pub fn max_threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_chunk(chosen: &Chosen, plan: &Plan, number: usize, tasks: Vec<Task<'_>>) -> Option<Chunk> {
    let mut parser = Parser::new(plan, tasks.len());
    let (mut long, mut bytes, mut joined) = (Vec::with_capacity(tasks.len()), Vec::new(), Vec::new());
    let ((kind, verify), mut sources) = (chosen.how(), Vec::<&Arc<dyn ReadAt>>::new());
    for Task { ordinal, long: found } in tasks {
        let (source, (offset, length)) = chosen.frame(ordinal);
        if let Some((record, mut buffer)) = found {
            record.read(source, verify, buffer.memory(), &mut bytes)?;
            parser.push(&bytes).ok()?;
            parser.last_string(record.column()).filter(|&string| string == record.prefix())?;
            long.push(Some(record.column()));
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
    Some(Chunk { number, columns: parser.finish(), long })
}

/// Converts the columns of a chunk; `strings` yields the long strings of this chunk and all later ones.
fn objects(py: Python<'_>, chunk: Chunk, strings: &mut impl Iterator<Item = Py<PyBytes>>) -> PyResult<Objects> {
    let long: Vec<_> = chunk.long.iter().map(|column| column.map(|column| (column, strings.next()))).collect();
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
    let columns = chunk.columns.into_iter().enumerate().map(column).collect::<PyResult<_>>()?;
    Ok((long.len(), columns))
}

/// Splits records into parts of about `num_bytes` bytes.
pub fn parts(lengths: &[i64], all: Range<usize>, num_bytes: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut sum) = (Vec::new(), all.start, 0_usize);
    for ordinal in all.clone() {
        sum = sum.saturating_add(lengths[ordinal] as usize);
        if sum >= num_bytes || ordinal + 1 == all.end {
            parts.push(start..ordinal + 1);
            (start, sum) = (ordinal + 1, 0);
        }
    }
    parts
}
