//! Encoded images to pixels: which decoder, which channels, which depth.
use super::engine::Engine;
use super::plan::{Deep, Gray, Reading, Want};
use crate::color::channels::to_gray;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::samples::Scale;
use crate::jpeg::{Channels as JpegChannels, EntryPoints, Wanted};
use crate::pixels::Size;
use crate::png::{Channels as PngChannels, Depth, GrayRule};
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

/// Decodes an image into the engine's memory: only what is wanted of it where the decoder can, with its entry points if there are any.
/// Entry points of another image are of no use, and do no harm.
pub fn read(
    engine: &mut Engine,
    (data, points): (&[u8], &[u8]),
    reading: &Reading,
    wanted: Wanted<'_>,
) -> Result<Pixels> {
    match kind_of(data)? {
        Coded::Jpeg => read_jpeg(engine, (data, points), reading, wanted),
        Coded::Png => read_png(engine, data, reading),
    }
}

fn read_jpeg(
    engine: &mut Engine,
    (data, points): (&[u8], &[u8]),
    reading: &Reading,
    wanted: Wanted<'_>,
) -> Result<Pixels> {
    let reduces = reading.want == Want::Gray && reading.gray == Gray::Pillow;
    let channels = match reading.want {
        Want::Rgb => JpegChannels::Rgb,
        Want::Gray if !reduces => JpegChannels::Gray,
        Want::Gray | Want::Stored => JpegChannels::AsStored,
    };
    let limits = jpeg::Limits { max_pixels: reading.max_pixels, ..jpeg::Limits::default() };
    let Reading { dct, fancy, inks, scale, .. } = *reading;
    let options = jpeg::Options { channels, dct, fancy, inks, scale, limits };
    let is_below = wanted.window.is_some_and(|window| window.y > 0);
    let points = if is_below && !points.is_empty() { EntryPoints::from_bytes(points).ok() } else { None };
    let mut decode = |points| engine.jpeg.decode_to(data, wanted, &options, points, &mut engine.pixels);
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
