//! Decoding options and limits, and the shape of the output for a given header.
use super::header::ColorType;
use super::header::Header;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Twice Pillow's `MAX_IMAGE_PIXELS`. Pillow also raises an error for images with more pixels than this.
const MAX_PIXELS: u64 = 178_956_970;
const MAX_BYTES: u64 = 1 << 30;

/// Output for palette images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// The colors of the palette; an index beyond the palette is an error.
    #[default]
    Colors,
    /// The stored indices, including those beyond the palette. Images without a palette are not affected.
    Indices,
    /// The stored indices or gray values, without scaling to 0 to 255; images in color or with alpha are rejected.
    Classes,
}

/// Channels of the output.
///
/// Gray is converted to color by repetition, and color to gray by a [`GrayRule`]. An output without alpha drops the
/// alpha of the image without blending. An output with alpha is opaque if the image has none. A transparent color (tRNS
/// of a grayscale or RGB image) has an effect only if the output has alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channels {
    /// The stored channels; for a palette RGB, or RGBA if the palette has alpha.
    #[default]
    AsStored,
    /// The stored channels, plus alpha if the image has transparency of any kind.
    WithTransparency,
    /// Gray.
    Gray,
    /// Gray, alpha.
    GrayAlpha,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha.
    Rgba,
    /// Blue, green, red.
    Bgr,
    /// Blue, green, red, alpha.
    Bgra,
}

/// Bit depth of the output samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// 16 for stored samples of 16 bits, otherwise 8.
    #[default]
    AsStored,
    /// 8; of 16-bit samples, the upper byte is kept.
    Eight,
    /// 8; images with 16-bit samples are rejected.
    OnlyEight,
}

/// Conversion of red, green and blue to gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrayRule {
    /// `(19595 R + 38470 G + 7471 B + 32768) >> 16`, as in Pillow's `convert("L")`; 16-bit samples are first reduced to
    /// 8 bits if the output has 8 bits.
    #[default]
    Pillow,
    /// libpng's conversion with weights 0.299 and 0.587, as OpenCV and TensorFlow use it: truncated for 8 bits, rounded
    /// for 16 bits, and in linear light if the file states its gamma.
    Libpng,
}

/// Limits that are checked before memory is allocated for an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum of width times height.
    pub max_pixels: u64,
    /// Maximum size in bytes of the inflated rows, and of the output.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: MAX_PIXELS, max_bytes: MAX_BYTES }
    }
}

/// Decoding options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Output for palette images.
    pub palette: Palette,
    /// Channels of the output.
    pub channels: Channels,
    /// Bit depth of the output samples.
    pub depth: Depth,
    /// Conversion of color to gray.
    pub gray: GrayRule,
    /// Whether to verify the CRC-32 of every chunk and the Adler-32 of the image data.
    pub checksums: bool,
    /// Limits on the size of the image.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            palette: Palette::default(),
            channels: Channels::default(),
            depth: Depth::default(),
            gray: GrayRule::default(),
            checksums: true,
            limits: Limits::default(),
        }
    }
}

/// Shape of decoded pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Width and height in pixels.
    pub size: Size,
    /// Number of channels.
    pub channels: usize,
    /// Bits per sample: 8 or 16.
    pub bits: u8,
}

impl Shape {
    /// Returns the number of samples in a row.
    pub fn row_samples(&self) -> usize {
        self.size.width * self.channels
    }
}

impl Options {
    /// Returns the shape of the decoded image for this header. Checks the limits.
    pub fn shape(&self, header: &Header) -> Result<Shape> {
        let channels = self.output_channels(header)?;
        if header.bit_depth == 16 && self.depth == Depth::OnlyEight {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "8 bits per sample", "16"));
        }
        let wide = header.bit_depth == 16 && self.depth == Depth::AsStored;
        let shape = Shape { size: header.size, channels: channels.count(), bits: if wide { 16 } else { 8 } };
        let pixels = header.size.width as u64 * header.size.height as u64;
        self.limits.check(pixels, self.limits.max_pixels, "pixels")?;
        let bytes = pixels.saturating_mul((shape.channels * usize::from(shape.bits / 8)) as u64);
        self.limits.check(bytes, self.limits.max_bytes.min(isize::MAX as u64), "bytes of output")?;
        Ok(shape)
    }

    /// Returns the channels of the output.
    pub(super) fn output_channels(&self, header: &Header) -> Result<Target> {
        if self.keeps_indices(header) || self.palette == Palette::Classes {
            return self.class_channel(header);
        }
        let transparent = header.transparency && self.channels == Channels::WithTransparency;
        Ok(match self.channels {
            Channels::Gray => Target::Gray,
            Channels::GrayAlpha => Target::GrayAlpha,
            Channels::Rgb => Target::Rgb,
            Channels::Rgba => Target::Rgba,
            Channels::Bgr => Target::Bgr,
            Channels::Bgra => Target::Bgra,
            Channels::AsStored | Channels::WithTransparency => match header.color {
                ColorType::Gray if transparent => Target::GrayAlpha,
                ColorType::Rgb if transparent => Target::Rgba,
                ColorType::Gray => Target::Gray,
                ColorType::GrayAlpha => Target::GrayAlpha,
                ColorType::Rgba => Target::Rgba,
                ColorType::Palette if header.transparency => Target::Rgba,
                ColorType::Rgb | ColorType::Palette => Target::Rgb,
            },
        })
    }

    /// Returns the single channel of stored values. Returns an error if the image has several channels, or if other
    /// channels than gray are requested.
    fn class_channel(&self, header: &Header) -> Result<Target> {
        if !matches!(header.color, ColorType::Gray | ColorType::Palette) {
            let found = format!("{:?}", header.color);
            return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "a palette or grayscale image", found));
        }
        match self.channels {
            Channels::AsStored | Channels::Gray => Ok(Target::Gray),
            other => {
                let found = format!("{other:?}");
                Err(ImageFault::new(ImageFaultKind::BadArgument, 0, "one channel for stored values", found))
            }
        }
    }

    /// Returns whether the output for an image consists of its palette indices.
    pub(super) fn keeps_indices(&self, header: &Header) -> bool {
        header.color == ColorType::Palette && self.palette != Palette::Colors
    }
}

impl Limits {
    /// Returns a `LimitExceeded` error if `count` is more than `max`.
    pub(super) fn check(&self, count: u64, max: u64, what: &str) -> Result<()> {
        if count <= max {
            return Ok(());
        }
        Err(ImageFault::beyond_limit(0, max, what, count.to_string()))
    }
}

/// Channels of the output, with [`Channels::AsStored`] resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
    Bgr,
    Bgra,
}

impl Target {
    /// Returns the number of channels.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb | Self::Bgr => 3,
            Self::Rgba | Self::Bgra => 4,
        }
    }

    pub(super) fn is_gray(self) -> bool {
        matches!(self, Self::Gray | Self::GrayAlpha)
    }

    pub(super) fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba | Self::Bgra)
    }
}
