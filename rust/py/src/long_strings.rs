//! Records with one long byte string, which is read from the file directly into its Python `bytes` object.
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use recordmill_core::long_string_record::LongStringRecord;
use recordmill_core::memory::{self, OutOfMemory};
use recordmill_core::payload::{Column, MIN_LONG_STRING, Parser, Plan, Values};
use recordmill_core::source::ReadAt;

use crate::byte_strings::{ByteString, ByteStrings, StringBuffer};
use crate::columns::RecordSelection;
use crate::error::out_of_memory_error;
use crate::payload::column_to_python;

/// Number of bytes of records that are read between two checks for signals.
const ROUND_BYTES: usize = 64 << 20;
/// Approximate number of bytes that a thread reads at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// Maximum number of threads; more are not faster, because memory bandwidth is the limit.
const MAX_THREADS: usize = 4;

/// Number of consecutive records, and their columns for Python.
pub type RecordGroup = (usize, Vec<Py<PyTuple>>);

/// A record to read, and the memory for its string if it has a long one.
struct ReadTask<'s> {
    ordinal: usize,
    long: Option<(LongStringRecord, StringBuffer<'s>)>,
}

/// Consecutive records that were read by one thread.
struct RecordChunk {
    number: usize,
    /// Columns, in which the long strings are shortened.
    columns: Vec<Column>,
    /// For each record, the index of the column that its long string belongs to; None if it has no long string.
    long: Vec<Option<usize>>,
}

/// Reads the selected records, if they contain long strings.
///
/// Returns None if the caller should use the general code, because that is as fast, or because a record needs it (for
/// example a damaged record).
pub fn read_long_strings(py: Python<'_>, records: &RecordSelection, plan: &Plan) -> PyResult<Option<Vec<RecordGroup>>> {
    let lengths = records.lengths();
    let total = lengths.iter().fold(0_i64, |sum, &length| sum.saturating_add(length));
    if total / (lengths.len().max(1) as i64) < MIN_LONG_STRING as i64 || !records.needs_positioned_reads() {
        return Ok(None);
    }
    let mut groups = Vec::new();
    for round in split_by_bytes(lengths, 0..lengths.len(), ROUND_BYTES).map_err(out_of_memory_error)? {
        py.check_signals()?;
        match read_round(py, records, plan, round)? {
            Some(more) => groups.extend(more),
            None => return Ok(None),
        }
    }
    Ok(Some(groups))
}

fn read_round(
    py: Python<'_>,
    records: &RecordSelection,
    plan: &Plan,
    round: Range<usize>,
) -> PyResult<Option<Vec<RecordGroup>>> {
    let find = |ordinal| {
        let (source, frame) = records.locate_frame(ordinal);
        LongStringRecord::locate(source, records.kind(), plan, frame, records.max_record_bytes())
    };
    let Ok(found) = py.detach(|| memory::collect(round.clone().map(find))) else { return Ok(None) };
    if found.iter().flatten().count() * 2 < found.len() {
        return Ok(None);
    }
    let strings = ByteStrings::default();
    let Ok(mut tasks) = memory::with_capacity(found.len()) else { return Ok(None) };
    for (ordinal, record) in round.clone().zip(found) {
        let long = record.map(|record| Ok::<_, PyErr>((strings.allocate(py, record.num_bytes())?, record)));
        let long = long.transpose()?.map(|(buffer, record)| (record, buffer));
        tasks.push(ReadTask { ordinal, long });
    }
    let Some(chunks) = py.detach(|| read_chunks(records, plan, round, tasks)) else { return Ok(None) };
    let mut strings = strings.into_objects().into_iter();
    chunks.into_iter().map(|chunk| record_chunk_to_python(py, chunk, &mut strings)).collect::<PyResult<_>>().map(Some)
}

