//! Decoding options, and limits on the work that one image may cause.
use super::header::{ColorModel, Header};
use super::samples::{CmykConversion, ColorSpace, Conversion, Dct, PixelFormat, Scale};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::{Size, Window};

/// The channels of decoded pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Channels {
    /// One channel for grayscale images; red, green and blue for others.
    #[default]
    AsStored,
    /// One channel: luma.
    Gray,
    /// Red, green, blue; the channels of a grayscale image are equal.
    Rgb,
    /// Blue, green, red.
    Bgr,
}

/// Limits on the cost of one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Maximum number of pixels before scaling.
    pub max_pixels: usize,
    /// Maximum number of scans.
    pub max_scans: usize,
    /// Maximum number of blocks visited by all scans together.
    pub max_block_visits: usize,
    /// Maximum size in bytes of the coefficients of an image with several scans.
    pub max_coefficient_bytes: usize,
}

impl Default for Limits {
    /// `max_pixels` is Pillow's limit; the others leave room for a progressive image of 64 million pixels in a dozen
    /// scans.
    fn default() -> Self {
        Self { max_pixels: 178_956_970, max_scans: 500, max_block_visits: 1 << 27, max_coefficient_bytes: 1 << 30 }
    }
}

impl Limits {
    /// Returns a `LimitExceeded` error if `found` is more than `limit`.
    pub(super) fn check_limit(limit: usize, found: usize, what: &str, offset: usize) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        Err(ImageFault::beyond_limit(offset, limit, what, found.to_string()))
    }
}

/// The part of an image to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Region<'a> {
    /// The window to decode, in pixels of the scaled image; `None` for the whole image.
    pub window: Option<Window>,
    /// For each row of the window, whether to write it. Rows that are not written keep their contents. Empty to write
    /// all rows.
    pub rows: &'a [bool],
}

impl Region<'_> {
    /// Selects all rows of `window`, or all rows of the image if `window` is `None`.
    pub fn all_rows(window: Option<Window>) -> Self {
        Self { window, rows: &[] }
    }
}

/// Decoding options. The defaults are those of libjpeg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// Channels of the output.
    pub channels: Channels,
    /// Inverse DCT algorithm.
    pub dct: Dct,
    /// Whether subsampled chroma is interpolated (libjpeg's fancy upsampling) instead of repeated.
    pub fancy: bool,
    /// Formula that converts CMYK to RGB.
    pub cmyk: CmykConversion,
    /// Size of the output relative to the image: 1, 1/2, 1/4 or 1/8, rounded up.
    pub scale: Scale,
    /// Limits on the cost of the image.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            channels: Channels::AsStored,
            dct: Dct::Islow,
            fancy: true,
            cmyk: CmykConversion::Pillow,
            scale: Scale::Full,
            limits,
        }
    }
}

impl Options {
    /// Returns the size of the whole decoded image and its number of channels.
    ///
    /// # Errors
    /// `Unsupported` for a CMYK or YCCK image if these options do not convert it to RGB or BGR.
    pub fn shape(&self, header: &Header) -> Result<(Size, usize)> {
        let scaled = |edge: usize| (edge * self.scale.edge()).div_ceil(8);
        let size = Size { width: scaled(header.size.width), height: scaled(header.size.height) };
        Ok((size, self.conversion(header.color)?.channels()))
    }

    /// Returns the conversion from the components of an image to the requested channels. Returns `Unsupported` for a
    /// CMYK or YCCK image if these options do not convert it to RGB or BGR.
    pub(super) fn conversion(&self, color: ColorModel) -> Result<Conversion> {
        let from = match color {
            ColorModel::Gray => ColorSpace::Gray,
            ColorModel::YCbCr => ColorSpace::Ycc,
            ColorModel::Rgb => ColorSpace::Rgb,
            ColorModel::Cmyk { adobe } => ColorSpace::Cmyk(self.cmyk, adobe),
            ColorModel::Ycck => ColorSpace::Ycck(self.cmyk),
        };
        let is_cmyk = matches!(from, ColorSpace::Cmyk(..) | ColorSpace::Ycck(_));
        // TensorFlow converts CMYK images to RGB even if no channels are requested.
        let is_kept = self.channels == Channels::AsStored && self.cmyk != CmykConversion::TensorFlow;
        if is_cmyk && (is_kept || self.channels == Channels::Gray) {
            let (kind, expected) = (ImageFaultKind::Unsupported, "channels Rgb or Bgr for an image of four components");
            return Err(ImageFault::new(kind, 0, expected, format!("{:?}", self.channels)));
        }
        let to = match self.channels {
            Channels::AsStored if color == ColorModel::Gray => PixelFormat::Gray,
            Channels::AsStored | Channels::Rgb => PixelFormat::Rgb,
            Channels::Gray => PixelFormat::Gray,
            Channels::Bgr => PixelFormat::Bgr,
        };
        Ok(Conversion { from, to })
    }
}
