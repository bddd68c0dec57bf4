//! Iterator over the payloads of a shard in batches, which needs no index and prefetches with threads.
//!
//! One thread at a time finds the end of the next batch, which is cheap. Threads read, verify and copy batches in
//! parallel. A caller that finds no finished batch produces one itself instead of waiting.
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use recordmill_core::checksum::crc32c_of_rows;
use recordmill_core::framing::{
    FrameKind, FrameSelection, MAX_READ_THROUGH, PayloadBuffer, ScanLimit, ScanResult, SourceWindow,
    compare_indexed_checksum, extract_payloads_in_place, gather_payloads, scan_window,
};
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{Block, copy_array, recycle_buffer, take_pooled_buffer};
use crate::error::{is_python_exception, source_error};
use crate::framing::{PyFrameKind, payloads_to_python};
use crate::source::Source;

/// Maximum total size of the finished batches that wait for the caller, in bytes.
const MAX_READY_BYTES: usize = 64 << 20;
/// Maximum number of threads; more would not read faster.
const MAX_THREADS: usize = 256;
/// Number of payloads whose checksums are computed together.
const CHECKSUM_GROUP_LEN: usize = 48;
/// Interval at which a waiting caller checks for signals.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

struct PayloadBatch {
    payloads: PayloadBuffer,
    /// Ordinal of the first record of the batch in the shard.
    first: u64,
    /// The error that ended the batch after its last payload.
    error: Option<SourceError>,
    is_last: bool,
}

/// Finished batches that wait for the caller.
#[derive(Default)]
struct ReadyBatches {
    batches: BTreeMap<u64, PayloadBatch>,
    /// Ordinal of the batch that the caller takes next.
    next: u64,
    /// Number of batches whose production has started.
    num_started: u64,
    num_bytes: usize,
    stop: bool,
}