/// Reads all records, with several threads if there are several chunks. The result has the order of the records.
fn read_chunks(
    records: &RecordSelection,
    plan: &Plan,
    round: Range<usize>,
    tasks: Vec<ReadTask<'_>>,
) -> Option<Vec<RecordChunk>> {
    let mut tasks = tasks.into_iter();
    let ranges = split_by_bytes(records.lengths(), round, CHUNK_BYTES).ok()?;
    let mut chunks = memory::with_capacity(ranges.len()).ok()?;
    for (number, range) in ranges.into_iter().enumerate() {
        chunks.push((number, memory::collect(tasks.by_ref().take(range.len())).ok()?));
    }
    let num_threads = if chunks.len() > 1 { chunks.len().min(max_threads()) } else { 1 };
    let done = Mutex::new(Some(memory::with_capacity(chunks.len()).ok()?));
    let queue = Mutex::new(chunks.into_iter());
    let next = || lock(&queue).next();
    let work = || {
        while let Some((number, tasks)) = next() {
            match (read_chunk(records, plan, number, tasks), &mut *lock(&done)) {
                (Some(chunk), Some(chunks)) => chunks.push(chunk),
                (_, done) => {
                    *done = None;
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..num_threads {
            // If no thread can be started, this thread does all the work.
            let _ = thread::Builder::new().name("recordmill-read".into()).spawn_scoped(scope, work);
        }
        work();
    });
    let mut chunks = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    chunks.sort_unstable_by_key(|chunk| chunk.number);
    Some(chunks)
}

/// Returns the maximum number of threads that read at the same time.
pub fn max_threads() -> usize {
    // Cached, because getting the number of cores takes longer than reading an image.
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_chunk(records: &RecordSelection, plan: &Plan, number: usize, tasks: Vec<ReadTask<'_>>) -> Option<RecordChunk> {
    let mut parser = Parser::new(plan, tasks.len()).ok()?;
    let (mut long, mut bytes, mut joined) = (memory::with_capacity(tasks.len()).ok()?, Vec::new(), Vec::new());
    let mut sources = Vec::<&Arc<dyn ReadAt>>::new();
    for ReadTask { ordinal, long: long_record } in tasks {
        let (source, (offset, length)) = records.locate_frame(ordinal);
        if let Some((record, mut buffer)) = long_record {
            record.read_into(
                source,
                records.verifies_checksums(),
                records.indexed_checksum(ordinal),
                buffer.memory(),
                &mut bytes,
            )?;
            parser.push_payload(&bytes).ok()?;
            parser.last_string(record.column_index()).filter(|&string| string == record.string_prefix())?;
            long.push(Some(record.column_index()));
        } else {
            let selection = records.frame_selection(ordinal..ordinal + 1);
            // A record that is too long is left to the general code, which reports it.
            selection.check_payload_len(source, 0).ok()?;
            memory::resize(&mut bytes, length, 0).ok()?;
            source.read_at(offset, &mut bytes).ok().filter(|&count| count == length)?;
            parser.push_payload(selection.extract_payload(0, &bytes, &mut joined).ok()?).ok()?;
            long.push(None);
        }
        if !sources.iter().any(|known| Arc::ptr_eq(known, source)) {
            sources.push(source);
        }
    }
    sources.iter().try_for_each(|source| source.check_unchanged()).ok()?;
    Some(RecordChunk { number, columns: parser.finish().ok()?, long })
}

/// Converts the columns of a chunk; `strings` yields the long strings of this chunk and all later ones.
fn record_chunk_to_python(
    py: Python<'_>,
    chunk: RecordChunk,
    strings: &mut impl Iterator<Item = Py<PyBytes>>,
) -> PyResult<RecordGroup> {
    let long: Vec<_> = chunk.long.iter().map(|column| column.map(|column| (column, strings.next()))).collect();
    let column = |(number, column): (usize, Column)| match column {
        Column { values: Values::Bytes { data, splits }, row_splits: None, frame_splits: None } => {
            let is_single = splits.len() == long.len() + 1;
            let string = |(row, pair): (usize, &[i64])| match long.get(row).filter(|_| is_single) {
                Some(Some((column, Some(string)))) if *column == number => Ok(string.clone_ref(py)),
                _ => ByteString(&data[pair[0] as usize..pair[1] as usize]).into_pyobject(py).map(Bound::unbind),
            };
            let list = PyList::new(py, splits.windows(2).enumerate().map(string).collect::<PyResult<Vec<_>>>()?)?;
            Ok((list, py.None(), py.None()).into_pyobject(py)?.unbind())
        }
        column => column_to_python(py, column),
    };
    let columns = chunk.columns.into_iter().enumerate().map(column).collect::<PyResult<_>>()?;
    Ok((long.len(), columns))
}

/// Splits records into ranges of about `num_bytes` bytes.
pub fn split_by_bytes(lengths: &[i64], all: Range<usize>, num_bytes: usize) -> Result<Vec<Range<usize>>, OutOfMemory> {
    let (mut ranges, mut start, mut sum) = (Vec::new(), all.start, 0_usize);
    for ordinal in all.clone() {
        sum = sum.saturating_add(lengths[ordinal] as usize);
        if sum >= num_bytes || ordinal + 1 == all.end {
            memory::push(&mut ranges, start..ordinal + 1)?;
            (start, sum) = (ordinal + 1, 0);
        }
    }
    Ok(ranges)
}
