//! Payloads of a shard in batches, read ahead by threads, without an index.
//!
//! One thread at a time finds where the next batch ends (cheap); reading, checking and copying go on side by side. A
//! caller who comes too early makes a batch itself: it would only wait, and be woken for each one.
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use recordmill_core::framing::{Payloads, Scan, Selection, Window, compact, gather};
use recordmill_core::source::SourceError;

use crate::buffers::{Block, give_buffer, take_buffer};
use crate::cursor::{Cursor, Request};
use crate::error::source_error;
use crate::framing::{PyFrameKind, payload_blocks};
use crate::source::Source;

/// Batches that wait for the caller may hold this many bytes together.
const BUDGET: usize = 64 << 20;
/// How often a waiting caller looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

struct Batch {
    payloads: Payloads,
    first: u64,
    error: Option<SourceError>,
    last: bool,
}

#[derive(Default)]
struct Ready {
    batches: BTreeMap<u64, Batch>,
    next: u64,
    started: u64,
    num_bytes: usize,
    stop: bool,
}

struct Job {
    request: Request,
    depth: u64,
    cursor: Mutex<Cursor>,
    turn: Condvar,
    ready: Mutex<Ready>,
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Job {
    /// The next batch and its place in the order; None behind the last one.
    ///
    /// Its bytes are read before it is known exactly where they begin, so that threads need not read in turn.
    fn produce(&self) -> Option<(u64, Batch)> {
        let (sequence, likely) = lock(&self.cursor).issue(&self.request)?;
        let mut window = Window::new(&self.request.source, take_buffer());
        if let Some((offset, length)) = likely {
            let _ = window.bytes(offset, length, 0); // what fails here fails again where it matters
        }
        let (first, found) = self.find(sequence, &mut window)?;
        let batch = match found {
            Ok(found) => self.fill(window, found, first),
            Err(error) => Batch { payloads: Payloads::new(Vec::new(), 0), first, error: Some(error), last: true },
        };
        Some((sequence, batch))
    }

    /// Waits for its turn, then finds the frames of batch `sequence`; None if the data ended before.
    fn find(&self, sequence: u64, window: &mut Window<'_>) -> Option<(u64, Result<Scan, SourceError>)> {
        let mut cursor = lock(&self.cursor);
        while cursor.sequence != sequence && !cursor.done {
            cursor = self.turn.wait(cursor).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        let found = (!cursor.done).then(|| cursor.advance(&self.request, window));
        self.turn.notify_all();
        found
    }

    /// Payloads of the frames that were found: from the window if it holds them, else from the source.
    fn fill(&self, window: Window<'_>, found: Scan, first: u64) -> Batch {
        let Request { source, kind, verify, .. } = &self.request;
        let start = found.offsets.first().map_or(found.end, |&offset| offset as u64);
        let (payloads, outcome) = match window.into_run(start..found.end) {
            Ok((memory, at)) => compact(*kind, &found, memory, at, *verify),
            Err(mut window) => {
                let mut payloads = Payloads::new(take_buffer(), found.offsets.len());
                let (offsets, lengths) = (&found.offsets[..], &found.lengths[..]);
                let selection = Selection { kind: *kind, offsets, lengths, verify: *verify };
                let outcome = gather(&mut window, selection, &mut payloads);
                give_buffer(window.into_buffer());
                (payloads, outcome)
            }
        };
        let stopped = source.check_unchanged().and(outcome.map_err(|stopped| stopped.error));
        let error = stopped.err().or(found.fault.map(SourceError::Fault));
        Batch { payloads, first, last: found.finished || error.is_some(), error }
    }

    /// The batch that is next in order, if it comes soon: from another thread within `PATIENCE`, or from here.
    fn take_ready(&self) -> Option<Batch> {
        let mut ready = lock(&self.ready);
        if ready.is_waited_for() && ready.has_room(self.depth) {
            self.make_one(ready);
            ready = lock(&self.ready);
        }
        if ready.is_waited_for() {
            ready = self.changed.wait_timeout(ready, PATIENCE).unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        let next = ready.next;
        let batch = ready.batches.remove(&next)?;
        ready.next += 1;
        ready.num_bytes -= batch.payloads.num_bytes();
        self.changed.notify_all();
        Some(batch)
    }

    /// Makes a batch and puts it where the caller takes it; false behind the last one.
    fn make_one(&self, mut ready: MutexGuard<'_, Ready>) -> bool {
        ready.started += 1;
        drop(ready);
        let Some((sequence, batch)) = self.produce() else { return false };
        let mut ready = lock(&self.ready);
        ready.num_bytes += batch.payloads.num_bytes();
        ready.batches.insert(sequence, batch);
        self.changed.notify_all();
        true
    }

    /// What a thread does: batches, as far ahead as the budget allows.
    fn work(&self) {
        loop {
            let mut ready = lock(&self.ready);
            while !ready.stop && !ready.has_room(self.depth) {
                ready = self.changed.wait(ready).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if ready.stop {
                return;
            }
            if !self.make_one(ready) {
                return;
            }
        }
    }
}

impl Ready {
    fn is_waited_for(&self) -> bool {
        !self.batches.contains_key(&self.next)
    }

    fn has_room(&self, depth: u64) -> bool {
        let ahead = self.started - self.next;
        ahead == 0 || (ahead < depth && self.num_bytes < BUDGET)
    }
}

/// Iterator over (data, row_splits) of `num_records` payloads each; the last may be shorter.
///
/// Records in front of damage are delivered before CoreFault is raised. With `threads` = 0 nothing is read ahead.
#[pyclass(module = "recordmill._core")]
pub struct BatchStream {
    job: Arc<Job>,
    threads: Vec<JoinHandle<()>>,
    num_threads: usize,
    pending: Option<(SourceError, u64)>,
    finished: bool,
    process: u32,
}

#[pymethods]
impl BatchStream {
    #[new]
    #[pyo3(signature = (source, kind, num_records, *, verify=true, threads=2))]
    fn new(source: &Source, kind: PyFrameKind, num_records: u64, verify: bool, threads: usize) -> Self {
        let (source, num_records) = (source.plain().clone(), num_records.max(1));
        let job = Job {
            request: Request { source, kind: kind.into(), verify, num_records },
            depth: threads as u64 + 1,
            cursor: Mutex::new(Cursor::new()),
            turn: Condvar::new(),
            ready: Mutex::new(Ready::default()),
            changed: Condvar::new(),
        };
        Self {
            job: Arc::new(job),
            threads: Vec::new(),
            num_threads: threads,
            pending: None,
            finished: false,
            process: std::process::id(),
        }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(Block, Block)>> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err("an iterator cannot go on in a forked process; make a new one there"));
        }
        if let Some((error, record)) = self.pending.take() {
            return Err(source_error(error, Some(record as usize)));
        }
        if self.finished {
            return Ok(None);
        }
        let Some(batch) = self.take(py)? else { return Ok(None) };
        if batch.last {
            self.finished = true;
            self.signal_stop();
        }
        let num_records = batch.payloads.len() as u64;
        match batch.error {
            Some(error) if num_records == 0 => return Err(source_error(error, Some(batch.first as usize))),
            Some(error) => self.pending = Some((error, batch.first + num_records)),
            None if num_records == 0 => return Ok(None),
            None => {}
        }
        Ok(Some(payload_blocks(batch.payloads)))
    }

    /// Stops the threads; safe to call twice.
    fn close(&mut self, py: Python<'_>) {
        self.finished = true;
        py.detach(|| self.stop());
    }
}

impl BatchStream {
    fn take(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        if self.num_threads == 0 {
            return Ok(py.detach(|| self.job.produce()).map(|(_, batch)| batch));
        }
        // The caller is one of them.
        while self.threads.len() + 1 < self.num_threads.max(2) {
            let job = self.job.clone();
            self.threads.push(std::thread::Builder::new().name("recordmill-read".into()).spawn(move || job.work())?);
        }
        loop {
            if let Some(batch) = py.detach(|| self.job.take_ready()) {
                return Ok(Some(batch));
            }
            py.check_signals()?;
        }
    }

    fn signal_stop(&self) {
        lock(&self.job.ready).stop = true;
        self.job.changed.notify_all();
    }

    fn stop(&mut self) {
        self.signal_stop();
        for thread in std::mem::take(&mut self.threads) {
            let _ = thread.join();
        }
    }
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.stop();
        } else {
            // The threads belong to the parent process; here their handles lead nowhere.
            std::mem::take(&mut self.threads).into_iter().for_each(std::mem::forget);
        }
    }
}
