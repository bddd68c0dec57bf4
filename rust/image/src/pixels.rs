//! Decoded pixels, and the rectangles that select parts of an image.

/// Size of an image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

/// A rectangle of an image in pixels: the position of its upper left corner, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Column of the left edge.
    pub x: usize,
    /// Row of the top edge.
    pub y: usize,
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl Window {
    /// Returns the window that covers an image of `size`.
    pub fn whole(size: Size) -> Self {
        Self { x: 0, y: 0, width: size.width, height: size.height }
    }

    /// Returns whether the window is not empty and lies within an image of `size`.
    pub fn lies_in(&self, size: Size) -> bool {
        let end = |start: usize, length: usize| start.checked_add(length).filter(|_| length > 0);
        end(self.x, self.width).is_some_and(|end| end <= size.width)
            && end(self.y, self.height).is_some_and(|end| end <= size.height)
    }
}

/// Samples of 8 or 16 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// 8-bit samples.
    U8(Vec<u8>),
    /// 16-bit samples.
    U16(Vec<u16>),
}

/// An image in memory: rows from top to bottom, pixels from left to right, channels interleaved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Width and height.
    pub size: Size,
    /// Number of channels.
    pub channels: usize,
    /// `height * width * channels` samples.
    pub samples: Samples,
}
