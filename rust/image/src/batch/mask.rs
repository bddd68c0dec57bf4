//! Segmentation masks: class numbers transformed with the geometry of their images, without interpolation.
use super::pixel_values::{PixelValues, SourcePixel};
use super::plan::{ImageGeometry, Job, MaskPlan};
use super::read::{ImageFormat, detect_format};
use super::run::{Decoded, NumberedImages, WorkerState, run_in_threads};
use super::transform::apply_geometry;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::rearrange::apply_orientation;
use crate::geometry::resize::resize_nearest;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
use crate::png::{self, Palette};

/// An element type of class numbers.
pub trait Class: Copy + Default + Send + 'static {
    /// Converts a class number to this type. Returns `None` if the type cannot represent it.
    fn from_value(value: u16) -> Option<Self>;
}

macro_rules! class {
    ($($type:ty),*) => {$(
        impl Class for $type {
            fn from_value(value: u16) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )*};
}

class!(u8, u16, i32, i64);

/// Decodes the masks into consecutive parts of `out`, which have equal sizes. Returns the index and the error of each
/// mask that failed, in batch order.
///
/// # Errors
/// If there is not enough memory for the results of the batch.
pub fn decode_masks_into<C: Class>(
    job: &Job,
    plan: &MaskPlan,
    out: &mut [C],
    threads: usize,
) -> Result<Vec<(usize, ImageFault)>, OutOfMemory> {
    let count = job.payloads.len();
    let per_mask = out.len().checked_div(count).unwrap_or(0).max(1);
    let rows = out.chunks_mut(per_mask).take(count).enumerate();
    let mut faults = run_in_threads(rows, threads, |worker, (row, memory)| {
        let result = decode_mask(worker, job, plan, row).and_then(|(_, levels)| store_classes(&levels, memory));
        result.err().map(|fault| (row, fault))
    })?;
    faults.sort_unstable_by_key(|(row, _)| *row);
    Ok(faults)
}

/// Decodes each mask into newly allocated memory. Returns the index and the result of each mask, in batch order.
///
/// # Errors
/// If there is not enough memory for the results of the batch.
pub fn decode_each_mask<C: Class>(
    job: &Job,
    plan: &MaskPlan,
    threads: usize,
) -> Result<NumberedImages<C>, OutOfMemory> {
    let mut done = run_in_threads(0..job.payloads.len(), threads, |worker, row| {
        let result = decode_mask(worker, job, plan, row).and_then(|(size, levels)| {
            let mut values = memory::filled(size.width * size.height, C::default())?;
            store_classes(&levels, &mut values)?;
            Ok(Decoded { values, size, channels: 1 })
        });
        Some((row, result))
    })?;
    done.sort_unstable_by_key(|(row, _)| *row);
    Ok(done)
}

fn store_classes<C: Class>(levels: &PixelValues, out: &mut [C]) -> Result<()> {
    match levels {
        PixelValues::Bytes(values) => copy_classes(values, out),
        PixelValues::Words(values) => copy_classes(values, out),
        PixelValues::Floats(_) => Err(unsupported("integer class numbers", "floats")),
    }
}

fn copy_classes<T: Copy + Into<u16>, C: Class>(values: &[T], out: &mut [C]) -> Result<()> {
    if values.len() != out.len() {
        let found = format!("{} pixels", values.len());
        return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, format!("a mask of {} pixels", out.len()), found));
    }
    for (to, from) in out.iter_mut().zip(values) {
        let value = (*from).into();
        *to =
            C::from_value(value).ok_or_else(|| unsupported("classes that fit the element type", &value.to_string()))?;
    }
    Ok(())
}

fn unsupported(expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found)
}

/// Decodes mask number `row`. Returns its size and class numbers.
fn decode_mask(worker: &mut WorkerState, job: &Job, plan: &MaskPlan, row: usize) -> Result<(Size, PixelValues)> {
    let data = job.payloads[row];
    if detect_format(data)? != ImageFormat::Png {
        return Err(unsupported("PNG for masks", "JPEG"));
    }
    let orientation = if plan.upright { png::Header::parse(data)?.orientation.unwrap_or(1) } else { 1 };
    let limits = png::Limits { max_pixels: job.decode_options.max_pixels as u64, ..png::Limits::default() };
    let options = png::Options { palette: Palette::Classes, limits, ..png::Options::default() };
    let shape = worker.png.decode_to(data, &options, &mut worker.pixels, &mut worker.deep)?;
    match shape.bits {
        16 => transform_mask(&worker.deep, shape.size, orientation, job, plan, row),
        _ => transform_mask(&worker.pixels, shape.size, orientation, job, plan, row),
    }
}

/// Applies the orientation of a mask, resizes the mask to the size of its image, and applies the geometry of that
/// image.
fn transform_mask<T: SourcePixel>(
    stored: &[T],
    size: Size,
    orientation: u8,
    job: &Job,
    plan: &MaskPlan,
    row: usize,
) -> Result<(Size, PixelValues)> {
    let (size, oriented) = apply_orientation(View::new(stored, size, 1)?, orientation)?;
    let Some((image, decoded)) = plan.sizes.get(row) else { return Ok((size, T::wrap(oriented))) };
    if size != *image && !plan.fit {
        return Err(unsupported("a mask with the size of its image", &format!("{} x {}", size.width, size.height)));
    }
    let fitted = match size == *decoded {
        true => oriented,
        false => resize_nearest(View::new(&oriented, size, 1)?, *decoded, plan.rule)?,
    };
    let step: &ImageGeometry = &job.geometry[row];
    let whole = View::new(&fitted, *decoded, 1)?.crop(step.window)?;
    let image = apply_geometry(whole, job, step, 1)?;
    Ok((image.size, image.levels))
}
