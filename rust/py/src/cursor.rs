//! Where the batches of a stream begin and end, and where the next ones are likely to.
use std::sync::Arc;

use recordmill_core::framing::{FrameKind, Limit, SKIP, Scan, Window, scan_window};
use recordmill_core::source::{ReadAt, SourceError};

/// A first guess of a batch's stored bytes.
const FIRST_RUN: usize = 256 << 10;
/// Bytes from which a better guess is made.
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
