//! Pixels brought to their places: resized, cut, padded, mirrored, sampled through an affine map.
use super::levels::{Levels, Source};
use super::plan::{Beyond, Job, Move, Place};
use crate::fault::Result;
use crate::geometry::level::Level;
use crate::geometry::rearrange::{Border, Margins, flip_horizontal, flip_vertical, pad};
use crate::geometry::view::{MAX_CHANNELS, View, refuse};
use crate::geometry::warp::warp;
use crate::pixels::{Size, Window};

/// An image between the steps.
pub struct Image {
    pub size: Size,
    pub channels: usize,
    pub levels: Levels,
}

/// Whether the output is all of the resized part.
pub fn is_whole(place: &Place, resized: Size) -> bool {
    (place.x, place.y) == (0, 0) && place.size == resized
}

/// The window of a place that lies within an image of `size`.
pub fn inside(place: &Place, size: Size) -> Option<Window> {
    let (x, y) = (usize::try_from(place.x).ok()?, usize::try_from(place.y).ok()?);
    let window = Window { x, y, width: place.size.width, height: place.size.height };
    window.lies_in(size).then_some(window)
}

/// Everything from the window to the colors; `unit` is what a level of 8 bits to fill with is in these levels.
pub fn moved<T: Source>(source: View<T>, job: &Job, step: &Move, unit: u16) -> Result<Image> {
    let channels = source.channels();
    if source.size() == step.resized {
        let levels = T::levels(arranged(source, job, step, unit)?);
        return Ok(Image { size: step.place.size, channels, levels });
    }
    let size = step.resized;
    let levels = match T::resized(source, size, job.kernel)? {
        Levels::Bytes(values) => Levels::Bytes(arranged(View::new(&values, size, channels)?, job, step, unit)?),
        Levels::Words(values) => Levels::Words(arranged(View::new(&values, size, channels)?, job, step, unit)?),
        Levels::Floats(values) => Levels::Floats(arranged(View::new(&values, size, channels)?, job, step, unit)?),
    };
    Ok(Image { size: step.place.size, channels, levels })
}

/// A resized image cut, mirrored and sampled through the affine map; `unit` is what a level of 8 bits is in it.
fn arranged<T: Level>(source: View<T>, job: &Job, step: &Move, unit: u16) -> Result<Vec<T>> {
    let (size, channels) = (step.place.size, source.channels());
    let mut pixels = cut(source, &step.place, &job.beyond, unit)?;
    if step.flip[0] {
        pixels = flip_horizontal(View::new(&pixels, size, channels)?);
    }
    if step.flip[1] {
        pixels = flip_vertical(View::new(&pixels, size, channels)?);
    }
    if let Some(map) = &step.matrix {
        let fill = filled(&job.warp_fill, channels, unit)?;
        pixels = warp(View::new(&pixels, size, channels)?, map, size, job.sampling, fill)?;
    }
    Ok(pixels)
}

/// A level for each channel among levels whose unit that of 8 bits is.
fn filled<T: Level>(given: &[u16], channels: usize, unit: u16) -> Result<[T; MAX_CHANNELS]> {
    Ok(levels(given, channels)?.map(|level| T::nearest(f32::from(level) * f32::from(unit))))
}

/// A level for each channel.
pub fn levels(given: &[u16], channels: usize) -> Result<[u16; MAX_CHANNELS]> {
    match given {
        [one] => Ok([*one; MAX_CHANNELS]),
        many if many.len() == channels => Ok(std::array::from_fn(|channel| many.get(channel).copied().unwrap_or(0))),
        _ => refuse(format!("1 or {channels} levels to fill with"), given.len().to_string()),
    }
}

/// The part of an image at `place`, made up where the image does not reach.
fn cut<T: Level>(view: View<T>, place: &Place, beyond: &Beyond, unit: u16) -> Result<Vec<T>> {
    if let Some(window) = inside(place, view.size()) {
        return Ok(view.crop(window)?.to_vec());
    }
    let border = match beyond {
        Beyond::Constant(fill) => Border::Constant(filled(fill, view.channels(), unit)?),
        Beyond::Edge => Border::Edge,
        Beyond::Reflect => Border::Reflect,
    };
    let (left, right) = margins(place.x, place.size.width, view.size().width)?;
    let (upper, lower) = margins(place.y, place.size.height, view.size().height)?;
    let (size, pixels) = pad(view, Margins { left, upper, right, lower }, border)?;
    let corner = |start: i64, before: usize| (start + before as i64) as usize;
    let (x, y) = (corner(place.x, left), corner(place.y, upper));
    let window = Window { x, y, width: place.size.width, height: place.size.height };
    Ok(View::new(&pixels, size, view.channels())?.crop(window)?.to_vec())
}

/// Pixels to add before and behind `length` so that `count` from `start` on are there.
fn margins(start: i64, count: usize, length: usize) -> Result<(usize, usize)> {
    const FAR: i64 = 1 << 24;
    if !(-FAR..=FAR).contains(&start) || count as i64 > FAR {
        return refuse(format!("a place within {FAR} pixels of the image"), format!("{count} from {start} on"));
    }
    let before = (-start).max(0) as usize;
    let behind = (start + count as i64 - length as i64).max(0) as usize;
    Ok((before, behind))
}
