//! Reading one encoded image: its header, the choice of decoder, channels and depth, and its pixels.
use super::plan::{Deep, Gray, Reading, Want};
use super::run::Engine;
use crate::color::channels::to_gray;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::samples::{CmykConversion, Scale};
use crate::jpeg::{Channels as JpegChannels, EntryPoints, Region};
use crate::pixels::Size;
use crate::png::{Channels as PngChannels, ColorType, Depth, GrayRule};
use crate::{jpeg, png};

/// The codings that are decoded here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coded {
    Jpeg,
    Png,
}

/// The coding of an image, told by its first bytes.
pub fn kind_of(data: &[u8]) -> Result<Coded> {
    if data.starts_with(&[0xff, 0xd8]) {
        return Ok(Coded::Jpeg);
    }
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(Coded::Png);
    }
    let start = &data[..data.len().min(8)];
    Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "JPEG or PNG", format!("a file that begins with {start:02x?}")))
}

/// Pixels in the engine's memory: their size and channels, whether they are the window alone, and whether of 16 bits.
pub struct Pixels {
    pub size: Size,
    pub channels: usize,
    pub is_window: bool,
    pub is_deep: bool,
}

/// Decodes an image into the engine's memory: only what is region of it where the decoder can, with its entry points if there are any.
/// Entry points of another image are of no use, and do no harm.
pub fn read(
    engine: &mut Engine,
    (data, points): (&[u8], &[u8]),
    reading: &Reading,
    region: Region<'_>,
) -> Result<Pixels> {
    match kind_of(data)? {
        Coded::Jpeg => read_jpeg(engine, (data, points), reading, region),
        Coded::Png => read_png(engine, data, reading),
    }
}

fn read_jpeg(
    engine: &mut Engine,
    (data, points): (&[u8], &[u8]),
    reading: &Reading,
    region: Region<'_>,
) -> Result<Pixels> {
    let reduces = reading.want == Want::Gray && reading.gray == Gray::Pillow;
    let channels = match reading.want {
        Want::Rgb => JpegChannels::Rgb,
        Want::Gray if !reduces => JpegChannels::Gray,
        Want::Gray | Want::Stored => JpegChannels::AsStored,
    };
    let limits = jpeg::Limits { max_pixels: reading.max_pixels, ..jpeg::Limits::default() };
    let Reading { dct, fancy, cmyk, scale, .. } = *reading;
    let options = jpeg::Options { channels, dct, fancy, cmyk, scale, limits };
    let is_below = region.window.is_some_and(|window| window.y > 0);
    let points = if is_below && !points.is_empty() { EntryPoints::from_bytes(points).ok() } else { None };
    let mut decode = |points| engine.jpeg.decode_to(data, region, &options, points, &mut engine.pixels);
    let decoded = match decode(points.as_ref()) {
        Err(fault) if fault.kind == ImageFaultKind::BadEntryPoints => decode(None),
        decoded => decoded,
    };
    let (size, channels) = decoded?;
    if reduces && channels == 3 {
        engine.pixels = to_gray(&engine.pixels)?;
        return Ok(Pixels { size, channels: 1, is_window: true, is_deep: false });
    }
    Ok(Pixels { size, channels, is_window: true, is_deep: false })
}

fn read_png(engine: &mut Engine, data: &[u8], reading: &Reading) -> Result<Pixels> {
    if reading.scale != Scale::Full {
        return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "JPEG for a reduced scale", "PNG"));
    }
    let options = png::Options {
        channels: match reading.want {
            Want::Rgb => PngChannels::Rgb,
            Want::Gray => PngChannels::Gray,
            Want::Stored => PngChannels::WithTransparency,
        },
        depth: match reading.deep {
            Deep::Refuse => Depth::OnlyEight,
            Deep::HighByte => Depth::Eight,
            Deep::Keep => Depth::AsStored,
        },
        gray: if reading.gray == Gray::Pillow { GrayRule::Pillow } else { GrayRule::Libpng },
        limits: png::Limits { max_pixels: reading.max_pixels as u64, ..png::Limits::default() },
        ..png::Options::default()
    };
    let shape = engine.png.decode_to(data, &options, &mut engine.pixels, &mut engine.deep)?;
    Ok(Pixels { size: shape.size, channels: shape.channels, is_window: false, is_deep: shape.bits == 16 })
}

// Reading headers: sizes, orientation and channels without decoding pixels.

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
            let is_colors = header.num_channels() == 4 && reading.cmyk == CmykConversion::TensorFlow;
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
