//! From rows of component samples to pixels.
//!
//! T.871: R = Y + 1.402 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.772 Cb, with Cb and Cr taken from 128.
//! Products are rounded to whole levels in 16-bit fixed point: that of red and of blue each, the two of green as a sum.
use super::kernel::Kernel;

/// What the components of an image stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorSpace {
    /// One component: gray.
    Gray,
    /// Y, Cb, Cr.
    Ycc,
    /// R, G, B.
    Rgb,
    /// Cyan, magenta, yellow and black, perhaps of Adobe's.
    Cmyk(CmykConversion, bool),
    /// Y, Cb, Cr and black, of Adobe's.
    Ycck(CmykConversion),
}

/// The channels wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// One channel: gray.
    Gray,
    /// Red first.
    Rgb,
    /// Blue first.
    Bgr,
}

/// From components to channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// What the components stand for.
    pub from: ColorSpace,
    /// What is wanted.
    pub to: PixelFormat,
}

impl Conversion {
    /// Bytes per pixel.
    pub fn channels(self) -> usize {
        if self.to == PixelFormat::Gray { 1 } else { 3 }
    }

    /// The components that are looked at, counted from the first: chroma is not needed for gray.
    pub fn components(self) -> usize {
        match (self.from, self.to) {
            (ColorSpace::Gray, _) | (ColorSpace::Ycc, PixelFormat::Gray) => 1,
            (ColorSpace::Cmyk(..) | ColorSpace::Ycck(_), _) => 4,
            _ => 3,
        }
    }

    /// Turns rows of component samples into one row of pixels.
    ///
    /// Only the first [`Self::components`] rows are looked at.
    ///
    /// # Panics
    /// If those rows are shorter than the pixels that fit into `out`.
    #[inline(always)]
    pub fn row<K: Kernel>(self, kernel: K, rows: [&[u8]; 4], out: &mut [u8]) {
        let width = out.len() / self.channels();
        let first = &rows[0][..width];
        if self.components() == 1 {
            return match self.to {
                PixelFormat::Gray => out.copy_from_slice(first),
                _ => kernel.repeat(first, 3, out),
            };
        }
        let black = rows[3];
        let rows = [first, &rows[1][..width], &rows[2][..width]];
        match (self.from, self.to) {
            (ColorSpace::Cmyk(cmyk, adobe), order) => {
                kernel.interleave(rows, out);
                cmyk.colors(&black[..width], adobe, order, out);
            }
            (ColorSpace::Ycck(cmyk), order) => {
                kernel.ycc_to_rgb(rows, PixelFormat::Rgb, out);
                out.iter_mut().for_each(|level| *level = 255 - *level);
                cmyk.colors(&black[..width], true, order, out);
            }
            (ColorSpace::Rgb, PixelFormat::Gray) => kernel.rgb_to_gray(rows, out),
            (ColorSpace::Rgb, PixelFormat::Bgr) => kernel.interleave([rows[2], rows[1], rows[0]], out),
            (ColorSpace::Rgb, PixelFormat::Rgb) => kernel.interleave(rows, out),
            (_, order) => kernel.ycc_to_rgb(rows, order, out),
        }
    }
}

/// 16 fraction bits, rounded.
pub(super) const fn fixed(value: f64) -> i32 {
    (value * 65536.0 + 0.5) as i32
}

const HALF: i32 = 1 << 15;

/// The color of one pixel.
#[inline(always)]
fn rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let red = y + ((fixed(1.402) * cr + HALF) >> 16);
    let green = y + ((-fixed(0.34414) * cb - fixed(0.71414) * cr + HALF) >> 16);
    let blue = y + ((fixed(1.772) * cb + HALF) >> 16);
    [red, green, blue].map(|level| level.clamp(0, 255) as u8)
}

/// See [`Kernel::ycc_to_rgb`].
#[inline(always)]
pub(super) fn ycc_to_rgb([y, cb, cr]: [&[u8]; 3], order: PixelFormat, out: &mut [u8]) {
    for (((pixel, y), cb), cr) in out.chunks_exact_mut(3).zip(y).zip(cb).zip(cr) {
        let [red, green, blue] = rgb(*y, *cb, *cr);
        pixel.copy_from_slice(&if order == PixelFormat::Bgr { [blue, green, red] } else { [red, green, blue] });
    }
}

/// See [`Kernel::interleave`].
#[inline(always)]
pub(super) fn interleave([first, second, third]: [&[u8]; 3], out: &mut [u8]) {
    for (((pixel, a), b), c) in out.chunks_exact_mut(3).zip(first).zip(second).zip(third) {
        pixel.copy_from_slice(&[*a, *b, *c]);
    }
}

/// See [`Kernel::rgb_to_gray`]. The weights are those of Y in T.871 and sum to 1.
#[inline(always)]
pub(super) fn rgb_to_gray([red, green, blue]: [&[u8]; 3], out: &mut [u8]) {
    for (((gray, r), g), b) in out.iter_mut().zip(red).zip(green).zip(blue) {
        let [r, g, b] = [*r, *g, *b].map(i32::from);
        *gray = ((fixed(0.299) * r + fixed(0.587) * g + fixed(0.114) * b + HALF) >> 16) as u8;
    }
}

// CMYK to RGB, by the formula of Pillow, OpenCV or TensorFlow.

/// Whose formula. All take levels as the file has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CmykConversion {
    /// `libImaging/Convert.c`, after 255 less each level (`JpegImagePlugin.py`), which takes all files for Adobe's.
    Pillow,
    /// `grfmt_jpeg.cpp` and `utils.cpp` of OpenCV's imgcodecs, which take all files for Adobe's.
    OpenCv,
    /// `jpeg_mem.cc` of TensorFlow, which looks for Adobe's segment.
    TensorFlow,
}

impl CmykConversion {
    /// Turns pixels of three inks into colors; `black` has a level for each, `adobe` tells whether its segment is there.
    #[inline(always)]
    pub(super) fn colors(self, black: &[u8], adobe: bool, order: PixelFormat, pixels: &mut [u8]) {
        for (pixel, black) in pixels.chunks_exact_mut(3).zip(black) {
            for level in &mut *pixel {
                *level = match self {
                    Self::Pillow => of_pillow(*level, *black),
                    Self::OpenCv => *black - (((255 - u32::from(*level)) * u32::from(*black)) >> 8) as u8,
                    Self::TensorFlow if adobe => share(*level, *black),
                    Self::TensorFlow => share(255 - *level, 255 - *black),
                };
            }
            if order == PixelFormat::Bgr {
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
