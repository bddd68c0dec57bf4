//! Execution of a batch on several threads. Each thread takes the next unprocessed image.
use std::sync::Mutex;

use super::image::{OutputMemory, decode_image, process_pixels};
use super::pixel_values::SourcePixel;
use super::plan::{Element, Job, OutputFormat};
use crate::collate::slot::Slot;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::view::count_values;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
use crate::{jpeg, png};

/// One decoded image.
#[derive(Debug, Clone)]
pub struct Decoded<T> {
    /// Values in the layout of the job's output format.
    pub values: Vec<T>,
    /// Width and height.
    pub size: Size,
    /// Number of channels.
    pub channels: usize,
}

/// Decodes the images into consecutive parts of `out`, which have equal sizes. Returns the index and the error of each
/// image that failed, in batch order.
///
/// If an image fails, its part of `out` has unspecified values; the parts of other images are not affected.
///
/// # Errors
/// If there is not enough memory for the results of the batch.
pub fn decode_into<T: Element>(
    job: &Job,
    out: &mut [T],
    threads: usize,
) -> Result<Vec<(usize, ImageFault)>, OutOfMemory> {
    let count = job.geometry.len();
    let per_image = out.len().checked_div(count).unwrap_or(0).max(1);
    let rows = out.chunks_mut(per_image).take(count).enumerate();
    let mut faults = run_in_threads(rows, threads, |worker, (row, memory)| {
        decode_image(worker, job, row, &mut FixedMemory(memory)).err().map(|fault| (row, fault))
    })?;
    faults.sort_unstable_by_key(|(row, _)| *row);
    Ok(faults)
}

/// For each image, its index in the batch, and the decoded image or an error.
pub type NumberedImages<T> = Vec<(usize, Result<Decoded<T>>)>;

/// Decodes each image into newly allocated memory. Returns the index and the result of each image, in batch order.
///
/// # Errors
/// If there is not enough memory for the results of the batch.
pub fn decode_each<T: Element>(job: &Job, threads: usize) -> Result<NumberedImages<T>, OutOfMemory> {
    let mut done = run_in_threads(0..job.geometry.len(), threads, |worker, row| {
        let size = job.geometry[row].place.size;
        let mut image = Decoded { values: Vec::new(), size, channels: 0 };
        let result = decode_image(worker, job, row, &mut image);
        Some((row, result.map(|()| image)))
    })?;
    done.sort_unstable_by_key(|(row, _)| *row);
    Ok(done)
}

/// Applies the plan of a job for a single image to pixels that are already decoded, starting with the crop window.
pub fn transform_pixels<S: SourcePixel, T: Element>(
    pixels: &mut [S],
    size: Size,
    channels: usize,
    job: &Job,
) -> Result<Decoded<T>> {
    let mut image = Decoded { values: Vec::new(), size, channels };
    process_pixels(pixels, (size, channels), false, job, 0, &mut image)?;
    Ok(image)
}

/// Output memory that the caller provides. Its size is fixed before the image is decoded.
struct FixedMemory<'a, T>(&'a mut [T]);

impl<T: Element> OutputMemory for FixedMemory<'_, T> {
    fn slot(&mut self, output_format: &OutputFormat, size: Size, channels: usize) -> Result<Slot<'_>> {
        Slot::new(T::slot(self.0, output_format), output_format.layout, size, channels)
    }
}

impl<T: Element> OutputMemory for Decoded<T> {
    fn slot(&mut self, output_format: &OutputFormat, size: Size, channels: usize) -> Result<Slot<'_>> {
        (self.size, self.channels) = (size, channels);
        self.values = memory::filled(count_values(size, channels)?, T::default())?;
        Slot::new(T::slot(&mut self.values, output_format), output_format.layout, size, channels)
    }
}

/// Calls `work` for every item on `threads` threads, including the calling one. Results are in arbitrary order.
pub(super) fn run_in_threads<I: Send, R: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(&mut WorkerState, I) -> Option<R> + Sync,
) -> Result<Vec<R>, OutOfMemory> {
    // The results of all items fit into this vector, so that no thread allocates memory for them.
    let results = Mutex::new(memory::with_capacity(items.len())?);
    let items = Mutex::new(items);
    let drain = || {
        let mut worker = WorkerState::take_idle();
        loop {
            let item = items.lock().map_or(None, |mut items| items.next());
            let Some(item) = item else { break };
            if let (Some(result), Ok(mut results)) = (work(&mut worker, item), results.lock()) {
                results.push(result);
            }
        }
        worker.return_to_idle();
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the others process its items.
            let _ = std::thread::Builder::new().name("recordmill-decode".into()).spawn_scoped(scope, drain);
        }
        drain();
    });
    Ok(results.into_inner().unwrap_or_default())
}

/// The reusable state of one thread: decoders with their tables, an encoder, and buffers.
#[derive(Default)]
pub struct WorkerState {
    /// JPEG decoder.
    pub jpeg: jpeg::Decoder,
    /// PNG decoder.
    pub png: png::Decoder,
    /// PNG encoder.
    pub png_encoder: png::Encoder,
    /// Pixels of the current image.
    pub pixels: Vec<u8>,
    /// Pixels of the current image if it has 16-bit samples.
    pub deep: Vec<u16>,
}

/// A worker state is kept for reuse only if its pixel buffers have at most this many bytes in total.
const MAX_REUSED_BYTES: usize = 64 << 20;
const MAX_IDLE: usize = 64;

static IDLE: Mutex<Vec<WorkerState>> = Mutex::new(Vec::new());

impl WorkerState {
    /// Returns an idle worker state, or a new one if none is idle. Uses `try_lock`, because the lock may be held
    /// forever after a fork.
    pub fn take_idle() -> Self {
        IDLE.try_lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    /// Makes the worker state available to [`WorkerState::take_idle`].
    pub fn return_to_idle(self) {
        if self.pixels.capacity() + 2 * self.deep.capacity() > MAX_REUSED_BYTES {
            return;
        }
        if let Ok(mut idle) = IDLE.try_lock()
            && idle.len() < MAX_IDLE
            && memory::reserve(&mut idle, 1).is_ok()
        {
            idle.push(self);
        }
    }
}

/// Builds serialized entry points for each payload. They take at most `share` bytes per payload byte, minus `fixed`
/// bytes. The result of a payload is empty if too few entry points fit, or if the payload is not a valid sequential
/// JPEG without restart markers.
///
/// # Errors
/// If there is not enough memory: the index of a payload, and an `OutOfMemory` error.
pub fn build_entry_points(
    payloads: &[&[u8]],
    share: f64,
    fixed: usize,
    threads: usize,
) -> Result<Vec<Vec<u8>>, (usize, ImageFault)> {
    let batch_fault = |error: OutOfMemory| (0, error.into());
    let found = run_in_threads(payloads.iter().enumerate(), threads, |worker, (row, data)| {
        let max_bytes = ((data.len() as f64 * share) as usize).saturating_sub(fixed);
        let table = worker.jpeg.entry_points(data, max_bytes).and_then(|points| match points {
            Some(points) => Ok(points.to_bytes()?),
            None => Ok(Vec::new()),
        });
        Some((row, table))
    });
    let mut tables = memory::filled(payloads.len(), Vec::new()).map_err(batch_fault)?;
    for (row, table) in found.map_err(batch_fault)? {
        tables[row] = match table {
            Err(fault) if fault.kind == ImageFaultKind::OutOfMemory => return Err((row, fault)),
            table => table.unwrap_or_default(),
        };
    }
    Ok(tables)
}
