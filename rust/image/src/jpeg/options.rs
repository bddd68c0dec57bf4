//! What a caller wants of an image, and how much work an image may ask for.
use super::header::{ColorModel, Header};
use super::samples::{CmykConversion, ColorSpace, Conversion, Dct, PixelFormat, Scale};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::{Size, Window};

/// The channels of decoded pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Channels {
    /// One for gray images, red, green and blue for others.
    #[default]
    AsStored,
    /// One: luma.
    Gray,
    /// Red, green, blue; a gray image gives three equal channels.
    Rgb,
    /// Blue, green, red.
    Bgr,
}

/// Bounds of what one image may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Pixels of the image, before scaling.
    pub max_pixels: usize,
    /// Scans of an image with several.
    pub max_scans: usize,
    /// Blocks that all scans together visit.
    pub max_block_visits: usize,
    /// Bytes for the coefficients of an image with several scans.
    pub max_coefficient_bytes: usize,
}

impl Default for Limits {
    /// Pillow's limit of pixels; otherwise what a progressive image of 64 million pixels in a dozen scans needs, with room to spare.
    fn default() -> Self {
        Self { max_pixels: 178_956_970, max_scans: 500, max_block_visits: 1 << 27, max_coefficient_bytes: 1 << 30 }
    }
}

impl Limits {
    /// Demands that `found` is at most `limit`.
    pub(super) fn check(limit: usize, found: usize, what: &str, offset: usize) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        Err(ImageFault::beyond_limit(offset, limit, what, found.to_string()))
    }
}

/// What of an image is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Region<'a> {
    /// A part of it, in pixels of the result's scale; otherwise all.
    pub window: Option<Window>,
    /// Which rows of that part are made, the others are left as the memory was; all of them where it tells none.
    pub rows: &'a [bool],
}

impl Region<'_> {
    /// All rows of a window, or of the image.
    pub fn all(window: Option<Window>) -> Self {
        Self { window, rows: &[] }
    }
}

/// How an image is decoded. The default is what libjpeg does unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// The channels wanted.
    pub channels: Channels,
    /// The inverse transform.
    pub dct: Dct,
    /// Whether subsampled chroma is interpolated (libjpeg's fancy upsampling) rather than repeated.
    pub fancy: bool,
    /// What becomes of cyan, magenta, yellow and black.
    pub cmyk: CmykConversion,
    /// The size of the result: that of the image or a half, a quarter, an eighth of it, rounded up.
    pub scale: Scale,
    /// What the image may cost.
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
    /// Width and height of the whole decoded image, and its number of channels.
    ///
    /// # Errors
    /// `Unsupported` for inks that are not to become colors.
    pub fn shape(&self, header: &Header) -> Result<(Size, usize)> {
        let scaled = |edge: usize| (edge * self.scale.edge()).div_ceil(8);
        let size = Size { width: scaled(header.size.width), height: scaled(header.size.height) };
        Ok((size, self.conversion(header.color)?.channels()))
    }

    /// From the components of an image to the channels wanted; `Unsupported` for inks that are not to become colors.
    pub(super) fn conversion(&self, color: ColorModel) -> Result<Conversion> {
        let from = match color {
            ColorModel::Gray => ColorSpace::Gray,
            ColorModel::YCbCr => ColorSpace::Ycc,
            ColorModel::Rgb => ColorSpace::Rgb,
            ColorModel::Cmyk { adobe } => ColorSpace::Cmyk(self.cmyk, adobe),
            ColorModel::Ycck => ColorSpace::Ycck(self.cmyk),
        };
        let is_cmyk = matches!(from, ColorSpace::Cmyk(..) | ColorSpace::Ycck(_));
        // As stored they are colors for TensorFlow.
        let is_kept = self.channels == Channels::AsStored && self.cmyk != CmykConversion::TensorFlow;
        if is_cmyk && (is_kept || self.channels == Channels::Gray) {
            let (kind, expected) = (ImageFaultKind::Unsupported, "colors wanted of an image of four components");
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
