//! Processes one image: decodes, transforms and normalizes it, and writes it to its output slot in the batch.
use super::colors::apply_color_steps;
use super::pixel_values::{PixelValues, SourcePixel};
use super::plan::{DecodeOptions, ImageGeometry, Job, OutputFormat};
use super::read::decode_to_worker;
use super::run::WorkerState;
use super::transform::{Image, apply_geometry, is_whole_image, window_within};
use crate::collate::kernels::MultiplyByFactor;
use crate::collate::slot::Slot;
use crate::color::channels::swap_red_blue;
use crate::color::normalize::Normalize;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::dispatch;
use crate::geometry::rearrange::apply_orientation;
use crate::geometry::resized_part::ResizedPart;
use crate::geometry::view::View;
use crate::jpeg::Region;
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};

/// Memory for an image whose size and channels are only known after decoding.
pub trait OutputMemory {
    /// Returns the output slot of the image.
    fn slot(&mut self, output_format: &OutputFormat, size: Size, channels: usize) -> Result<Slot<'_>>;
}

/// Decodes image number `row` of the job, applies geometric and color operations, and writes it to its output slot.
pub fn decode_image(worker: &mut WorkerState, job: &Job, row: usize, memory: &mut dyn OutputMemory) -> Result<()> {
    let geometry = &job.geometry[row];
    let part = prepare_resized_part(job, geometry)?;
    let source_window =
        part.as_ref().map_or(geometry.window, |part| offset_window(geometry.window, part.source_window()));
    let window = (geometry.orientation == 1).then_some(source_window);
    let rows = part.as_ref().map_or(Ok(Vec::new()), ResizedPart::rows)?;
    let options = DecodeOptions { scale: geometry.scale.unwrap_or(job.decode_options.scale), ..job.decode_options };
    let points = job.points.get(row).copied().unwrap_or_default();
    let found = decode_to_worker(worker, (job.payloads[row], points), &options, Region { window, rows: &rows })?;
    if let (Some(part), false) = (part, found.is_deep) {
        if job.output_format.reverse && found.channels >= 3 {
            swap_red_blue(&mut worker.pixels, found.channels)?;
        }
        let source = View::new(&worker.pixels, found.size, found.channels)?;
        let source = if found.is_window { source } else { source.crop(source_window)? };
        let slot = output_slot(found.channels, geometry, &job.output_format, memory)?;
        return part.write_to_slot(source, geometry.flip[0], &job.output_format.normalize, slot);
    }
    if let Some(factors) = job.output_format.factors_before_resize {
        let mut floats = match found.is_deep {
            false => multiply_by_factor(&worker.pixels, factors[0])?,
            true => multiply_by_factor(&worker.deep, factors[1])?,
        };
        return process_pixels(&mut floats, (found.size, found.channels), found.is_window, job, row, memory);
    }
    if found.is_deep {
        return process_pixels(&mut worker.deep, (found.size, found.channels), false, job, row, memory);
    }
    process_pixels(&mut worker.pixels, (found.size, found.channels), found.is_window, job, row, memory)
}

fn multiply_by_factor<T: SourcePixel>(source: &[T], factor: f32) -> Result<Vec<f32>, OutOfMemory> {
    let mut output = memory::filled(source.len(), 0.0)?;
    dispatch::run(MultiplyByFactor { source, factor, output: &mut output });
    Ok(output)
}

/// Prepares to compute only the window of the resized image that the output needs. Returns `None` if the image keeps
/// its size, if the plan has operations besides resize, crop and horizontal flip, or if the kernel computes only whole
/// images.
fn prepare_resized_part(job: &Job, geometry: &ImageGeometry) -> Result<Option<ResizedPart>> {
    let resized = geometry.resized;
    let from = Size { width: geometry.window.width, height: geometry.window.height };
    let alone = geometry.orientation == 1 && is_resize_only(job, geometry);
    match window_within(&geometry.place, resized) {
        Some(window) if alone && from != resized => {
            let part = ResizedPart::new(job.kernel, from, resized, window)?;
            Ok(match job.output_format.factors_before_resize {
                Some([factor, _]) => part.and_then(|part| part.with_factor(factor)),
                None => part,
            })
        }
        _ => Ok(None),
    }
}

