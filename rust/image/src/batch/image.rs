//! One image from its bytes to its slot.
use super::colors::change;
use super::levels::{Levels, Source};
use super::moves::{Image, inside, is_whole, moved};
use super::plan::{Finish, Job, Move, Reading};
use super::read::read;
use super::run::Engine;
use crate::collate::lanes::Multiply;
use crate::collate::slot::Slot;
use crate::color::channels::swap_red_blue;
use crate::color::normalize::Normalize;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::dispatch;
use crate::geometry::part::Part;
use crate::geometry::rearrange::upright;
use crate::geometry::view::View;
use crate::jpeg::Region;
use crate::pixels::{Size, Window};

/// Where an image goes once its size and number of channels are known.
pub trait Memory {
    /// The slot of such an image.
    fn slot(&mut self, finish: &Finish, size: Size, channels: usize) -> Result<Slot<'_>>;
}

/// Decodes image number `row` of the job, moves and colors it, and writes it into its slot.
pub fn make(engine: &mut Engine, job: &Job, row: usize, memory: &mut dyn Memory) -> Result<()> {
    let step = &job.moves[row];
    let part = part_of(job, step)?;
    let needs = part.as_ref().map_or(step.window, |part| within(step.window, part.needs()));
    let window = (step.orientation == 1).then_some(needs);
    let rows = part.as_ref().map(Part::rows).unwrap_or_default();
    let reading = Reading { scale: step.scale.unwrap_or(job.reading.scale), ..job.reading };
    let points = job.points.get(row).copied().unwrap_or_default();
    let found = read(engine, (job.payloads[row], points), &reading, Region { window, rows: &rows })?;
    if let (Some(part), false) = (part, found.is_deep) {
        if job.finish.reverse && found.channels >= 3 {
            swap_red_blue(&mut engine.pixels, found.channels)?;
        }
        let source = View::new(&engine.pixels, found.size, found.channels)?;
        let source = if found.is_window { source } else { source.crop(needs)? };
        let slot = place_of(found.channels, step, &job.finish, memory)?;
        return part.write(source, step.flip[0], &job.finish.normalize, slot);
    }
    if let Some(factors) = job.finish.first {
        let mut floats = match found.is_deep {
            false => multiplied(&engine.pixels, factors[0]),
            true => multiplied(&engine.deep, factors[1]),
        };
        return make_from(&mut floats, (found.size, found.channels), found.is_window, job, row, memory);
    }
    if found.is_deep {
        return make_from(&mut engine.deep, (found.size, found.channels), false, job, row, memory);
    }
    make_from(&mut engine.pixels, (found.size, found.channels), found.is_window, job, row, memory)
}

fn multiplied<T: Source>(source: &[T], factor: f32) -> Vec<f32> {
    let mut output = vec![0.0; source.len()];
    dispatch::run(Multiply { source, factor, output: &mut output });
    output
}

/// The part of the resized image that is wanted, be it all of it, where that is all there is to do and its pixels can be
/// made alone.
fn part_of(job: &Job, step: &Move) -> Result<Option<Part>> {
    let resized = step.resized;
    let from = Size { width: step.window.width, height: step.window.height };
    let alone = step.orientation == 1 && is_plain(job, step);
    match inside(&step.place, resized) {
        Some(window) if alone && from != resized => {
            let part = Part::new(job.kernel, from, resized, window)?;
            Ok(match job.finish.first {
                Some([factor, _]) => part.and_then(|part| part.scaled(factor)),
                None => part,
            })
        }
        _ => Ok(None),
    }
}

/// A window of a window.
fn within(outer: Window, inner: Window) -> Window {
    Window { x: outer.x + inner.x, y: outer.y + inner.y, ..inner }
}

/// Whether nothing but resizing, cutting and one mirror is asked for.
fn is_plain(job: &Job, step: &Move) -> bool {
    job.colors.is_empty() && step.matrix.is_none() && !step.flip[1]
}

/// The same from pixels; `is_window`: they are what the window cuts out.
pub fn make_from<T: Source>(
    pixels: &mut [T],
    (size, channels): (Size, usize),
    is_window: bool,
    job: &Job,
    row: usize,
    memory: &mut dyn Memory,
) -> Result<()> {
    let step = &job.moves[row];
    if job.finish.reverse && channels >= 3 && job.colors.is_empty() {
        swap_red_blue(pixels, channels)?;
    }
    let source = View::new(pixels, size, channels)?;
    if step.orientation != 1 {
        let (size, pixels) = upright(source, step.orientation)?;
        return finish(View::new(&pixels, size, channels)?.crop(step.window)?, job, row, memory);
    }
    finish(if is_window { source } else { source.crop(step.window)? }, job, row, memory)
}

/// From the window to the slot: in one pass where nothing but resizing, cutting and one mirror is asked for.
fn finish<T: Source>(source: View<T>, job: &Job, row: usize, memory: &mut dyn Memory) -> Result<()> {
    let step = &job.moves[row];
    let normalize = job.finish.normalize::<T>();
    let simple = is_plain(job, step);
    if simple
        && source.size() == step.resized
        && let Some(window) = inside(&step.place, step.resized)
    {
        let slot = place_of(source.channels(), step, &job.finish, memory)?;
        return T::write(source.crop(window)?, step.flip[0], normalize, slot);
    }
    if simple && is_whole(&step.place, step.resized) {
        let slot = place_of(source.channels(), step, &job.finish, memory)?;
        return T::resize_into(source, job.kernel, step.flip[0], normalize, slot);
    }
    let mut image = moved(source, job, step, T::UNIT)?;
    if !job.colors.is_empty() {
        if T::UNIT != 1 {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "8 bits for changes of color", "16"));
        }
        change(&mut image, job.colors, row)?;
    }
    write(image, normalize, job, step, memory)
}

fn write(mut image: Image, normalize: &Normalize, job: &Job, step: &Move, memory: &mut dyn Memory) -> Result<()> {
    let (size, channels) = (image.size, image.channels);
    if let Levels::Bytes(pixels) = &mut image.levels
        && job.finish.reverse
        && channels >= 3
        && !job.colors.is_empty()
    {
        swap_red_blue(pixels, channels)?;
    }
    let slot = place_of(channels, step, &job.finish, memory)?;
    match &image.levels {
        Levels::Bytes(values) => slot.write(View::new(values, size, channels)?, false, normalize),
        Levels::Words(values) => slot.write_levels(View::new(values, size, channels)?, false, normalize),
        Levels::Floats(values) => slot.write_levels(View::new(values, size, channels)?, false, normalize),
    }
}

/// The slot of an image, once it is certain that there is a mean and a factor for each channel.
fn place_of<'m>(channels: usize, step: &Move, finish: &Finish, memory: &'m mut dyn Memory) -> Result<Slot<'m>> {
    if let Some(count) = finish.counts.iter().find(|&&count| count != 1 && count != channels) {
        let expected = format!("1 or {channels} entries of mean and std");
        return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, expected, count.to_string()));
    }
    memory.slot(finish, step.place.size, channels)
}
