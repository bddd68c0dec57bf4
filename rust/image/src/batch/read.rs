//! Decoding of one encoded image: detects the format and selects decoder, channels and bit depth.
use super::plan::{DecodeOptions, Gray, OutputChannels, SixteenBit};
use super::run::WorkerState;
use crate::color::channels::to_gray;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::samples::{CmykConversion, Scale};
use crate::jpeg::{Channels as JpegChannels, EntryPoints, Region};
use crate::pixels::Size;
use crate::png::{Channels as PngChannels, ColorType, Depth, GrayRule};
use crate::{jpeg, png};

/// The supported image formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    Jpeg,
    Png,
}

/// Detects the format of an image from its first bytes.
pub fn detect_format(data: &[u8]) -> Result<ImageFormat> {
    if data.starts_with(&[0xff, 0xd8]) {
        return Ok(ImageFormat::Jpeg);
    }
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(ImageFormat::Png);
    }
    let start = &data[..data.len().min(8)];
    Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "JPEG or PNG", format!("a file that begins with {start:02x?}")))
}

/// Shape of the decoded pixels in the worker's memory. `is_window` states that only the requested window was decoded.
/// `is_deep` states that the samples have 16 bits.
pub struct DecodedShape {
    pub size: Size,
    pub channels: usize,
    pub is_window: bool,
    pub is_deep: bool,
}

/// Decodes an image into the worker's memory. A decoder that supports regions decodes only `region`. Entry points that
/// belong to another image are ignored.
pub fn decode_to_worker(
    worker: &mut WorkerState,
    (data, points): (&[u8], &[u8]),
    reading: &DecodeOptions,
    region: Region<'_>,
) -> Result<DecodedShape> {
    match detect_format(data)? {
        ImageFormat::Jpeg => read_jpeg(worker, (data, points), reading, region),
        ImageFormat::Png => read_png(worker, data, reading),
    }
}

fn read_jpeg(
    worker: &mut WorkerState,
    (data, points): (&[u8], &[u8]),
    reading: &DecodeOptions,
    region: Region<'_>,
) -> Result<DecodedShape> {
    let reduces = reading.want == OutputChannels::Gray && reading.gray == Gray::Pillow;
    let channels = match reading.want {
        OutputChannels::Rgb => JpegChannels::Rgb,
        OutputChannels::Gray if !reduces => JpegChannels::Gray,
        OutputChannels::Gray | OutputChannels::Stored => JpegChannels::AsStored,
    };
    let limits = jpeg::Limits { max_pixels: reading.max_pixels, ..jpeg::Limits::default() };
    let DecodeOptions { dct, fancy, cmyk, scale, .. } = *reading;
    let options = jpeg::Options { channels, dct, fancy, cmyk, scale, limits };
    let is_below = region.window.is_some_and(|window| window.y > 0);
    let points = if is_below && !points.is_empty() { EntryPoints::from_bytes(points).ok() } else { None };
    let mut decode = |points| worker.jpeg.decode_to(data, region, &options, points, &mut worker.pixels);
    let decoded = match decode(points.as_ref()) {
        Err(fault) if fault.kind == ImageFaultKind::BadEntryPoints => decode(None),
        decoded => decoded,
    };
    let (size, channels) = decoded?;
    if reduces && channels == 3 {
        worker.pixels = to_gray(&worker.pixels)?;
        return Ok(DecodedShape { size, channels: 1, is_window: true, is_deep: false });
    }
    Ok(DecodedShape { size, channels, is_window: true, is_deep: false })
}

fn read_png(worker: &mut WorkerState, data: &[u8], reading: &DecodeOptions) -> Result<DecodedShape> {
    if reading.scale != Scale::Full {
        return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "JPEG for a reduced scale", "PNG"));
    }
    let options = png::Options {
        channels: match reading.want {
            OutputChannels::Rgb => PngChannels::Rgb,
            OutputChannels::Gray => PngChannels::Gray,
            OutputChannels::Stored => PngChannels::WithTransparency,
        },
        depth: match reading.deep {
            SixteenBit::Refuse => Depth::OnlyEight,
            SixteenBit::HighByte => Depth::Eight,
            SixteenBit::Keep => Depth::AsStored,
        },
        gray: if reading.gray == Gray::Pillow { GrayRule::Pillow } else { GrayRule::Libpng },
        limits: png::Limits { max_pixels: reading.max_pixels as u64, ..png::Limits::default() },
        ..png::Options::default()
    };
    let shape = worker.png.decode_to(data, &options, &mut worker.pixels, &mut worker.deep)?;
    Ok(DecodedShape { size: shape.size, channels: shape.channels, is_window: false, is_deep: shape.bits == 16 })
}

/// Header information of an encoded image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageInfo {
    /// Size of the upright image.
    pub size: Size,
    /// Size of the upright image as decoded, which is smaller at a reduced scale.
    pub decoded: Size,
    /// EXIF orientation, 1 to 8; 1 if not requested.
    pub orientation: u8,
    /// Number of stored channels, including transparency.
    pub channels: usize,
    /// Whether the image can be decoded at a reduced scale.
    pub scalable: bool,
}

/// Parses the header of an encoded image, and its orientation if `upright` is set.
pub fn read_image_info(data: &[u8], reading: &DecodeOptions, upright: bool) -> Result<ImageInfo> {
    let coded = detect_format(data)?;
    let (stored, orientation, channels) = match coded {
        ImageFormat::Jpeg => {
            let header = jpeg::Header::parse(data)?;
            let is_colors = header.num_channels() == 4 && reading.cmyk == CmykConversion::TensorFlow;
            (header.size, header.orientation, if is_colors { 3 } else { header.num_channels() })
        }
        ImageFormat::Png => {
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
    Ok(ImageInfo {
        size: upright_size(stored, orientation),
        decoded: upright_size(decoded, orientation),
        orientation,
        channels,
        scalable: coded == ImageFormat::Jpeg,
    })
}

/// Returns the size of an image after its EXIF orientation is applied.
pub fn upright_size(size: Size, orientation: u8) -> Size {
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
