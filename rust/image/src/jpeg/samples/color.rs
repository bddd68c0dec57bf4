//! Conversion of rows of component samples to pixels.
//!
//! YCbCr to RGB (T.871): R = Y + 1.402 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.772 Cb, with Cb and Cr relative
//! to 128. The arithmetic is 16-bit fixed point. The products for red and for blue are each rounded to integers; the
//! two products for green are rounded as a sum.
use super::kernel::Kernel;

/// Color space of the components of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorSpace {
    /// One component: luma.
    Gray,
    /// Y, Cb, Cr.
    Ycc,
    /// R, G, B.
    Rgb,
    /// Cyan, magenta, yellow and black; the flag states whether the file has an Adobe segment.
    Cmyk(CmykConversion, bool),
    /// Y, Cb, Cr and black, as in Adobe files.
    Ycck(CmykConversion),
}

/// Channels and channel order of the output pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// One channel: luma.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
}

/// Conversion from component samples to pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// Color space of the components.
    pub from: ColorSpace,
    /// Format of the pixels.
    pub to: PixelFormat,
}

impl Conversion {
    /// Returns the number of channels, which is the number of bytes per pixel.
    pub fn channels(self) -> usize {
        if self.to == PixelFormat::Gray { 1 } else { 3 }
    }

    /// Returns the number of components that the conversion reads, from the first on. Grayscale output does not need
    /// chroma.
    pub fn components(self) -> usize {
        match (self.from, self.to) {
            (ColorSpace::Gray, _) | (ColorSpace::Ycc, PixelFormat::Gray) => 1,
            (ColorSpace::Cmyk(..) | ColorSpace::Ycck(_), _) => 4,
            _ => 3,
        }
    }

    /// Converts rows of component samples into one row of pixels. Reads only the first [`Self::components`] rows.
    ///
    /// # Panics
    /// If one of these rows has fewer samples than `out` has room for pixels.
    #[inline(always)]
    pub fn convert_row<K: Kernel>(self, kernel: K, rows: [&[u8]; 4], out: &mut [u8]) {
        let width = out.len() / self.channels();
        let first = &rows[0][..width];
        if self.components() == 1 {
            return match self.to {
                PixelFormat::Gray => out.copy_from_slice(first),
                _ => kernel.repeat_samples(first, 3, out),
            };
        }
        let black = rows[3];
        let rows = [first, &rows[1][..width], &rows[2][..width]];
        match (self.from, self.to) {
            (ColorSpace::Cmyk(cmyk, adobe), order) => {
                kernel.interleave(rows, out);
                cmyk.convert(&black[..width], adobe, order, out);
            }
            (ColorSpace::Ycck(cmyk), order) => {
                kernel.ycc_to_rgb(rows, PixelFormat::Rgb, out);
                out.iter_mut().for_each(|level| *level = 255 - *level);
                cmyk.convert(&black[..width], true, order, out);
            }
            (ColorSpace::Rgb, PixelFormat::Gray) => kernel.rgb_to_gray(rows, out),
            (ColorSpace::Rgb, PixelFormat::Bgr) => kernel.interleave([rows[2], rows[1], rows[0]], out),
            (ColorSpace::Rgb, PixelFormat::Rgb) => kernel.interleave(rows, out),
            (_, order) => kernel.ycc_to_rgb(rows, order, out),
        }
    }
}

/// Converts a factor to fixed point with 16 fraction bits, rounded.
pub(super) const fn to_fixed_point(value: f64) -> i32 {
    (value * 65536.0 + 0.5) as i32
}

const HALF: i32 = 1 << 15;

/// Converts one YCbCr pixel to RGB.
#[inline(always)]
fn pixel_to_rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let red = y + ((to_fixed_point(1.402) * cr + HALF) >> 16);
    let green = y + ((-to_fixed_point(0.34414) * cb - to_fixed_point(0.71414) * cr + HALF) >> 16);
    let blue = y + ((to_fixed_point(1.772) * cb + HALF) >> 16);
    [red, green, blue].map(|level| level.clamp(0, 255) as u8)
}

/// See [`Kernel::ycc_to_rgb`].
#[inline(always)]
pub(super) fn ycc_to_rgb([y, cb, cr]: [&[u8]; 3], order: PixelFormat, out: &mut [u8]) {
    for (((pixel, y), cb), cr) in out.chunks_exact_mut(3).zip(y).zip(cb).zip(cr) {
        let [red, green, blue] = pixel_to_rgb(*y, *cb, *cr);
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

/// See [`Kernel::rgb_to_gray`]. The weights are those of Y in T.871; they sum to 1.
#[inline(always)]
pub(super) fn rgb_to_gray([red, green, blue]: [&[u8]; 3], out: &mut [u8]) {
    for (((gray, r), g), b) in out.iter_mut().zip(red).zip(green).zip(blue) {
        let [r, g, b] = [*r, *g, *b].map(i32::from);
        *gray =
            ((to_fixed_point(0.299) * r + to_fixed_point(0.587) * g + to_fixed_point(0.114) * b + HALF) >> 16) as u8;
    }
}

/// Formula for CMYK to RGB. All formulas take the samples as stored in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CmykConversion {
    /// `libImaging/Convert.c` of Pillow, applied to inverted samples (`JpegImagePlugin.py`): treats every file as an
    /// Adobe file.
    Pillow,
    /// `grfmt_jpeg.cpp` and `utils.cpp` of OpenCV's imgcodecs: treats every file as an Adobe file.
    OpenCv,
    /// `jpeg_mem.cc` of TensorFlow: inverts samples only if the file has no Adobe segment.
    TensorFlow,
}

impl CmykConversion {
    /// Converts pixels of cyan, magenta and yellow to colors in place. `black` has one sample per pixel; `adobe` states
    /// whether the file has an Adobe segment.
    #[inline(always)]
    pub(super) fn convert(self, black: &[u8], adobe: bool, order: PixelFormat, pixels: &mut [u8]) {
        for (pixel, black) in pixels.chunks_exact_mut(3).zip(black) {
            for level in &mut *pixel {
                *level = match self {
                    Self::Pillow => pillow_level(*level, *black),
                    Self::OpenCv => *black - (((255 - u32::from(*level)) * u32::from(*black)) >> 8) as u8,
                    Self::TensorFlow if adobe => multiply_levels(*level, *black),
                    Self::TensorFlow => multiply_levels(255 - *level, 255 - *black),
                };
            }
            if order == PixelFormat::Bgr {
                pixel.swap(0, 2);
            }
        }
    }
}

/// Returns `black - (255 - level) * black / 255`, where the quotient is rounded.
#[inline(always)]
fn pillow_level(level: u8, black: u8) -> u8 {
    let product = u32::from(255 - level) * u32::from(black) + 128;
    black - (((product >> 8) + product) >> 8) as u8
}

/// Returns `a * b / 255`, truncated.
#[inline(always)]
fn multiply_levels(a: u8, b: u8) -> u8 {
    (u32::from(a) * u32::from(b) / 255) as u8
}
