//! What pixels are asked for, within which limits, and the shape of what a header then gives.
use super::header::ColorType;
use super::header::Header;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Twice Pillow's `MAX_IMAGE_PIXELS`, where Pillow refuses an image too.
const MAX_PIXELS: u64 = 178_956_970;
const MAX_BYTES: u64 = 1 << 30;

/// What a palette image's pixels become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// The colors of the palette; an index beyond the palette is a fault.
    #[default]
    Colors,
    /// The stored indices, exactly, also those beyond the palette. Other images are not concerned.
    Indices,
    /// The same, and gray values as they are stored, not spread to 0 to 255; images in color or with alpha are refused.
    Classes,
}

/// The channels of the output.
///
/// Gray becomes color by repetition, color becomes gray by a [`GrayRule`]; alpha is dropped, never blended, and is
/// full where the image has none. A color key (tRNS of a gray or RGB image) counts only where alpha is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channels {
    /// Those of the file; for a palette RGB, or RGBA if the palette has alpha.
    #[default]
    AsStored,
    /// Those of the file, and alpha for every kind of transparency.
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

/// Bits per sample of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// 16 for samples stored with 16 bits, else 8.
    #[default]
    AsStored,
    /// 8; of 16 bits the upper half is kept.
    Eight,
    /// 8; images of 16 bits are refused.
    OnlyEight,
}

/// How red, green and blue become gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrayRule {
    /// `(19595 R + 38470 G + 7471 B + 32768) >> 16`, of 8-bit samples if 8 bits are asked for: Pillow's `convert("L")`.
    #[default]
    Pillow,
    /// libpng's reduction with weights 0.299 and 0.587, as OpenCV and TensorFlow ask for it: truncated to 8 bits, rounded
    /// to 16, and in linear light if the file tells its gamma.
    Libpng,
}

/// Bounds that an image must keep before memory is taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Width times height.
    pub max_pixels: u64,
    /// Bytes of the inflated rows, and bytes of the output.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: MAX_PIXELS, max_bytes: MAX_BYTES }
    }
}

/// Everything a caller can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Colors or indices.
    pub palette: Palette,
    /// Channels of the output.
    pub channels: Channels,
    /// Bits per sample of the output.
    pub depth: Depth,
    /// How color becomes gray.
    pub gray: GrayRule,
    /// Whether the CRC-32 of every chunk and the Adler-32 of the pixels are compared.
    pub checksums: bool,
    /// Bounds of size.
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

/// The shape of decoded pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Width and height in pixels.
    pub size: Size,
    /// Samples per pixel.
    pub channels: usize,
    /// Bits per sample: 8 or 16.
    pub bits: u8,
}

impl Shape {
    /// Samples in one row.
    pub fn row_samples(&self) -> usize {
        self.size.width * self.channels
    }
}

impl Options {
    /// The shape that `decode` gives for an image with this header, if the image keeps the limits.
    pub fn shape(&self, header: &Header) -> Result<Shape> {
        let channels = self.target(header)?;
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

    /// The channels to deliver.
    pub(super) fn target(&self, header: &Header) -> Result<Target> {
        if self.keeps_indices(header) || self.palette == Palette::Classes {
            return self.classes(header);
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

    /// One channel of stored values, if the image has one and no other is asked for.
    fn classes(&self, header: &Header) -> Result<Target> {
        if !matches!(header.color, ColorType::Gray | ColorType::Palette) {
            let found = format!("{:?}", header.color);
            return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "a palette or gray values", found));
        }
        match self.channels {
            Channels::AsStored | Channels::Gray => Ok(Target::Gray),
            other => {
                let found = format!("{other:?}");
                Err(ImageFault::new(ImageFaultKind::BadArgument, 0, "one channel for stored values", found))
            }
        }
    }

    /// Whether the output are a palette's indices.
    pub(super) fn keeps_indices(&self, header: &Header) -> bool {
        header.color == ColorType::Palette && self.palette != Palette::Colors
    }
}

impl Limits {
    /// Refuses a count beyond its limit.
    pub(super) fn check(&self, count: u64, max: u64, what: &str) -> Result<()> {
        if count <= max {
            return Ok(());
        }
        Err(ImageFault::beyond_limit(0, max, what, count.to_string()))
    }
}

/// The channels to deliver, with "as stored" resolved.
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
    /// Samples per pixel.
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
