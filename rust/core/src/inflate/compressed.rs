//! Random access to the uncompressed data of a compressed file, with seek points and a pool of cursors.
use super::cursor::{Cursor, PointSchedule, StreamEnd, StreamOptions};
use super::saved::{self, SavedPoints};
use super::seek_points::{SeekPoint, SeekPoints};
use super::{Container, Limits};
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};
use crate::source::{ReadAt, SourceError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of idle cursors (about 0.2 MB each) that the pool may always keep, even if only one thread reads at a time.
const MIN_IDLE: usize = 4;
const MAX_IDLE: usize = 32;
/// Reads up to this length are copied from an idle cursor's output under the lock, which is faster than taking the
/// cursor out of the pool.
const MAX_SMALL_READ: usize = 16 * 1024;

/// A file that is one gzip or zlib stream, presented as its uncompressed data.
///
/// Sequential reads cost one pass of the decompressor, however small they are. During the pass, seek points are
/// recorded: at the first boundary between deflate blocks, or between gzip members, after every `spacing` bytes of
/// output. A read at any other offset inflates from the nearest seek point before it, so its cost is bounded by
/// `spacing` plus the output of one deflate block. Compressors limit blocks to a few MB; a stream that consists of one
/// block has no seek points, so a read at an earlier offset inflates from the start.
///
/// **Checksums.** Every cursor that reaches the end of a member compares checksum and length with the trailer. This
/// includes cursors that start at a seek point, because a seek point stores the running checksum of the pass that
/// recorded it. A member whose end is never read is not verified.
///
/// **Damage.** Data before the damage is returned. A read that yields at least one byte succeeds, possibly with fewer
/// bytes than requested; each read that starts at the end of the valid data returns the fault. After a wrong trailer,
/// or with garbage after the stream, all data is returned and a read at its end returns the fault instead of 0 bytes.
/// The last bytes before the damage may be wrong, because the decompressor can detect damage late; only the checksum in
/// the trailer is reliable.
///
/// An empty file is an empty stream. Zero bytes after the last gzip member are padding.
pub struct CompressedSource<S> {
    inner: S,
    options: StreamOptions,
    shared: Mutex<SharedState>,
}

/// Result of [`acquire_cursor`](CompressedSource::acquire_cursor).
enum ReadStart {
    /// The cursor that serves the read.
    Cursor(Cursor),
    /// No cursor: the offset is at or after the end of the data.
    PastEnd(StreamEnd),
}

struct SharedState {
    points: SeekPoints,
    /// Cursors that are not in use by a read, in the order of their last use.
    idle: Vec<Cursor>,
    num_busy: usize,
    peak_busy: usize,
    end: Option<StreamEnd>,
}

impl<S: ReadAt> CompressedSource<S> {
    /// Creates a source of the uncompressed data of `inner`, the compressed file, without reading from it.
    ///
    /// `spacing` is the minimum number of decompressed bytes between two seek points; `u64::MAX` records none. A seek
    /// point takes up to 32 KiB of memory. If there are more than 4096 seek points, every second one is dropped and the
    /// spacing doubles.
    pub fn new(inner: S, container: Container, limits: Limits, spacing: u64) -> Self {
        let shared =
            SharedState { points: SeekPoints::new(spacing), idle: Vec::new(), num_busy: 0, peak_busy: 0, end: None };
        Self { inner, options: StreamOptions { container, max_bytes: limits.max_bytes }, shared: Mutex::new(shared) }
    }

    /// Restores the seek points, and the total size if it was known, from the result of
    /// [`save_seek_points`](Self::save_seek_points) for the same file.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if the blob is damaged, has another version or container, or belongs to a compressed file of
    /// another size; the offset of the fault is an offset in `blob`. In this case, the source does not change.
    pub fn restore_seek_points(&self, blob: &[u8]) -> Result<(), Fault> {
        let saved = saved::decode_seek_points(blob, self.options.container, self.inner.num_bytes())?;
        let mut shared = self.lock_state();
        if let Some(num_bytes) = saved.num_bytes.filter(|&num_bytes| num_bytes <= self.options.max_bytes) {
            shared.end.get_or_insert(StreamEnd { num_bytes, fault: None });
        }
        shared.points.merge(saved.points);
        Ok(())
    }

    /// Serializes the known seek points, and the total size if it is known, for
    /// [`restore_seek_points`](Self::restore_seek_points).
    pub fn save_seek_points(&self) -> Result<Vec<u8>, OutOfMemory> {
        let (mut points, num_bytes) = {
            let shared = self.lock_state();
            (shared.points.copy()?, shared.num_bytes())
        };
        points.deflate_windows()?;
        self.lock_state().points.replace_windows(points.as_slice());
        saved::encode_seek_points(&SavedPoints { points, num_bytes }, self.options.container, self.inner.num_bytes())
    }

    /// Returns the number of known seek points, not counting the start of the file.
    pub fn num_seek_points(&self) -> usize {
        self.lock_state().points.as_slice().len()
    }

    /// Returns the known seek points in ascending order of their offsets.
    pub fn seek_points(&self) -> Result<Vec<SeekPoint>, OutOfMemory> {
        memory::copy(self.lock_state().points.as_slice())
    }

    /// Returns the compressed source.
    pub fn compressed_source(&self) -> &S {
        &self.inner
    }

    fn lock_state(&self) -> MutexGuard<'_, SharedState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cursor that reaches `offset` with the least work, or the end of the data if `offset` is at or after it.
    fn acquire_cursor(&self, offset: u64) -> Result<ReadStart, Fault> {
        let (idle, point, schedule) = {
            let mut shared = self.lock_state();
            if let Some(end) = shared.end.as_ref().filter(|end| offset >= end.num_bytes) {
                return Ok(ReadStart::PastEnd(end.clone()));
            }
            shared.num_busy += 1;
            shared.peak_busy = shared.peak_busy.max(shared.num_busy);
            shared.choose_start(offset, offset.min(self.options.max_bytes))
        };
        let cursor = idle.map_or_else(|| Cursor::new_at(self.options, point.as_ref()), Ok);
        let mut cursor = cursor.inspect_err(|_| self.lock_state().num_busy -= 1)?;
        cursor.set_schedule(schedule);
        Ok(ReadStart::Cursor(cursor))
    }

    /// Adds the seek points and the stream end that a cursor found, and returns the cursor to the pool if it is usable.
    ///
    /// A cursor whose read failed is not usable, because its state may be inconsistent.
    fn return_cursor(&self, mut cursor: Cursor, is_usable: bool) {
        let mut shared = self.lock_state();
        shared.num_busy -= 1;
        for point in cursor.take_seek_points() {
            shared.points.push_if_spaced(point);
        }
        if let (None, Some(end)) = (&shared.end, cursor.stream_end()) {
            shared.end = Some(end.clone());
        }
        if is_usable {
            shared.keep_idle_cursor(cursor);
        }
    }
}

impl SharedState {
    fn num_bytes(&self) -> Option<u64> {
        self.end.as_ref().filter(|end| end.fault.is_none()).map(|end| end.num_bytes)
    }

    /// Fills `buf` with the bytes at `offset` if the output buffer of an idle cursor contains them all; otherwise
    /// returns false.
    fn copy_buffered(&self, offset: u64, buf: &mut [u8]) -> bool {
        buf.len() <= MAX_SMALL_READ && self.idle.iter().rev().any(|cursor| cursor.copy_if_buffered(offset, buf))
    }

    /// Chooses an idle cursor or the last seek point at or before `reachable`, whichever is nearer to `offset`.
    ///
    /// Returns neither if the read must begin at the start of the file.
    fn choose_start(&mut self, offset: u64, reachable: u64) -> (Option<Cursor>, Option<SeekPoint>, PointSchedule) {
        let schedule = PointSchedule { next_offset: self.points.next_offset(), spacing: self.points.spacing() };
        let point = self.points.last_at_or_before(reachable);
        let point_offset = point.map_or(0, |point| point.offset_out);
        let reach = |cursor: &Cursor| cursor.end_offset().min(offset);
        let fits = |cursor: &Cursor| cursor.first_offset() <= offset && reach(cursor) >= point_offset;
        let candidates = self.idle.iter().enumerate().filter(|(_, cursor)| fits(cursor));
        match candidates.max_by_key(|(_, cursor)| reach(cursor)) {
            Some((index, _)) => (Some(self.idle.remove(index)), None, schedule),
            None => (None, point.cloned(), schedule),
        }
    }

    fn keep_idle_cursor(&mut self, cursor: Cursor) {
        self.idle.push(cursor);
        if self.idle.len() > self.peak_busy.clamp(MIN_IDLE, MAX_IDLE) {
            self.idle.remove(0);
        }
    }
}

impl<S: ReadAt> ReadAt for CompressedSource<S> {
    /// Returns the decompressed size; None until a valid end of the stream has been read or restored.
    fn num_bytes(&self) -> Option<u64> {
        self.lock_state().num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        if buf.is_empty() {
            return Ok(0);
        }
        if self.lock_state().copy_buffered(offset, buf) {
            return Ok(buf.len());
        }
        let mut cursor = match self.acquire_cursor(offset)? {
            ReadStart::Cursor(cursor) => cursor,
            ReadStart::PastEnd(end) => return end.fault.map_or(Ok(0), |fault| Err(fault.into())),
        };
        let result = cursor.read_at(&self.inner, offset, buf);
        let fault = cursor.stream_end().and_then(|end| end.fault.clone());
        self.return_cursor(cursor, result.is_ok());
        match (result, fault) {
            (Ok(0), Some(fault)) => Err(fault.into()),
            (result, _) => result,
        }
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.inner.check_unchanged()
    }
}
