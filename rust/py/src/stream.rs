//! Payloads of a shard in batches, read ahead by threads, without an index.
//!
//! One thread at a time finds the end of the next batch, which is cheap; threads read, check and copy batches in parallel.
//! A caller that finds no finished batch computes one itself instead of waiting.
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use recordmill_core::framing::{
    FrameKind, Limit, Payloads, SKIP, Scan, Selection, Window, compact, gather, scan_window,
};
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{Block, give_buffer, take_buffer};
use crate::error::source_error;
use crate::framing::{PyFrameKind, payload_blocks};
use crate::source::Source;

/// Largest total size of the batches that wait for the caller, in bytes.
const BUDGET: usize = 64 << 20;
/// Interval at which a waiting caller checks for signals.
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

// The bounds of batches in a stream: exact ones behind the cursor, estimates ahead of it.

/// First estimate of a batch's stored bytes.
const FIRST_RUN: usize = 256 << 10;
/// Bytes from which a better estimate is made.
const SAMPLE: usize = 16 << 10;
/// Batches above this are not kept in memory twice; their frames are read again once their ends are known.
const KEEP_RUN: usize = 8 << 20;

/// What is read, and how many records make a batch.
pub struct Request {
    /// The shard.
    pub source: Arc<dyn ReadAt>,
    /// Its framing.
    pub kind: FrameKind,
    /// Whether checksums are computed.
    pub verify: bool,
    /// Records per batch.
    pub num_records: u64,
}

/// Where the next batch begins, and what the last one tells of those that follow.
pub struct Cursor {
    offset: u64,
    /// The batch whose turn it is.
    pub sequence: u64,
    record: u64,
    issued: u64,
    run: usize,
    mean: u64,
    /// Whether there are no more batches.
    pub done: bool,
}

impl Cursor {
    /// At the start of a shard.
    pub fn new() -> Self {
        Self { offset: 0, sequence: 0, record: 0, issued: 0, run: FIRST_RUN, mean: 0, done: false }
    }

    /// Whether the bytes of a batch are kept from the search for its frames until they are delivered.
    fn keeps(&self, request: &Request) -> bool {
        request.source.is_sequential() || (self.run <= KEEP_RUN && self.mean <= SKIP)
    }

    /// A place in the order, and where the bytes of that batch are likely to lie, if that can be told.
    pub fn issue(&mut self, request: &Request) -> Option<(u64, Option<(u64, usize)>)> {
        if self.done {
            return None;
        }
        let sequence = self.issued;
        self.issued += 1;
        if sequence == 0 && !request.source.is_sequential() {
            self.sample(request);
        }
        if self.mean == 0 || request.source.is_sequential() || !self.keeps(request) {
            return Some((sequence, None));
        }
        let (ahead, margin) = (sequence - self.sequence, margin(self.run));
        let start = self.offset + ahead * self.run as u64;
        let before = ahead * margin as u64;
        Some((sequence, Some((start.saturating_sub(before), self.run + margin + 2 * before as usize))))
    }

    /// Guesses the length of a batch from the first few records.
    fn sample(&mut self, request: &Request) {
        let limit = Limit { num_records: request.num_records, num_bytes: SAMPLE as u64 };
        let mut window = Window::new(&request.source, Vec::new());
        // What fails here fails again where it matters.
        let Ok(found) = scan_window(&mut window, request.kind, self.offset, false, limit, SAMPLE) else { return };
        if let Some(mean) = (found.end - self.offset).checked_div(found.offsets.len() as u64) {
            self.mean = mean;
            self.run = usize::try_from(mean.saturating_mul(request.num_records)).unwrap_or(usize::MAX / 4);
        }
    }

    /// Finds the frames of the next batch: its first record, the frames.
    pub fn advance(&mut self, request: &Request, window: &mut Window<'_>) -> (u64, Result<Scan, SourceError>) {
        let keep = self.keeps(request);
        if keep {
            window.pin(self.offset);
        }
        let limit = Limit { num_records: request.num_records, num_bytes: u64::MAX };
        let ahead = match keep {
            true if window.held(self.offset).is_empty() => self.run.min(KEEP_RUN) + margin(self.run),
            true => margin(self.run),
            false => 64,
        };
        let found = scan_window(window, request.kind, self.offset, false, limit, ahead);
        let first = self.record;
        self.sequence += 1;
        match &found {
            Ok(found) => {
                self.run = (found.end - self.offset) as usize;
                self.mean = (self.run / found.offsets.len().max(1)) as u64;
                self.offset = found.end;
                self.record += found.offsets.len() as u64;
                self.done = found.finished || found.fault.is_some();
            }
            Err(_) => self.done = true,
        }
        (first, found)
    }
}

/// By how much a batch of about `run` bytes may be longer than the one before it.
fn margin(run: usize) -> usize {
    run / 64 + 4096
}
