//! One image from its bytes to its slot.
use super::colours::change;
use super::engine::Engine;
use super::moves::{Image, inside, is_whole, moved};
use super::plan::{Finish, Job, Move, Reading};
use super::read::read;
use crate::collate::slot::{Layout, Slot};
use crate::colour::channels::swap_red_blue;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::fused::resize_into;
use crate::geometry::rearrange::upright;
use crate::geometry::resize::Kernel;
use crate::geometry::view::View;
use crate::pixels::Size;

/// Where an image goes once its size and number of channels are known.
pub trait Memory {
    /// The slot of such an image.
    fn slot(&mut self, layout: Layout, size: Size, channels: usize) -> Result<Slot<'_>>;
}

/// Decodes image number `row` of the job, moves and colours it, and writes it into its slot.
pub fn make(engine: &mut Engine, job: &Job, row: usize, memory: &mut dyn Memory) -> Result<()> {
    let step = &job.moves[row];
    let window = (step.orientation == 1).then_some(step.window);
    let reading = Reading { scale: step.scale.unwrap_or(job.reading.scale), ..job.reading };
    let points = job.points.get(row).copied().unwrap_or_default();
    let found = read(engine, (job.payloads[row], points), &reading, window)?;
    if job.finish.reverse && found.channels >= 3 && job.colours.is_empty() {
        swap_red_blue(&mut engine.pixels, found.channels)?;
    }
    let source = View::new(&engine.pixels, found.size, found.channels)?;
    if step.orientation != 1 {
        let (size, pixels) = upright(source, step.orientation)?;
        return finish(View::new(&pixels, size, found.channels)?.crop(step.window)?, job, row, memory);
    }
    let cropped = if found.is_window { source } else { source.crop(step.window)? };
    finish(cropped, job, row, memory)
}

/// From the window to the slot: in one pass where nothing but resizing, cutting and one mirror is asked for.
fn finish(source: View<u8>, job: &Job, row: usize, memory: &mut dyn Memory) -> Result<()> {
    let step = &job.moves[row];
    let simple = job.colours.is_empty() && step.matrix.is_none() && !step.flip[1];
    if simple
        && source.size() == step.resized
        && let Some(window) = inside(&step.place, step.resized)
    {
        return place_of(source.channels(), step, &job.finish, memory)?.write(
            source.crop(window)?,
            step.flip[0],
            &job.finish.normalise,
        );
    }
    if simple && is_whole(&step.place, step.resized) {
        let slot = place_of(source.channels(), step, &job.finish, memory)?;
        return resize_into(source, job.kernel, step.flip[0], &job.finish.normalise, slot);
    }
    if matches!(job.kernel, Kernel::Fast | Kernel::Tensorflow { .. }) && source.size() != step.resized {
        return Err(ImageFault::new(
            ImageFaultKind::Unsupported,
            0,
            "whole numbers between resizing and the rest",
            "floats",
        ));
    }
    let mut image = moved(source, job, step)?;
    change(&mut image, job.colours, row)?;
    write(image, job, step, memory)
}

fn write(mut image: Image, job: &Job, step: &Move, memory: &mut dyn Memory) -> Result<()> {
    if job.finish.reverse && image.channels >= 3 && !job.colours.is_empty() {
        swap_red_blue(&mut image.pixels, image.channels)?;
    }
    place_of(image.channels, step, &job.finish, memory)?.write(image.view()?, false, &job.finish.normalise)
}

/// The slot of an image, once it is certain that there is a mean and a factor for each channel.
fn place_of<'m>(channels: usize, step: &Move, finish: &Finish, memory: &'m mut dyn Memory) -> Result<Slot<'m>> {
    if let Some(count) = finish.counts.iter().find(|&&count| count != 1 && count != channels) {
        let expected = format!("1 or {channels} entries of mean and std");
        return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, expected, count.to_string()));
    }
    memory.slot(finish.layout, step.place.size, channels)
}
