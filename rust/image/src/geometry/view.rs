//! A borrowed image of interleaved rows with a stride, so that a crop needs no copy.
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};

/// Largest number of channels.
pub const MAX_CHANNELS: usize = 4;

/// Largest width or height of an image or result.
pub const MAX_SIDE: usize = 1 << 20;

/// Largest number of values in a result.
pub const MAX_VALUES: u64 = 1 << 32;

/// A borrowed image: rows from top to bottom, pixels from left to right, channels interleaved.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    samples: &'a [T],
    size: Size,
    channels: usize,
    stride: usize,
}

/// Returns a `BadArgument` error.
pub(crate) fn bad_argument<T>(expected: impl Into<String>, found: impl Into<String>) -> Result<T> {
    Err(ImageFault::new(ImageFaultKind::BadArgument, 0, expected, found))
}

/// Returns the number of values of an image, or an error if its size or channels exceed the limits.
pub(crate) fn count_values(size: Size, channels: usize) -> Result<usize> {
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&size.width) || !sides.contains(&size.height) {
        let found = format!("{} x {}", size.width, size.height);
        return Err(ImageFault::new(ImageFaultKind::BadDimensions, 0, format!("sides of 1 to {MAX_SIDE}"), found));
    }
    if !(1..=MAX_CHANNELS).contains(&channels) {
        return bad_argument(format!("1 to {MAX_CHANNELS} channels"), channels.to_string());
    }
    let count = size.width as u64 * size.height as u64 * channels as u64;
    match usize::try_from(count) {
        Ok(fits) if count <= MAX_VALUES => Ok(fits),
        _ => Err(ImageFault::new(ImageFaultKind::LimitExceeded, 0, format!("{MAX_VALUES} values"), count.to_string())),
    }
}

impl<'a, T: Copy> View<'a, T> {
    /// Creates a view of contiguous samples.
    pub fn new(samples: &'a [T], size: Size, channels: usize) -> Result<Self> {
        let expected = count_values(size, channels)?;
        if samples.len() != expected {
            return bad_argument(format!("{expected} values"), samples.len().to_string());
        }
        Ok(Self { samples, size, channels, stride: size.width * channels })
    }

    /// Returns the part of this image inside `window`.
    pub fn crop(&self, window: Window) -> Result<Self> {
        if !window.lies_in(self.size) {
            let expected = format!("a window within {} x {}", self.size.width, self.size.height);
            return Err(ImageFault::new(ImageFaultKind::BadWindow, 0, expected, format!("{window:?}")));
        }
        let start = window.y * self.stride + window.x * self.channels;
        let end = start + (window.height - 1) * self.stride + window.width * self.channels;
        let size = Size { width: window.width, height: window.height };
        Ok(Self { samples: &self.samples[start..end], size, ..*self })
    }

    /// Returns the width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns row `y`, which must be less than the height.
    pub fn row(&self, y: usize) -> &'a [T] {
        &self.samples[y * self.stride..][..self.size.width * self.channels]
    }

    /// Returns the samples from the start of row `y` to the end of the buffer.
    pub(crate) fn row_to_end(&self, y: usize) -> &'a [T] {
        &self.samples[y * self.stride..]
    }

    /// Returns the channels of pixel (`x`, `y`).
    pub(crate) fn pixel(&self, x: usize, y: usize) -> &'a [T] {
        &self.samples[y * self.stride + x * self.channels..][..self.channels]
    }

    /// Iterates over the rows from top to bottom.
    pub fn rows(&self) -> impl Iterator<Item = &'a [T]> + '_ {
        (0..self.size.height).map(|y| self.row(y))
    }

    /// Returns all samples if the rows are contiguous in memory.
    pub(crate) fn as_contiguous(&self) -> Option<&'a [T]> {
        (self.stride == self.size.width * self.channels).then_some(self.samples)
    }

    /// Copies the image to contiguous memory.
    pub fn to_vec(&self) -> Result<Vec<T>, OutOfMemory> {
        let mut values = memory::with_capacity(self.size.width * self.size.height * self.channels)?;
        self.rows().for_each(|row| values.extend_from_slice(row));
        Ok(values)
    }
}
