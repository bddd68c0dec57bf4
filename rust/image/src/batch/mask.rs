//! Masks: classes as they are stored, moved as their images are, never mixed.
use super::levels::{Levels, Source};
use super::moves::moved;
use super::plan::{Job, MaskPlan, Move};
use super::read::{Coded, kind_of};
use super::run::Engine;
use super::run::{Decoded, spread};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::rearrange::upright;
use crate::geometry::resize::resize_nearest;
use crate::geometry::view::View;
use crate::pixels::Size;
use crate::png::{self, Palette};

/// A type that classes can have.
pub trait Class: Copy + Default + Send + 'static {
    /// The class, if it fits.
    fn of(value: u16) -> Option<Self>;
}

macro_rules! class {
    ($($type:ty),*) => {$(
        impl Class for $type {
            fn of(value: u16) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )*};
}

class!(u8, u16, i32, i64);

/// Decodes masks into `out`, where each takes up as many values; returns the rows that failed, in order.
pub fn masks_into<C: Class>(job: &Job, plan: &MaskPlan, out: &mut [C], threads: usize) -> Vec<(usize, ImageFault)> {
    let count = job.payloads.len();
    let per_mask = out.len().checked_div(count).unwrap_or(0).max(1);
    let rows = out.chunks_mut(per_mask).take(count).enumerate();
    let mut faults = spread(rows, threads, |engine, (row, memory)| {
        let made = make(engine, job, plan, row).and_then(|(_, levels)| put(&levels, memory));
        made.err().map(|fault| (row, fault))
    });
    faults.sort_unstable_by_key(|(row, _)| *row);
    faults
}

/// Decodes masks into memory of their own, in order.
pub fn masks_each<C: Class>(job: &Job, plan: &MaskPlan, threads: usize) -> Vec<Result<Decoded<C>>> {
    let mut done = spread(0..job.payloads.len(), threads, |engine, row| {
        let made = make(engine, job, plan, row).and_then(|(size, levels)| {
            let mut values = vec![C::default(); size.width * size.height];
            put(&levels, &mut values)?;
            Ok(Decoded { values, size, channels: 1 })
        });
        Some((row, made))
    });
    done.sort_unstable_by_key(|(row, _)| *row);
    done.into_iter().map(|(_, decoded)| decoded).collect()
}

fn put<C: Class>(levels: &Levels, out: &mut [C]) -> Result<()> {
    match levels {
        Levels::Bytes(values) => copy(values, out),
        Levels::Words(values) => copy(values, out),
        Levels::Floats(_) => Err(unsupported("classes", "fractions")),
    }
}

fn copy<T: Copy + Into<u16>, C: Class>(values: &[T], out: &mut [C]) -> Result<()> {
    if values.len() != out.len() {
        let found = format!("{} classes", values.len());
        return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, format!("{} classes", out.len()), found));
    }
    for (to, from) in out.iter_mut().zip(values) {
        let value = (*from).into();
        *to = C::of(value).ok_or_else(|| unsupported("classes that fit", &value.to_string()))?;
    }
    Ok(())
}

fn unsupported(expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found)
}

/// Size and classes of mask number `row`.
fn make(engine: &mut Engine, job: &Job, plan: &MaskPlan, row: usize) -> Result<(Size, Levels)> {
    let data = job.payloads[row];
    if kind_of(data)? != Coded::Png {
        return Err(unsupported("PNG for masks", "JPEG"));
    }
    let orientation = if plan.upright { png::Header::parse(data)?.orientation.unwrap_or(1) } else { 1 };
    let limits = png::Limits { max_pixels: job.reading.max_pixels as u64, ..png::Limits::default() };
    let options = png::Options { palette: Palette::Classes, limits, ..png::Options::default() };
    let shape = engine.png.decode_to(data, &options, &mut engine.pixels, &mut engine.deep)?;
    match shape.bits {
        16 => follow(&engine.deep, shape.size, orientation, job, plan, row),
        _ => follow(&engine.pixels, shape.size, orientation, job, plan, row),
    }
}

/// Turns a mask upright, brings it to its image's size, and moves it as its image is moved.
fn follow<T: Source>(
    stored: &[T],
    size: Size,
    orientation: u8,
    job: &Job,
    plan: &MaskPlan,
    row: usize,
) -> Result<(Size, Levels)> {
    let (size, turned) = upright(View::new(stored, size, 1)?, orientation)?;
    let Some((image, decoded)) = plan.sizes.get(row) else { return Ok((size, T::levels(turned))) };
    if size != *image && !plan.fit {
        return Err(unsupported("a mask of its image's size", &format!("{} x {}", size.width, size.height)));
    }
    let fitted = match size == *decoded {
        true => turned,
        false => resize_nearest(View::new(&turned, size, 1)?, *decoded, plan.rule)?,
    };
    let step: &Move = &job.moves[row];
    let whole = View::new(&fitted, *decoded, 1)?.crop(step.window)?;
    let image = moved(whole, job, step, 1)?;
    Ok((image.size, image.levels))
}
