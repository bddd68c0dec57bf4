//! Geometric operations on one image: resize, crop, pad, flip, affine map.
use super::pixel_values::{PixelValues, SourcePixel};
use super::plan::{ImageGeometry, Job, Padding, Placement};
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::rearrange::{Border, Margins, flip_horizontal, flip_vertical, pad};
use crate::geometry::view::{MAX_CHANNELS, View, bad_argument};
use crate::geometry::warp::warp;
use crate::pixels::{Size, Window};

/// An image between two operations.
pub struct Image {
    pub size: Size,
    pub channels: usize,
    pub levels: PixelValues,
}

/// Returns whether the output is the whole resized image.
pub fn is_whole_image(place: &Placement, resized: Size) -> bool {
    (place.x, place.y) == (0, 0) && place.size == resized
}

/// Converts a placement to a window. Returns `None` if the placement extends beyond an image of `size`.
pub fn window_within(place: &Placement, size: Size) -> Option<Window> {
    let (x, y) = (usize::try_from(place.x).ok()?, usize::try_from(place.y).ok()?);
    let window = Window { x, y, width: place.size.width, height: place.size.height };
    window.lies_in(size).then_some(window)
}

/// Applies all geometric operations that follow the crop to `geometry.window`. 8-bit fill values are multiplied by
/// `unit`.
pub fn apply_geometry<T: SourcePixel>(
    source: View<T>,
    job: &Job,
    geometry: &ImageGeometry,
    unit: u16,
) -> Result<Image> {
    let channels = source.channels();
    if source.size() == geometry.resized {
        let levels = T::wrap(crop_flip_warp(source, job, geometry, unit)?);
        return Ok(Image { size: geometry.place.size, channels, levels });
    }
    let size = geometry.resized;
    let levels = match T::resized(source, size, job.kernel)? {
        PixelValues::Bytes(values) => {
            PixelValues::Bytes(crop_flip_warp(View::new(&values, size, channels)?, job, geometry, unit)?)
        }
        PixelValues::Words(values) => {
            PixelValues::Words(crop_flip_warp(View::new(&values, size, channels)?, job, geometry, unit)?)
        }
        PixelValues::Floats(values) => {
            PixelValues::Floats(crop_flip_warp(View::new(&values, size, channels)?, job, geometry, unit)?)
        }
    };
    Ok(Image { size: geometry.place.size, channels, levels })
}

/// Crops or pads a resized image, flips it, and applies the affine map.
fn crop_flip_warp<T: PixelType>(source: View<T>, job: &Job, geometry: &ImageGeometry, unit: u16) -> Result<Vec<T>> {
    let (size, channels) = (geometry.place.size, source.channels());
    let mut pixels = crop_or_pad(source, &geometry.place, &job.padding, unit)?;
    if geometry.flip[0] {
        pixels = flip_horizontal(View::new(&pixels, size, channels)?)?;
    }
    if geometry.flip[1] {
        pixels = flip_vertical(View::new(&pixels, size, channels)?)?;
    }
    if let Some(map) = &geometry.matrix {
        let fill = fill_values(&job.warp_fill, channels, unit)?;
        pixels = warp(View::new(&pixels, size, channels)?, map, size, job.sampling, fill)?;
    }
    Ok(pixels)
}

/// Converts 8-bit fill values to pixel values, one per channel.
fn fill_values<T: PixelType>(values: &[u16], channels: usize, unit: u16) -> Result<[T; MAX_CHANNELS]> {
    Ok(repeat_for_channels(values, channels)?.map(|level| T::round_from_f32(f32::from(level) * f32::from(unit))))
}

/// Repeats a single fill value for all channels.
pub fn repeat_for_channels(values: &[u16], channels: usize) -> Result<[u16; MAX_CHANNELS]> {
    match values {
        [one] => Ok([*one; MAX_CHANNELS]),
        many if many.len() == channels => Ok(std::array::from_fn(|channel| many.get(channel).copied().unwrap_or(0))),
        _ => bad_argument(format!("1 or {channels} fill values"), values.len().to_string()),
    }
}

/// Returns the pixels in the rectangle `place`, with padding where it extends beyond the image.
fn crop_or_pad<T: PixelType>(view: View<T>, place: &Placement, padding: &Padding, unit: u16) -> Result<Vec<T>> {
    if let Some(window) = window_within(place, view.size()) {
        return Ok(view.crop(window)?.to_vec()?);
    }
    let border = match padding {
        Padding::Constant(fill) => Border::Constant(fill_values(fill, view.channels(), unit)?),
        Padding::Edge => Border::Edge,
        Padding::Reflect => Border::Reflect,
    };
    let (left, right) = padding_margins(place.x, place.size.width, view.size().width)?;
    let (upper, lower) = padding_margins(place.y, place.size.height, view.size().height)?;
    let (size, pixels) = pad(view, Margins { left, upper, right, lower }, border)?;
    let corner = |start: i64, before: usize| (start + before as i64) as usize;
    let (x, y) = (corner(place.x, left), corner(place.y, upper));
    let window = Window { x, y, width: place.size.width, height: place.size.height };
    Ok(View::new(&pixels, size, view.channels())?.crop(window)?.to_vec()?)
}

/// Returns the number of pixels to add before and after an axis of `length` pixels, so that the `count` pixels from
/// position `start` on exist.
fn padding_margins(start: i64, count: usize, length: usize) -> Result<(usize, usize)> {
    const FAR: i64 = 1 << 24;
    if !(-FAR..=FAR).contains(&start) || count as i64 > FAR {
        return bad_argument(
            format!("a position within {FAR} pixels of the image"),
            format!("{count} pixels from {start}"),
        );
    }
    let before = (-start).max(0) as usize;
    let after = (start + count as i64 - length as i64).max(0) as usize;
    Ok((before, after))
}