/// Converts the window `inner`, whose position is relative to `outer`, to coordinates of the image.
fn offset_window(outer: Window, inner: Window) -> Window {
    Window { x: outer.x + inner.x, y: outer.y + inner.y, ..inner }
}

/// Returns whether the plan of an image contains nothing but a resize, a crop and a horizontal flip.
fn is_resize_only(job: &Job, geometry: &ImageGeometry) -> bool {
    job.colors.is_empty() && geometry.matrix.is_none() && !geometry.flip[1]
}

/// Applies the plan of image number `row` to decoded pixels. They cover only the planned window if `is_window` is set,
/// otherwise the whole image.
pub fn process_pixels<T: SourcePixel>(
    pixels: &mut [T],
    (size, channels): (Size, usize),
    is_window: bool,
    job: &Job,
    row: usize,
    memory: &mut dyn OutputMemory,
) -> Result<()> {
    let geometry = &job.geometry[row];
    if job.output_format.reverse && channels >= 3 && job.colors.is_empty() {
        swap_red_blue(pixels, channels)?;
    }
    let source = View::new(pixels, size, channels)?;
    if geometry.orientation != 1 {
        let (size, pixels) = apply_orientation(source, geometry.orientation)?;
        return resize_into_slot(View::new(&pixels, size, channels)?.crop(geometry.window)?, job, row, memory);
    }
    resize_into_slot(if is_window { source } else { source.crop(geometry.window)? }, job, row, memory)
}

/// Resizes, transforms and writes an image: in one pass if the plan is only a resize, a crop and a horizontal flip.
fn resize_into_slot<T: SourcePixel>(
    source: View<T>,
    job: &Job,
    row: usize,
    memory: &mut dyn OutputMemory,
) -> Result<()> {
    let geometry = &job.geometry[row];
    let normalize = job.output_format.normalize::<T>();
    let simple = is_resize_only(job, geometry);
    if simple
        && source.size() == geometry.resized
        && let Some(window) = window_within(&geometry.place, geometry.resized)
    {
        let slot = output_slot(source.channels(), geometry, &job.output_format, memory)?;
        return T::write_to_slot(source.crop(window)?, geometry.flip[0], normalize, slot);
    }
    if simple && is_whole_image(&geometry.place, geometry.resized) {
        let slot = output_slot(source.channels(), geometry, &job.output_format, memory)?;
        return T::resize_into(source, job.kernel, geometry.flip[0], normalize, slot);
    }
    let mut image = apply_geometry(source, job, geometry, T::UNIT)?;
    if !job.colors.is_empty() {
        if T::UNIT != 1 {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "8-bit samples for color steps", "16 bits"));
        }
        apply_color_steps(&mut image, job.colors, row)?;
    }
    write_to_slot(image, normalize, job, geometry, memory)
}

fn write_to_slot(
    mut image: Image,
    normalize: &Normalize,
    job: &Job,
    geometry: &ImageGeometry,
    memory: &mut dyn OutputMemory,
) -> Result<()> {
    let (size, channels) = (image.size, image.channels);
    if let PixelValues::Bytes(pixels) = &mut image.levels
        && job.output_format.reverse
        && channels >= 3
        && !job.colors.is_empty()
    {
        swap_red_blue(pixels, channels)?;
    }
    let slot = output_slot(channels, geometry, &job.output_format, memory)?;
    match &image.levels {
        PixelValues::Bytes(values) => slot.write_u8_image(View::new(values, size, channels)?, false, normalize),
        PixelValues::Words(values) => slot.write_image(View::new(values, size, channels)?, false, normalize),
        PixelValues::Floats(values) => slot.write_image(View::new(values, size, channels)?, false, normalize),
    }
}

/// Returns the output slot of an image, or an error unless mean and std each have one value or one per channel.
fn output_slot<'m>(
    channels: usize,
    geometry: &ImageGeometry,
    output_format: &OutputFormat,
    memory: &'m mut dyn OutputMemory,
) -> Result<Slot<'m>> {
    if let Some(count) = output_format.counts.iter().find(|&&count| count != 1 && count != channels) {
        let expected = format!("1 or {channels} entries of mean and std");
        return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, expected, count.to_string()));
    }
    memory.slot(output_format, geometry.place.size, channels)
}
