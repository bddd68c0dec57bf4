//! What encoded images say about themselves, before any pixel is decoded.
use super::plan::Reading;
use super::read::{Coded, kind_of};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::samples::{Inks, Scale};
use crate::pixels::Size;
use crate::png::ColorType;
use crate::{jpeg, png};

/// Sizes, orientation and channels of an encoded image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// The upright image.
    pub size: Size,
    /// The upright image as it is decoded: smaller at a reduced scale.
    pub decoded: Size,
    /// EXIF orientation, 1 to 8; 1 if it is not asked for.
    pub orientation: u8,
    /// Channels of what is stored, transparency counted.
    pub channels: usize,
    /// Whether it can be decoded at a reduced size.
    pub scalable: bool,
}

/// Reads the header of an encoded image; with `upright`, its orientation too.
pub fn describe(data: &[u8], reading: &Reading, upright: bool) -> Result<Described> {
    let coded = kind_of(data)?;
    let (stored, orientation, channels) = match coded {
        Coded::Jpeg => {
            let header = jpeg::Header::parse(data)?;
            let is_colors = header.num_channels() == 4 && reading.inks == Inks::TensorFlow;
            (header.size, header.orientation, if is_colors { 3 } else { header.num_channels() })
        }
        Coded::Png => {
            let header = png::Header::parse(data)?;
            if reading.scale != Scale::Full {
                return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "JPEG for a reduced scale", "PNG"));
            }
            (header.size, header.orientation.unwrap_or(1), stored_channels(&header))
        }
    };
    if stored.width.saturating_mul(stored.height) > reading.max_pixels {
        let found = format!("{} x {}", stored.width, stored.height);
        return Err(ImageFault::beyond_limit(0, reading.max_pixels, "pixels", found));
    }
    let orientation = if upright { orientation } else { 1 };
    let scaled = |edge: usize| (edge * reading.scale.edge()).div_ceil(8);
    let decoded = Size { width: scaled(stored.width), height: scaled(stored.height) };
    Ok(Described {
        size: turned(stored, orientation),
        decoded: turned(decoded, orientation),
        orientation,
        channels,
        scalable: coded == Coded::Jpeg,
    })
}

/// The size of an image whose orientation is undone.
pub fn turned(size: Size, orientation: u8) -> Size {
    if orientation > 4 { Size { width: size.height, height: size.width } } else { size }
}

fn stored_channels(header: &png::Header) -> usize {
    match header.color {
        ColorType::Gray | ColorType::GrayAlpha => 1 + usize::from(header.transparency || header.color.has_alpha()),
        ColorType::Rgb | ColorType::Palette | ColorType::Rgba => {
            3 + usize::from(header.transparency || header.color.has_alpha())
        }
    }
}
