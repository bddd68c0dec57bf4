//! Pixels brought to their places: resized, cut, padded, mirrored, sampled through an affine map.
use super::plan::{Beyond, Job, Move, Place};
use crate::fault::Result;
use crate::geometry::rearrange::{Border, Margins, flip_horizontal, flip_vertical, pad};
use crate::geometry::resize::resize;
use crate::geometry::view::{MAX_CHANNELS, View, refuse};
use crate::geometry::warp::warp;
use crate::pixels::{Size, Window};

/// An image that is somebody else's memory, or its own.
pub struct Image {
    pub size: Size,
    pub channels: usize,
    pub pixels: Vec<u8>,
}

impl Image {
    pub fn view(&self) -> Result<View<'_, u8>> {
        View::new(&self.pixels, self.size, self.channels)
    }

    fn replace(&mut self, size: Size, pixels: Vec<u8>) {
        (self.size, self.pixels) = (size, pixels);
    }
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

/// Everything from the window to the colours.
pub fn moved(source: View<u8>, job: &Job, step: &Move) -> Result<Image> {
    let channels = source.channels();
    let pixels =
        if source.size() == step.resized { source.to_vec() } else { resize(source, step.resized, job.kernel)? };
    let mut image = Image { size: step.resized, channels, pixels };
    if !is_whole(&step.place, image.size) {
        let (size, pixels) = cut(&image, &step.place, &job.beyond)?;
        image.replace(size, pixels);
    }
    if step.flip[0] {
        image.pixels = flip_horizontal(image.view()?);
    }
    if step.flip[1] {
        image.pixels = flip_vertical(image.view()?);
    }
    if let Some(map) = &step.matrix {
        let fill = levels(&job.warp_fill, channels)?;
        image.pixels = warp(image.view()?, map, image.size, job.sampling, fill)?;
    }
    Ok(image)
}

/// A level for each channel.
pub fn levels(given: &[u8], channels: usize) -> Result<[u8; MAX_CHANNELS]> {
    match given {
        [one] => Ok([*one; MAX_CHANNELS]),
        many if many.len() == channels => Ok(std::array::from_fn(|channel| many.get(channel).copied().unwrap_or(0))),
        _ => refuse(format!("1 or {channels} levels to fill with"), given.len().to_string()),
    }
}

/// The part of an image at `place`, made up where the image does not reach.
fn cut(image: &Image, place: &Place, beyond: &Beyond) -> Result<(Size, Vec<u8>)> {
    let view = image.view()?;
    if let Some(window) = inside(place, image.size) {
        return Ok((place.size, view.crop(window)?.to_vec()));
    }
    let border = match beyond {
        Beyond::Constant(fill) => Border::Constant(levels(fill, image.channels)?),
        Beyond::Edge => Border::Edge,
        Beyond::Reflect => Border::Reflect,
    };
    let (left, right) = margins(place.x, place.size.width, image.size.width)?;
    let (upper, lower) = margins(place.y, place.size.height, image.size.height)?;
    let (size, pixels) = pad(view, Margins { left, upper, right, lower }, border)?;
    let corner = |start: i64, before: usize| (start + before as i64) as usize;
    let (x, y) = (corner(place.x, left), corner(place.y, upper));
    let window = Window { x, y, width: place.size.width, height: place.size.height };
    Ok((place.size, View::new(&pixels, size, image.channels)?.crop(window)?.to_vec()))
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
