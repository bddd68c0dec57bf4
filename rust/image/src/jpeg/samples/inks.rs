//! From cyan, magenta, yellow and black to red, green and blue, by the formula of a library.
use super::color::Order;

/// Whose formula. All take levels as the file has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inks {
    /// `libImaging/Convert.c`, after 255 less each level (`JpegImagePlugin.py`), which takes all files for Adobe's.
    Pillow,
    /// `grfmt_jpeg.cpp` and `utils.cpp` of OpenCV's imgcodecs, which take all files for Adobe's.
    OpenCv,
    /// `jpeg_mem.cc` of TensorFlow, which looks for Adobe's segment.
    TensorFlow,
}

impl Inks {
    /// Turns pixels of three inks into colors; `black` has a level for each, `adobe` tells whether its segment is there.
    #[inline(always)]
    pub(super) fn colors(self, black: &[u8], adobe: bool, order: Order, pixels: &mut [u8]) {
        for (pixel, black) in pixels.chunks_exact_mut(3).zip(black) {
            for level in &mut *pixel {
                *level = match self {
                    Self::Pillow => of_pillow(*level, *black),
                    Self::OpenCv => *black - (((255 - u32::from(*level)) * u32::from(*black)) >> 8) as u8,
                    Self::TensorFlow if adobe => share(*level, *black),
                    Self::TensorFlow => share(255 - *level, 255 - *black),
                };
            }
            if order == Order::Bgr {
                pixel.swap(0, 2);
            }
        }
    }
}

/// What black leaves, less the ink's share of it, rounded.
#[inline(always)]
fn of_pillow(level: u8, left: u8) -> u8 {
    let product = u32::from(255 - level) * u32::from(left) + 128;
    left - (((product >> 8) + product) >> 8) as u8
}

/// The share of a level in another, cut.
#[inline(always)]
fn share(level: u8, of: u8) -> u8 {
    (u32::from(level) * u32::from(of) / 255) as u8
}
