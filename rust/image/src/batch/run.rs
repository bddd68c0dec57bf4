//! The threads of a batch: each takes the next image that no other thread has taken.
use std::sync::Mutex;

use super::image::{Memory, make, make_from};
use super::levels::Source;
use super::plan::{Element, Finish, Job};
use crate::collate::slot::Slot;
use crate::fault::{ImageFault, Result};
use crate::geometry::view::count_values;
use crate::pixels::Size;
use crate::{jpeg, png};

/// One decoded image.
#[derive(Debug, Clone)]
pub struct Decoded<T> {
    /// Its numbers.
    pub values: Vec<T>,
    /// Width and height.
    pub size: Size,
    /// Values per pixel.
    pub channels: usize,
}

/// Decodes all images into `out`, where each takes up as many values; returns the rows that failed, in order.
///
/// The values of a row that failed are unspecified; no other row is touched.
pub fn decode_into<T: Element>(job: &Job, out: &mut [T], threads: usize) -> Vec<(usize, ImageFault)> {
    let count = job.moves.len();
    let per_image = out.len().checked_div(count).unwrap_or(0).max(1);
    let rows = out.chunks_mut(per_image).take(count).enumerate();
    let mut faults = spread(rows, threads, |engine, (row, memory)| {
        make(engine, job, row, &mut Given(memory)).err().map(|fault| (row, fault))
    });
    faults.sort_unstable_by_key(|(row, _)| *row);
    faults
}

/// Decodes all images into memory of their own, in order.
pub fn decode_each<T: Element>(job: &Job, threads: usize) -> Vec<Result<Decoded<T>>> {
    let mut done = spread(0..job.moves.len(), threads, |engine, row| {
        let size = job.moves[row].place.size;
        let mut image = Decoded { values: Vec::new(), size, channels: 0 };
        let made = make(engine, job, row, &mut image);
        Some((row, made.map(|()| image)))
    });
    done.sort_unstable_by_key(|(row, _)| *row);
    done.into_iter().map(|(_, decoded)| decoded).collect()
}

/// Does to pixels in memory what the job says of its only image, from the window on.
pub fn change_pixels<S: Source, T: Element>(
    pixels: &mut [S],
    size: Size,
    channels: usize,
    job: &Job,
) -> Result<Decoded<T>> {
    let mut image = Decoded { values: Vec::new(), size, channels };
    make_from(pixels, (size, channels), false, job, 0, &mut image)?;
    Ok(image)
}

/// Memory whose size was decided before.
struct Given<'a, T>(&'a mut [T]);

impl<T: Element> Memory for Given<'_, T> {
    fn slot(&mut self, finish: &Finish, size: Size, channels: usize) -> Result<Slot<'_>> {
        Slot::new(T::slot(self.0, finish), finish.layout, size, channels)
    }
}

impl<T: Element> Memory for Decoded<T> {
    fn slot(&mut self, finish: &Finish, size: Size, channels: usize) -> Result<Slot<'_>> {
        (self.size, self.channels) = (size, channels);
        self.values = vec![T::default(); count_values(size, channels)?];
        Slot::new(T::slot(&mut self.values, finish), finish.layout, size, channels)
    }
}

/// Calls `work` for every item on some threads, this one among them; what it returns comes in any order.
pub(super) fn spread<I: Send, R: Send>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(&mut Engine, I) -> Option<R> + Sync,
) -> Vec<R> {
    let (items, results) = (Mutex::new(items), Mutex::new(Vec::new()));
    let drain = || {
        let mut engine = Engine::take();
        let mut own = Vec::new();
        loop {
            let item = items.lock().map_or(None, |mut items| items.next());
            let Some(item) = item else { break };
            own.extend(work(&mut engine, item));
        }
        engine.give();
        if let Ok(mut results) = results.lock() {
            results.append(&mut own);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where no further thread can be had, the others do its work.
            let _ = std::thread::Builder::new().name("recordmill-decode".into()).spawn_scoped(scope, drain);
        }
        drain();
    });
    results.into_inner().unwrap_or_default()
}

// The state of one thread: decoders with their tables, an encoder, and memory that is reused.

/// One thread's decoders and memory.
#[derive(Default)]
pub struct Engine {
    /// For JPEG.
    pub jpeg: jpeg::Decoder,
    /// For PNG.
    pub png: png::Decoder,
    /// For PNG that is made.
    pub png_encoder: png::Encoder,
    /// Pixels of the image at hand.
    pub pixels: Vec<u8>,
    /// Pixels of 16 bits.
    pub deep: Vec<u16>,
}

/// Scratch above this is not kept.
const MAX_KEPT: usize = 64 << 20;
const MAX_IDLE: usize = 64;

static IDLE: Mutex<Vec<Engine>> = Mutex::new(Vec::new());

impl Engine {
    /// An engine that was used before, or a new one. `try_lock`: a fork may have left the lock held for ever.
    pub fn take() -> Self {
        IDLE.try_lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    /// Keeps the engine for [`Engine::take`].
    pub fn give(self) {
        if self.pixels.capacity() + 2 * self.deep.capacity() > MAX_KEPT {
            return;
        }
        if let Ok(mut idle) = IDLE.try_lock()
            && idle.len() < MAX_IDLE
        {
            idle.push(self);
        }
    }
}

// Entry points of many images at once.

/// For each payload its entry points as bytes: at most `share` of a byte for each of its own, less `fixed`. Empty where that are
/// too few, and for what is no sequential JPEG, damaged, or served by its restart markers.
pub fn entry_points(payloads: &[&[u8]], share: f64, fixed: usize, threads: usize) -> Vec<Vec<u8>> {
    let mut found = spread(payloads.iter().enumerate(), threads, |engine, (row, data)| {
        let max_bytes = ((data.len() as f64 * share) as usize).saturating_sub(fixed);
        let points = engine.jpeg.entry_points(data, max_bytes).ok().flatten()?;
        Some((row, points.to_bytes()))
    });
    let mut tables = vec![Vec::new(); payloads.len()];
    for (row, bytes) in found.drain(..) {
        tables[row] = bytes;
    }
    tables
}
