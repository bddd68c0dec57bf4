//! What a PNG file says about its image before any pixel is decoded (PNG specification, section 11.2.1).
use super::chunks::Chunk;
use super::color::ColorType;
use super::layout::Layout;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

const MAX_SIDE: u32 = 0x7fff_ffff;

/// Size, kind of samples and properties of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Width and height, as stored (the orientation not applied).
    pub size: Size,
    /// Bits of a stored sample: 1, 2, 4, 8 or 16.
    pub bit_depth: u8,
    /// How the samples are to be understood.
    pub color: ColorType,
    /// Whether the pixels come in the seven passes of Adam7.
    pub interlaced: bool,
    /// Whether a tRNS chunk makes palette entries or one color transparent.
    pub transparency: bool,
    /// The orientation, 1 to 8, of an eXIf chunk.
    pub orientation: Option<u8>,
}

impl Header {
    /// Reads the header of a whole file: the chunks are walked and their order is checked, their check values are not.
    pub fn parse(data: &[u8]) -> Result<Self> {
        Ok(Layout::read(data, false)?.header)
    }

    /// Bits of one stored pixel.
    pub(super) fn pixel_bits(&self) -> usize {
        self.color.samples() * usize::from(self.bit_depth)
    }

    /// The header in an IHDR chunk.
    pub(super) fn from_chunk(chunk: &Chunk) -> Result<Self> {
        let Ok(&[w0, w1, w2, w3, h0, h1, h2, h3, depth, color, compression, filter, interlace]) =
            <&[u8; 13]>::try_from(chunk.body)
        else {
            return Err(chunk.fault("IHDR of 13 bytes", format!("{} bytes", chunk.body.len())));
        };
        let size = size_of(chunk, u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]))?;
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

fn size_of(chunk: &Chunk, width: u32, height: u32) -> Result<Size> {
    if [width, height].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Ok(Size { width: width as usize, height: height as usize });
    }
    let found = format!("{width} x {height}");
    Err(ImageFault::new(ImageFaultKind::BadDimensions, chunk.offset, "sides of 1 to 2147483647 pixels", found))
}
