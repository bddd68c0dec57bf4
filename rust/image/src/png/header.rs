//! PNG image header: size, color type, bit depth and orientation (PNG specification, section 11.2.1).
use super::chunks::Chunk;
use super::layout::Layout;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

const MAX_SIDE: u32 = 0x7fff_ffff;

/// Image properties stated before the image data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Width and height as stored, before any orientation is applied.
    pub size: Size,
    /// Bits per stored sample: 1, 2, 4, 8 or 16.
    pub bit_depth: u8,
    /// Color type of the stored pixels.
    pub color: ColorType,
    /// Whether the image uses Adam7 interlacing.
    pub interlaced: bool,
    /// Whether a tRNS chunk makes palette entries or one color transparent.
    pub transparency: bool,
    /// Orientation, 1 to 8, from an eXIf chunk.
    pub orientation: Option<u8>,
}

impl Header {
    /// Parses the header of a complete file. Checks the order of all chunks, but not their CRCs.
    pub fn parse(data: &[u8]) -> Result<Self> {
        Ok(Layout::read(data, false)?.header)
    }

    /// Returns the number of bits in a stored pixel.
    pub(super) fn pixel_bits(&self) -> usize {
        self.color.samples() * usize::from(self.bit_depth)
    }

    /// Parses an IHDR chunk.
    pub(super) fn from_chunk(chunk: &Chunk) -> Result<Self> {
        let Ok(&[w0, w1, w2, w3, h0, h1, h2, h3, depth, color, compression, filter, interlace]) =
            <&[u8; 13]>::try_from(chunk.body)
        else {
            return Err(chunk.fault("IHDR of 13 bytes", format!("{} bytes", chunk.body.len())));
        };
        let size = checked_size(chunk, u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]))?;
        let Some(color) = ColorType::from_code(color).filter(|color| color.allows(depth)) else {
            let found = format!("color type {color} with {depth} bits per sample");
            return Err(chunk.fault("a color type and bit depth that PNG combines", found));
        };
        for (what, value, max) in [("compression", compression, 0), ("filter", filter, 0), ("interlace", interlace, 1)]
        {
            if value > max {
                return Err(chunk.fault(format!("{what} method 0 to {max}"), value.to_string()));
            }
        }
        let interlaced = interlace == 1;
        Ok(Self { size, bit_depth: depth, color, interlaced, transparency: false, orientation: None })
    }
}

fn checked_size(chunk: &Chunk, width: u32, height: u32) -> Result<Size> {
    if [width, height].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Ok(Size { width: width as usize, height: height as usize });
    }
    let found = format!("{width} x {height}");
    Err(ImageFault::new(ImageFaultKind::BadDimensions, chunk.offset, "sides of 1 to 2147483647 pixels", found))
}

/// Color type of a stored pixel, with its allowed bit depths (PNG specification, section 11.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorType {
    /// One gray sample.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// One index into the palette.
    Palette,
    /// Gray and alpha.
    GrayAlpha,
    /// Red, green, blue, alpha.
    Rgba,
}

impl ColorType {
    /// Returns the color type that an IHDR chunk stores as `code`.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Gray,
            2 => Self::Rgb,
            3 => Self::Palette,
            4 => Self::GrayAlpha,
            6 => Self::Rgba,
            _ => return None,
        })
    }

    /// Returns whether the color type allows samples of `bits` bits.
    pub(super) fn allows(self, bits: u8) -> bool {
        match self {
            Self::Gray => matches!(bits, 1 | 2 | 4 | 8 | 16),
            Self::Palette => matches!(bits, 1 | 2 | 4 | 8),
            Self::Rgb | Self::GrayAlpha | Self::Rgba => matches!(bits, 8 | 16),
        }
    }

    /// Returns the number of stored samples per pixel.
    pub fn samples(self) -> usize {
        match self {
            Self::Gray | Self::Palette => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Returns whether every stored pixel has an alpha sample.
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }
}