/// State that the caller and the threads share.
struct StreamState {
    request: StreamRequest,
    /// Maximum number of batches whose production has started and that the caller has not taken.
    depth: u64,
    cursor: Mutex<BatchCursor>,
    /// Notified when `cursor` has advanced.
    advanced: Condvar,
    ready: Mutex<ReadyBatches>,
    /// Notified when `ready` has changed.
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl StreamState {
    /// Produces the next batch; returns its number and the batch, or None after the last one.
    ///
    /// The bytes are read from an estimated offset before the exact offset is known, so that threads read in parallel.
    fn produce_batch(&self) -> Option<(u64, PayloadBatch)> {
        let (number, estimate) = lock(&self.cursor).start_batch(&self.request)?;
        let mut window = SourceWindow::new(&self.request.source, take_pooled_buffer());
        if let Some((offset, length)) = estimate
            && let Err(error) = window.read_bytes(offset, length, 0)
        {
            lock(&self.cursor).keep_exception(error);
        }
        let (first, scan) = self.find_batch_frames(number, &mut window)?;
        let batch = match scan {
            Ok(scan) => self.read_payloads(window, scan, first),
            Err(error) => {
                PayloadBatch { payloads: PayloadBuffer::new(Vec::new(), 0), first, error: Some(error), is_last: true }
            }
        };
        Some((number, batch))
    }

    /// Waits until the cursor has reached a batch, then finds its frames. Returns None if the data ends before that
    /// batch.
    fn find_batch_frames(
        &self,
        number: u64,
        window: &mut SourceWindow<'_>,
    ) -> Option<(u64, Result<ScanResult, SourceError>)> {
        let mut cursor = lock(&self.cursor);
        while cursor.next != number && !cursor.is_done {
            cursor = self.advanced.wait(cursor).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        let scan = (!cursor.is_done).then(|| cursor.scan_next_batch(&self.request, window));
        self.advanced.notify_all();
        scan
    }

    /// Extracts the payloads of frames from the window if it contains them, or reads them from the source.
    fn read_payloads(&self, window: SourceWindow<'_>, scan: ScanResult, first: u64) -> PayloadBatch {
        let StreamRequest { source, kind, verify, max_record_bytes, .. } = &self.request;
        let start = scan.offsets.first().map_or(scan.end, |&offset| offset as u64);
        let (mut payloads, result) = match window.into_buffer_with(start..scan.end) {
            Ok((buffer, position)) => extract_payloads_in_place(*kind, &scan, buffer, position, *verify),
            Err(mut window) => {
                let mut payloads = PayloadBuffer::new(take_pooled_buffer(), scan.offsets.len());
                let (offsets, lengths) = (&scan.offsets[..], &scan.lengths[..]);
                let selection = FrameSelection {
                    kind: *kind,
                    offsets,
                    lengths,
                    verify: *verify,
                    checksums: None,
                    max_payload_bytes: *max_record_bytes,
                };
                let result = gather_payloads(&mut window, selection, &mut payloads);
                recycle_buffer(window.into_buffer());
                (payloads, result)
            }
        };
        let result =
            self.compare_indexed_checksums(&mut payloads, &scan, first).and(result.map_err(|failure| failure.error));
        let result = source.check_unchanged().and(result);
        let error = result.err().or(scan.fault.map(SourceError::Fault));
        PayloadBatch { payloads, first, is_last: scan.finished || error.is_some(), error }
    }

    /// Compares payloads with their checksums in the index; removes the first one that differs and all after it.
    fn compare_indexed_checksums(
        &self,
        payloads: &mut PayloadBuffer,
        scan: &ScanResult,
        first: u64,
    ) -> Result<(), SourceError> {
        let checksums = self.request.checksums.get(first as usize..).unwrap_or_default();
        let count = checksums.len().min(payloads.num_payloads());
        for start in (0..count).step_by(CHECKSUM_GROUP_LEN) {
            let group = start..count.min(start + CHECKSUM_GROUP_LEN);
            let rows: Vec<_> = group.clone().map(|ordinal| payloads.payload(ordinal)).collect();
            let mut found = [0; CHECKSUM_GROUP_LEN];
            crc32c_of_rows(&rows, &mut found[..rows.len()]);
            for (ordinal, found) in group.zip(found) {
                let offset = scan.offsets[ordinal] as u64;
                if let Err(fault) = compare_indexed_checksum(checksums[ordinal], found, offset) {
                    payloads.truncate(ordinal);
                    return Err(fault.into());
                }
            }
        }
        Ok(())
    }

    /// Takes the next batch. If it is not finished, produces a batch or waits up to `SIGNAL_CHECK_INTERVAL`. Returns
    /// None if it is still not finished then.
    fn take_next_batch(&self) -> Option<PayloadBatch> {
        let mut ready = lock(&self.ready);
        if !ready.is_next_ready() && ready.may_start_batch(self.depth) {
            self.produce_ready_batch(ready);
            ready = lock(&self.ready);
        }
        if !ready.is_next_ready() {
            let waited = self.changed.wait_timeout(ready, SIGNAL_CHECK_INTERVAL);
            ready = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        let next = ready.next;
        let batch = ready.batches.remove(&next)?;
        ready.next += 1;
        ready.num_bytes -= batch.payloads.num_bytes();
        self.changed.notify_all();
        Some(batch)
    }

    /// Produces a batch and adds it to the finished ones. Returns false after the last batch.
    fn produce_ready_batch(&self, mut ready: MutexGuard<'_, ReadyBatches>) -> bool {
        ready.num_started += 1;
        drop(ready);
        let Some((number, batch)) = self.produce_batch() else { return false };
        let mut ready = lock(&self.ready);
        ready.num_bytes += batch.payloads.num_bytes();
        ready.batches.insert(number, batch);
        self.changed.notify_all();
        true
    }

    /// Runs in each thread: produces batches as far ahead as `depth` and `MAX_READY_BYTES` allow.
    fn produce_in_thread(&self) {
        loop {
            let mut ready = lock(&self.ready);
            while !ready.stop && !ready.may_start_batch(self.depth) {
                ready = self.changed.wait(ready).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if ready.stop || !self.produce_ready_batch(ready) {
                return;
            }
        }
    }
}

impl ReadyBatches {
    fn is_next_ready(&self) -> bool {
        self.batches.contains_key(&self.next)
    }

    /// Returns whether another batch may be started.
    fn may_start_batch(&self, depth: u64) -> bool {
        let ahead = self.num_started - self.next;
        ahead == 0 || (ahead < depth && self.num_bytes < MAX_READY_BYTES)
    }
}

/// Iterator over batches of `num_records` payloads, as (data, row_splits). The last batch may be shorter.
///
/// The records before damage are returned before CoreFault is raised. With `threads` = 0, nothing is prefetched.
#[pyclass(module = "recordmill._core")]
pub struct BatchStream {
    shared: Arc<StreamState>,
    threads: Vec<JoinHandle<()>>,
    num_threads: usize,
    /// The error to raise next, and the ordinal of its record.
    pending: Option<(SourceError, u64)>,
    is_finished: bool,
    /// Id of the process that created the stream.
    process: u32,
}

#[pymethods]
impl BatchStream {
    #[new]
    #[pyo3(signature = (source, kind, num_records, *, checksums=None, verify=true, threads=2))]
    fn new(
        py: Python<'_>,
        source: &Source,
        kind: PyFrameKind,
        num_records: u64,
        checksums: Option<&Bound<'_, PyAny>>,
        verify: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let (max_record_bytes, num_records) = (source.max_record_bytes(), num_records.max(1));
        let threads = threads.min(MAX_THREADS);
        let source = source.uncompressed().clone();
        let checksums = checksums.map_or(Ok(Vec::new()), |checksums| copy_array(py, checksums))?;
        let shared = StreamState {
            request: StreamRequest { source, kind: kind.into(), checksums, verify, num_records, max_record_bytes },
            depth: threads as u64 + 1,
            cursor: Mutex::new(BatchCursor::new()),
            advanced: Condvar::new(),
            ready: Mutex::new(ReadyBatches::default()),
            changed: Condvar::new(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            threads: Vec::new(),
            num_threads: threads,
            pending: None,
            is_finished: false,
            process: std::process::id(),
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(Block, Block)>> {
        if self.process != std::process::id() {
            let message = "an iterator cannot be used in a forked process; create a new one there";
            return Err(PyRuntimeError::new_err(message));
        }
        if let Some((error, record)) = self.pending.take() {
            return Err(source_error(error, Some(record as usize)));
        }
        if self.is_finished {
            return Ok(None);
        }
        let Some(batch) = self.take_next_batch(py)? else { return Ok(None) };
        if batch.is_last {
            self.is_finished = true;
            self.signal_stop();
        }
        let num_records = batch.payloads.num_payloads() as u64;
        match batch.error {
            Some(error) if num_records == 0 => return Err(source_error(error, Some(batch.first as usize))),
            Some(error) => self.pending = Some((error, batch.first + num_records)),
            None if num_records == 0 => return Ok(None),
            None => {}
        }
        Ok(Some(payloads_to_python(batch.payloads)))
    }

    /// Stop the threads. A second call has no effect.
    fn close(&mut self, py: Python<'_>) {
        self.is_finished = true;
        py.detach(|| self.stop_threads());
    }
}

impl BatchStream {
    fn take_next_batch(&mut self, py: Python<'_>) -> PyResult<Option<PayloadBatch>> {
        if self.num_threads == 0 {
            return Ok(py.detach(|| self.shared.produce_batch()).map(|(_, batch)| batch));
        }
        // The caller's thread produces batches as well.
        while self.threads.len() + 1 < self.num_threads.max(2) {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("recordmill-read".into());
            self.threads.push(thread.spawn(move || shared.produce_in_thread())?);
        }
        loop {
            if let Some(batch) = py.detach(|| self.shared.take_next_batch()) {
                return Ok(Some(batch));
            }
            py.check_signals()?;
        }
    }

    fn signal_stop(&self) {
        lock(&self.shared.ready).stop = true;
        self.shared.changed.notify_all();
    }

    fn stop_threads(&mut self) {
        self.signal_stop();
        for thread in std::mem::take(&mut self.threads) {
            let _ = thread.join();
        }
    }
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // The threads may need the interpreter lock, to read from a source of Python.
            Python::attach(|py| py.detach(|| self.stop_threads()));
        } else {
            // The threads exist only in the parent process, so they cannot be joined here.
            std::mem::take(&mut self.threads).into_iter().for_each(std::mem::forget);
        }
    }
}

// Offsets of the batches in a shard. They are exact up to the cursor and estimated after it.

/// Initial estimate of the number of bytes that a batch occupies in the shard.
const INITIAL_BATCH_LEN: usize = 256 << 10;
/// Number of bytes at the start of the shard from which a better estimate is computed.
const SAMPLE_BYTES: usize = 16 << 10;
/// Maximum length of a batch whose bytes are buffered while its frames are found. The frames of longer batches are read
/// again afterwards, directly into the output.
const MAX_BUFFERED_BATCH: usize = 8 << 20;
/// Number of bytes per read while the frames of such a longer batch are found; only their headers are needed then.
const HEADER_READ_AHEAD: usize = 64;

/// The shard to read, and the number of records per batch.
struct StreamRequest {
    source: Arc<dyn ReadAt>,
    kind: FrameKind,
    /// CRC-32C of each payload in the sidecar index, or -1 if unknown. May have fewer entries than there are payloads.
    checksums: Vec<i64>,
    /// Whether to verify checksums.
    verify: bool,
    /// Number of records per batch.
    num_records: u64,
    /// Maximum length of a payload; records with a longer one are not read.
    max_record_bytes: u64,
}

/// The offset where the next batch starts, and estimates for the batches after it.
struct BatchCursor {
    /// Offset of the next batch.
    offset: u64,
    /// Ordinal of the next batch.
    next: u64,
    /// Ordinal of the first record of the next batch.
    record: u64,
    /// Number of batches whose production has started.
    num_started: u64,
    /// Estimated length of a batch.
    batch_len: usize,
    /// Estimated length of a record; 0 if unknown.
    record_len: u64,
    /// Whether there are no more batches.
    is_done: bool,
    /// A Python exception that occurred while bytes were read ahead.
    exception: Option<SourceError>,
}

impl BatchCursor {
    /// Creates a cursor at the start of a shard.
    fn new() -> Self {
        Self {
            offset: 0,
            next: 0,
            record: 0,
            num_started: 0,
            batch_len: INITIAL_BATCH_LEN,
            record_len: 0,
            is_done: false,
            exception: None,
        }
    }

    /// Keeps the error of a read if it is a Python exception. Other errors are ignored, because they occur again when
    /// the frames are scanned.
    fn keep_exception(&mut self, error: SourceError) {
        if is_python_exception(&error) {
            self.exception = Some(error);
        }
    }

    /// Returns whether the bytes of a batch are buffered while its frames are found.
    fn buffers_batch(&self, request: &StreamRequest) -> bool {
        request.source.is_sequential() || (self.batch_len <= MAX_BUFFERED_BATCH && self.record_len <= MAX_READ_THROUGH)
    }

    /// Assigns the next batch to the caller; returns its number and, if available, an estimate of its offset and
    /// length.
    fn start_batch(&mut self, request: &StreamRequest) -> Option<(u64, Option<(u64, usize)>)> {
        if self.is_done {
            return None;
        }
        let number = self.num_started;
        self.num_started += 1;
        if number == 0 && !request.source.is_sequential() {
            self.estimate_lengths(request);
        }
        if self.record_len == 0 || request.source.is_sequential() || !self.buffers_batch(request) {
            return Some((number, None));
        }
        let (ahead, margin) = (number - self.next, batch_len_margin(self.batch_len));
        let start = self.offset + ahead * self.batch_len as u64;
        let uncertainty = ahead * margin as u64;
        let length = self.batch_len + margin + 2 * uncertainty as usize;
        Some((number, Some((start.saturating_sub(uncertainty), length))))
    }

    /// Estimates the length of records and batches from the first records.
    fn estimate_lengths(&mut self, request: &StreamRequest) {
        let (num_records, max_payload_bytes) = (request.num_records, request.max_record_bytes);
        let limit = ScanLimit { num_records, num_bytes: SAMPLE_BYTES as u64, max_payload_bytes };
        let mut window = SourceWindow::new(&request.source, Vec::new());
        let scan = scan_window(&mut window, request.kind, self.offset, false, limit, SAMPLE_BYTES);
        let scan = match scan {
            Ok(scan) => scan,
            Err(error) => return self.keep_exception(error),
        };
        if let Some(mean) = (scan.end - self.offset).checked_div(scan.offsets.len() as u64) {
            self.record_len = mean;
            self.batch_len = usize::try_from(mean.saturating_mul(request.num_records)).unwrap_or(usize::MAX / 4);
        }
    }

    /// Finds the frames of the next batch; returns the ordinal of its first record and the frames.
    fn scan_next_batch(
        &mut self,
        request: &StreamRequest,
        window: &mut SourceWindow<'_>,
    ) -> (u64, Result<ScanResult, SourceError>) {
        let buffers_batch = self.buffers_batch(request);
        if buffers_batch {
            window.pin(self.offset);
        }
        let (num_records, max_payload_bytes) = (request.num_records, request.max_record_bytes);
        let limit = ScanLimit { num_records, num_bytes: u64::MAX, max_payload_bytes };
        let ahead = match buffers_batch {
            true if window.buffered_from(self.offset).is_empty() => {
                self.batch_len.min(MAX_BUFFERED_BATCH) + batch_len_margin(self.batch_len)
            }
            true => batch_len_margin(self.batch_len),
            false => HEADER_READ_AHEAD,
        };
        let scan = match self.exception.take() {
            Some(exception) => Err(exception),
            None => scan_window(window, request.kind, self.offset, false, limit, ahead),
        };
        let first = self.record;
        self.next += 1;
        match &scan {
            Ok(scan) => {
                self.batch_len = (scan.end - self.offset) as usize;
                self.record_len = (self.batch_len / scan.offsets.len().max(1)) as u64;
                self.offset = scan.end;
                self.record += scan.offsets.len() as u64;
                self.is_done = scan.finished || scan.fault.is_some();
            }
            Err(_) => self.is_done = true,
        }
        (first, scan)
    }
}

/// Returns the number of bytes by which a batch may exceed the previous one, which has `batch_len` bytes.
fn batch_len_margin(batch_len: usize) -> usize {
    batch_len / 64 + 4096
}
