//! A compressed file as a positioned reader: seek points and a small pool of cursors behind one lock.
use super::cursor::{Cursor, Ending, PointPlan, Rules};
use super::saved::{self, Saved};
use super::seek_points::{SeekPoint, SeekPoints};
use super::{Container, Limits};
use crate::error::Fault;
use crate::source::{ReadAt, SourceError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Idle cursors (about 0.2 MB each) that are kept even if never more than one thread reads.
const MIN_IDLE: usize = 4;
const MAX_IDLE: usize = 32;
/// Reads up to this long are copied from an idle cursor's output under the lock, which is quicker than taking it out.
const SMALL_READ: usize = 16 * 1024;

/// A whole-file gzip or zlib stream, presented as the uncompressed data.
///
/// Reading forward costs one pass of the decompressor, however small the reads. On the way, seek points are recorded:
/// at the first boundary between deflate blocks, or between gzip members, after every `spacing` bytes of output. A read
/// at any other place inflates from the nearest seek point before it, so its cost is bounded by `spacing` plus the
/// output of one deflate block (compressors keep blocks below a few MB; a stream that is one single block can be read
/// forward only, and going back starts anew).
///
/// **Checks.** Every cursor that reaches the end of a member compares checksum and length with the trailer. A seek point
/// carries the running checksum, so this holds for cursors that began in the middle too; for them, what lies before
/// the point was taken in by the pass that recorded it. A member of which the end is never read is not checked.
///
/// **Damage.** Data before damage are delivered. A read that yields at least one byte succeeds, if short; the read that
/// begins where the data end returns the fault, each time. After a bad trailer, or with garbage behind the stream, all
/// data come out and the read at their end returns the fault instead of 0. Bytes that come shortly before a damaged
/// place may be wrong: the decompressor can notice damage late, and only the trailer's checksum is certain.
///
/// A file of no bytes is an empty stream. Zero bytes after the last gzip member are padding.
pub struct CompressedSource<S> {
    inner: S,
    rules: Rules,
    shared: Mutex<Shared>,
}

/// Where a read begins, seen from the data.
enum Place {
    Inside(Cursor),
    Behind(Ending),
}

struct Shared {
    points: SeekPoints,
    /// Cursors that no read is using, the one used last at the end.
    idle: Vec<Cursor>,
    num_busy: usize,
    peak_busy: usize,
    ending: Option<Ending>,
}

impl<S: ReadAt> CompressedSource<S> {
    /// Reads `inner` as `container`; nothing is read yet. `spacing` is the least number of decompressed bytes between
    /// two seek points; each takes up to 32 KiB of memory (`u64::MAX` records none). Past 4096 points every second one
    /// is dropped and the spacing doubles.
    pub fn new(inner: S, container: Container, limits: Limits, spacing: u64) -> Self {
        let shared =
            Shared { points: SeekPoints::new(spacing), idle: Vec::new(), num_busy: 0, peak_busy: 0, ending: None };
        Self { inner, rules: Rules { container, max_bytes: limits.max_bytes }, shared: Mutex::new(shared) }
    }

    /// Takes over seek points, and the total size if it is in them, from `save` of a source on the same file.
    ///
    /// # Errors
    ///
    /// A [`Fault`] whose offset counts bytes of `blob`, if the blob is damaged, of another version or container, or
    /// made for a compressed file of another size. The source is then as before.
    pub fn restore(&self, blob: &[u8]) -> Result<(), Fault> {
        let saved = saved::decode(blob, self.rules.container, self.inner.num_bytes())?;
        let mut shared = self.lock();
        if let Some(num_bytes) = saved.num_bytes.filter(|&num_bytes| num_bytes <= self.rules.max_bytes) {
            shared.ending.get_or_insert(Ending { num_bytes, fault: None });
        }
        shared.points.merge(saved.points);
        Ok(())
    }

    /// The seek points known so far and, once it is known, the total size, as bytes for `restore`.
    pub fn save(&self) -> Vec<u8> {
        let (mut points, num_bytes) = {
            let shared = self.lock();
            (shared.points.clone(), shared.num_bytes())
        };
        points.deflate_windows();
        self.lock().points.adopt_windows(points.as_slice());
        saved::encode(&Saved { points, num_bytes }, self.rules.container, self.inner.num_bytes())
    }

    /// Number of seek points known so far, without the start of the file.
    pub fn num_seek_points(&self) -> usize {
        self.lock().points.as_slice().len()
    }

    /// The seek points known so far, by rising offset.
    pub fn seek_points(&self) -> Vec<SeekPoint> {
        self.lock().points.as_slice().to_vec()
    }

    /// What the source reads from.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cursor from which `offset` is reached soonest, or how the data ended before it.
    fn take_cursor(&self, offset: u64) -> Result<Place, Fault> {
        let (idle, point, plan) = {
            let mut shared = self.lock();
            if let Some(ending) = shared.ending.as_ref().filter(|ending| offset >= ending.num_bytes) {
                return Ok(Place::Behind(ending.clone()));
            }
            shared.num_busy += 1;
            shared.peak_busy = shared.peak_busy.max(shared.num_busy);
            shared.best_start(offset, offset.min(self.rules.max_bytes))
        };
        let fresh = idle.map_or_else(|| Cursor::start(self.rules, point.as_ref()), Ok);
        let mut cursor = fresh.inspect_err(|_| self.lock().num_busy -= 1)?;
        cursor.set_plan(plan);
        Ok(Place::Inside(cursor))
    }

    /// Takes in what a cursor found. A cursor that failed for want of input is dropped: it may be between two states.
    fn put_back(&self, mut cursor: Cursor, usable: bool) {
        let mut shared = self.lock();
        shared.num_busy -= 1;
        for point in cursor.take_points() {
            shared.points.offer(point);
        }
        if let (None, Some(ending)) = (&shared.ending, cursor.ending()) {
            shared.ending = Some(ending.clone());
        }
        if usable {
            shared.keep_idle(cursor);
        }
    }
}

impl Shared {
    fn num_bytes(&self) -> Option<u64> {
        self.ending.as_ref().filter(|ending| ending.fault.is_none()).map(|ending| ending.num_bytes)
    }

    /// Fills `buf` if some idle cursor has all of it ready.
    fn copy_ready(&self, offset: u64, buf: &mut [u8]) -> bool {
        buf.len() <= SMALL_READ && self.idle.iter().rev().any(|cursor| cursor.copy_all(offset, buf))
    }

    /// An idle cursor, unless the last seek point at or before `reachable` is nearer to `offset`: then that point.
    fn best_start(&mut self, offset: u64, reachable: u64) -> (Option<Cursor>, Option<SeekPoint>, PointPlan) {
        let plan = PointPlan { next_offset: self.points.next_offset(), spacing: self.points.spacing() };
        let point = self.points.before(reachable);
        let point_offset = point.map_or(0, |point| point.offset_out);
        let reach = |cursor: &Cursor| cursor.end_offset().min(offset);
        let fits = |cursor: &Cursor| cursor.first_offset() <= offset && reach(cursor) >= point_offset;
        let candidates = self.idle.iter().enumerate().filter(|(_, cursor)| fits(cursor));
        match candidates.max_by_key(|(_, cursor)| reach(cursor)) {
            Some((index, _)) => (Some(self.idle.remove(index)), None, plan),
            None => (None, point.cloned(), plan),
        }
    }

    fn keep_idle(&mut self, cursor: Cursor) {
        self.idle.push(cursor);
        if self.idle.len() > self.peak_busy.clamp(MIN_IDLE, MAX_IDLE) {
            self.idle.remove(0);
        }
    }
}

impl<S: ReadAt> ReadAt for CompressedSource<S> {
    /// The decompressed size, once the sound end of the stream was seen or restored; never for a damaged stream.
    fn num_bytes(&self) -> Option<u64> {
        self.lock().num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        if buf.is_empty() {
            return Ok(0);
        }
        if self.lock().copy_ready(offset, buf) {
            return Ok(buf.len());
        }
        let mut cursor = match self.take_cursor(offset)? {
            Place::Inside(cursor) => cursor,
            Place::Behind(ending) => return ending.fault.map_or(Ok(0), |fault| Err(fault.into())),
        };
        let result = cursor.read_at(&self.inner, offset, buf);
        let fault = cursor.ending().and_then(|ending| ending.fault.clone());
        self.put_back(cursor, result.is_ok());
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
