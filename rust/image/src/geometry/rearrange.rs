//! Moves pixels without mixing them: flips, EXIF orientation, padding. For values of any type.
use super::resize::pick;
use super::view::{MAX_CHANNELS, View, count_values, refuse};
use crate::fault::Result;
use crate::pixels::Size;

/// What lies outside an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Border<T> {
    /// One value per channel.
    Constant([T; MAX_CHANNELS]),
    /// The nearest pixel of the image.
    Edge,
    /// The image mirrored at its outermost pixels, which are not repeated; mirrored again where one mirror is too short.
    Reflect,
}

/// Pixels to add on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Margins {
    /// Columns on the left.
    pub left: usize,
    /// Rows above.
    pub upper: usize,
    /// Columns on the right.
    pub right: usize,
    /// Rows below.
    pub lower: usize,
}

/// Left and right exchanged.
pub fn flip_horizontal<T: Copy>(source: View<T>) -> Vec<T> {
    let columns: Vec<usize> = (0..source.size().width).rev().collect();
    let rows: Vec<usize> = (0..source.size().height).collect();
    pick(source, &columns, &rows)
}

/// Upper and lower exchanged.
pub fn flip_vertical<T: Copy>(source: View<T>) -> Vec<T> {
    let columns: Vec<usize> = (0..source.size().width).collect();
    let rows: Vec<usize> = (0..source.size().height).rev().collect();
    pick(source, &columns, &rows)
}

/// The upright image of a file with EXIF orientation 1 to 8 (EXIF 2.32, tag 0x0112), and its size.
pub fn upright<T: Copy>(source: View<T>, orientation: u8) -> Result<(Size, Vec<T>)> {
    let Size { width, height } = source.size();
    // Where the stored first row and column lie: right to left in 2, 3, 7, 8; bottom to top in 3, 4, 6, 7; 5 to 8 turned.
    let (backwards, upwards, turned) = match orientation {
        1..=8 => (matches!(orientation, 2 | 3 | 7 | 8), matches!(orientation, 3 | 4 | 6 | 7), orientation > 4),
        _ => return refuse("an EXIF orientation of 1 to 8", orientation.to_string()),
    };
    let order = |length: usize, reverse: bool| -> Vec<usize> {
        if reverse { (0..length).rev().collect() } else { (0..length).collect() }
    };
    let (columns, rows) = (order(width, backwards), order(height, upwards));
    if turned {
        return Ok((Size { width: height, height: width }, turn(source, &columns, &rows)));
    }
    Ok((source.size(), pick(source, &columns, &rows)))
}

/// The pixels at `columns` and `rows`, with rows and columns exchanged.
fn turn<T: Copy>(source: View<T>, columns: &[usize], rows: &[usize]) -> Vec<T> {
    let mut output = Vec::with_capacity(columns.len() * rows.len() * source.channels());
    for x in columns {
        rows.iter().for_each(|y| output.extend_from_slice(source.pixel(*x, *y)));
    }
    output
}

/// `source` with `margins` around it, and the new size.
pub fn pad<T: Copy>(source: View<T>, margins: Margins, border: Border<T>) -> Result<(Size, Vec<T>)> {
    let Size { width, height } = source.size();
    let sum = |low: usize, length: usize, high: usize| low.saturating_add(length).saturating_add(high);
    let size =
        Size { width: sum(margins.left, width, margins.right), height: sum(margins.upper, height, margins.lower) };
    count_values(size, source.channels())?;
    if let Border::Constant(fill) = border {
        return Ok((size, pad_constant(source, margins, size, &fill[..source.channels()])));
    }
    let place = if border_is_edge(&border) { clamped } else { mirrored };
    let columns: Vec<usize> = (0..size.width).map(|x| place(x, margins.left, width)).collect();
    let rows: Vec<usize> = (0..size.height).map(|y| place(y, margins.upper, height)).collect();
    Ok((size, pick(source, &columns, &rows)))
}

fn border_is_edge<T>(border: &Border<T>) -> bool {
    matches!(border, Border::Edge)
}

fn clamped(place: usize, before: usize, length: usize) -> usize {
    place.saturating_sub(before).min(length - 1)
}

fn mirrored(place: usize, before: usize, length: usize) -> usize {
    if length == 1 {
        return 0;
    }
    let period = 2 * (length - 1);
    let place = (place + period - before % period) % period;
    place.min(period - place)
}

fn pad_constant<T: Copy>(source: View<T>, margins: Margins, size: Size, fill: &[T]) -> Vec<T> {
    let blank = fill.repeat(size.width);
    let channels = source.channels();
    let mut output = Vec::with_capacity(blank.len() * size.height);
    (0..margins.upper).for_each(|_| output.extend_from_slice(&blank));
    for row in source.rows() {
        output.extend_from_slice(&blank[..margins.left * channels]);
        output.extend_from_slice(row);
        output.extend_from_slice(&blank[..margins.right * channels]);
    }
    (0..margins.lower).for_each(|_| output.extend_from_slice(&blank));
    output
}
