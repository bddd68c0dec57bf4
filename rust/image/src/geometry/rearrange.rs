//! Operations that move pixels without interpolation: flips, EXIF orientation, and padding. They accept any sample
//! type.
use super::resize::gather_pixels;
use super::view::{MAX_CHANNELS, View, bad_argument, count_values};
use crate::fault::Result;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// Values of the pixels that padding adds around an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Border<T> {
    /// A constant pixel with one value per channel.
    Constant([T; MAX_CHANNELS]),
    /// The nearest pixel of the image.
    Edge,
    /// The image reflected at its outermost pixels, which are not repeated. The reflection is periodic.
    Reflect,
}

/// Number of pixels to add on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Margins {
    /// Columns on the left.
    pub left: usize,
    /// Rows at the top.
    pub upper: usize,
    /// Columns on the right.
    pub right: usize,
    /// Rows at the bottom.
    pub lower: usize,
}

/// Flips an image horizontally.
pub fn flip_horizontal<T: Copy>(source: View<T>) -> Result<Vec<T>, OutOfMemory> {
    let columns = memory::collect((0..source.size().width).rev())?;
    let rows = memory::collect(0..source.size().height)?;
    gather_pixels(source, &columns, &rows)
}

/// Flips an image vertically.
pub fn flip_vertical<T: Copy>(source: View<T>) -> Result<Vec<T>, OutOfMemory> {
    let columns = memory::collect(0..source.size().width)?;
    let rows = memory::collect((0..source.size().height).rev())?;
    gather_pixels(source, &columns, &rows)
}

/// Applies an EXIF orientation of 1 to 8 (EXIF 2.32, tag 0x0112). Returns the size and pixels of the upright image.
pub fn apply_orientation<T: Copy>(source: View<T>, orientation: u8) -> Result<(Size, Vec<T>)> {
    let Size { width, height } = source.size();
    // In orientations 2, 3, 7 and 8, the stored rows run right to left. In 3, 4, 6 and 7, the stored columns run bottom
    // to top. In 5 to 8, the image is transposed.
    let (backwards, upwards, is_transposed) = match orientation {
        1..=8 => (matches!(orientation, 2 | 3 | 7 | 8), matches!(orientation, 3 | 4 | 6 | 7), orientation > 4),
        _ => return bad_argument("an EXIF orientation of 1 to 8", orientation.to_string()),
    };
    let order = |length: usize, reverse: bool| {
        if reverse { memory::collect((0..length).rev()) } else { memory::collect(0..length) }
    };
    let (columns, rows) = (order(width, backwards)?, order(height, upwards)?);
    if is_transposed {
        return Ok((Size { width: height, height: width }, transpose(source, &columns, &rows)?));
    }
    Ok((source.size(), gather_pixels(source, &columns, &rows)?))
}

/// Returns the pixels at the intersections of `columns` and `rows`, transposed: each column becomes an output row.
fn transpose<T: Copy>(source: View<T>, columns: &[usize], rows: &[usize]) -> Result<Vec<T>, OutOfMemory> {
    let mut output = memory::with_capacity(columns.len() * rows.len() * source.channels())?;
    for x in columns {
        rows.iter().for_each(|y| output.extend_from_slice(source.pixel(*x, *y)));
    }
    Ok(output)
}

/// Pads `source` by `margins`. Returns the new size and the pixels.
pub fn pad<T: Copy>(source: View<T>, margins: Margins, border: Border<T>) -> Result<(Size, Vec<T>)> {
    let Size { width, height } = source.size();
    let sum = |low: usize, length: usize, high: usize| low.saturating_add(length).saturating_add(high);
    let size =
        Size { width: sum(margins.left, width, margins.right), height: sum(margins.upper, height, margins.lower) };
    count_values(size, source.channels())?;
    if let Border::Constant(fill) = border {
        return Ok((size, pad_constant(source, margins, size, &fill[..source.channels()])?));
    }
    let source_index = if repeats_edge(&border) { clamp_index } else { reflect_index };
    let columns = memory::collect((0..size.width).map(|x| source_index(x, margins.left, width)))?;
    let rows = memory::collect((0..size.height).map(|y| source_index(y, margins.upper, height)))?;
    Ok((size, gather_pixels(source, &columns, &rows)?))
}

fn repeats_edge<T>(border: &Border<T>) -> bool {
    matches!(border, Border::Edge)
}

fn clamp_index(index: usize, before: usize, length: usize) -> usize {
    index.saturating_sub(before).min(length - 1)
}

fn reflect_index(index: usize, before: usize, length: usize) -> usize {
    if length == 1 {
        return 0;
    }
    let period = 2 * (length - 1);
    let index = (index + period - before % period) % period;
    index.min(period - index)
}

fn pad_constant<T: Copy>(source: View<T>, margins: Margins, size: Size, fill: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let blank = memory::repeat(fill, size.width)?;
    let channels = source.channels();
    let mut output = memory::with_capacity(blank.len() * size.height)?;
    (0..margins.upper).for_each(|_| output.extend_from_slice(&blank));
    for row in source.rows() {
        output.extend_from_slice(&blank[..margins.left * channels]);
        output.extend_from_slice(row);
        output.extend_from_slice(&blank[..margins.right * channels]);
    }
    (0..margins.lower).for_each(|_| output.extend_from_slice(&blank));
    Ok(output)
}
