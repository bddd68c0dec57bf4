//! Decoded pixels and the rectangles that name parts of them.

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A rectangle of an image: its upper left corner and its size, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Columns left of the window.
    pub x: usize,
    /// Rows above the window.
    pub y: usize,
    /// Columns in the window.
    pub width: usize,
    /// Rows in the window.
    pub height: usize,
}

impl Window {
    /// The window that covers an image of `size`.
    pub fn whole(size: Size) -> Self {
        Self { x: 0, y: 0, width: size.width, height: size.height }
    }

    /// Whether the window has pixels and all of them lie in an image of `size`.
    pub fn lies_in(&self, size: Size) -> bool {
        let end = |start: usize, length: usize| start.checked_add(length).filter(|_| length > 0);
        end(self.x, self.width).is_some_and(|end| end <= size.width)
            && end(self.y, self.height).is_some_and(|end| end <= size.height)
    }
}

/// Sample values, 8 or 16 bits each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// Values 0 to 255.
    U8(Vec<u8>),
    /// Values 0 to 65,535.
    U16(Vec<u16>),
}

/// An image in memory: rows from the top, pixels from the left, the channels of a pixel side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Width and height.
    pub size: Size,
    /// Values per pixel.
    pub channels: usize,
    /// `height * width * channels` values.
    pub samples: Samples,
}
