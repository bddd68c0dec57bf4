//! A borrowed image: interleaved rows with a stride, so that a crop is a view and costs nothing.
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::{Size, Window};

/// The most channels that a view may have.
pub const MAX_CHANNELS: usize = 4;

/// The longest side that a view or a result may have.
pub const MAX_SIDE: usize = 1 << 20;

/// The most values that a result may have: 2^32.
pub const MAX_VALUES: u64 = 1 << 32;

/// An image that somebody else owns: rows from the top, pixels from the left, the channels of a pixel side by side.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    samples: &'a [T],
    size: Size,
    channels: usize,
    stride: usize,
}

/// A fault of the caller's arguments.
pub(crate) fn refuse<T>(expected: impl Into<String>, found: impl Into<String>) -> Result<T> {
    Err(ImageFault::new(ImageFaultKind::BadArgument, 0, expected, found))
}

/// The number of values of an image, if its sides and channels are within the limits.
pub(crate) fn count_values(size: Size, channels: usize) -> Result<usize> {
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&size.width) || !sides.contains(&size.height) {
        let found = format!("{} x {}", size.width, size.height);
        return Err(ImageFault::new(ImageFaultKind::BadDimensions, 0, format!("sides of 1 to {MAX_SIDE}"), found));
    }
    if !(1..=MAX_CHANNELS).contains(&channels) {
        return refuse(format!("1 to {MAX_CHANNELS} channels"), channels.to_string());
    }
    let count = size.width as u64 * size.height as u64 * channels as u64;
    match usize::try_from(count) {
        Ok(fits) if count <= MAX_VALUES => Ok(fits),
        _ => Err(ImageFault::new(ImageFaultKind::LimitExceeded, 0, format!("{MAX_VALUES} values"), count.to_string())),
    }
}

impl<'a, T: Copy> View<'a, T> {
    /// The image whose values fill `samples`.
    pub fn new(samples: &'a [T], size: Size, channels: usize) -> Result<Self> {
        let expected = count_values(size, channels)?;
        if samples.len() != expected {
            return refuse(format!("{expected} values"), samples.len().to_string());
        }
        Ok(Self { samples, size, channels, stride: size.width * channels })
    }

    /// The part of this image inside `window`.
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

    /// Width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Values per pixel.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Row `y`, which must be below the height.
    pub fn row(&self, y: usize) -> &'a [T] {
        &self.samples[y * self.stride..][..self.size.width * self.channels]
    }

    /// Row `y` and whatever lies behind it in memory.
    pub(crate) fn row_to_end(&self, y: usize) -> &'a [T] {
        &self.samples[y * self.stride..]
    }

    /// Pixel (`x`, `y`): its channels.
    pub(crate) fn pixel(&self, x: usize, y: usize) -> &'a [T] {
        &self.samples[y * self.stride + x * self.channels..][..self.channels]
    }

    /// The rows from the top.
    pub fn rows(&self) -> impl Iterator<Item = &'a [T]> + '_ {
        (0..self.size.height).map(|y| self.row(y))
    }

    /// All values, if the rows lie side by side in memory.
    pub(crate) fn as_contiguous(&self) -> Option<&'a [T]> {
        (self.stride == self.size.width * self.channels).then_some(self.samples)
    }

    /// A copy with rows side by side in memory.
    pub fn to_vec(&self) -> Vec<T> {
        let mut values = Vec::with_capacity(self.size.width * self.size.height * self.channels);
        self.rows().for_each(|row| values.extend_from_slice(row));
        values
    }
}
