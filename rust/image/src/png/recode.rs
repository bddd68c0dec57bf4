//! Recoding of a PNG file to another PNG file with the same pixels, for files in which only the pixels matter.
use super::chunks::Chunks;
use super::encoder::Encoder;
use super::header::ColorType;
use super::header::Header;
use super::options::{Channels, Depth, Limits, Options};
use super::{Decoder, layout::Layout};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Chunks that a file to recode may have: they determine the pixels, or other encoders do not preserve them either.
const PIXEL_CHUNKS: [&[u8; 4]; 13] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"tIME", b"bKGD", b"sBIT", b"hIST", b"sPLT",
];
/// Chunks that may contain an orientation: EXIF, or text with EXIF or XMP.
const ORIENTATION_CHUNKS: [&[u8; 4]; 4] = [b"eXIf", b"tEXt", b"zTXt", b"iTXt"];

/// Options for the new file.
#[derive(Debug, Clone, Copy)]
pub struct RecodeOptions {
    /// Channels of the new file.
    pub channels: Channels,
    /// Whether the image must be upright. If so, files that may contain an orientation are rejected.
    pub upright: bool,
    /// Limits on the cost of the image.
    pub limits: Limits,
}

/// Recodes PNG files with reused buffers.
pub struct Recoder<'a> {
    /// Decoder of the original file.
    pub decoder: &'a mut Decoder,
    /// Encoder of the new file.
    pub encoder: &'a mut Encoder,
    /// Buffer for the pixels.
    pub pixels: &'a mut Vec<u8>,
}

impl Recoder<'_> {
    /// Appends the new file to `out` and returns the image size in pixels. On an error, `out` is unchanged.
    ///
    /// Returns `Unsupported` for files with a tRNS chunk, an ICC profile, several images, or 16-bit samples. With
    /// [`Channels::AsStored`], it also returns `Unsupported` for palette images and samples of fewer than 8 bits.
    pub fn recode(&mut self, file: &[u8], options: RecodeOptions, out: &mut Vec<u8>) -> Result<Size> {
        check_chunks(file, options.upright)?;
        let RecodeOptions { channels, limits, .. } = options;
        check_header(&Layout::read(file, false)?.header, channels)?;
        let options = Options { channels, depth: Depth::OnlyEight, limits, ..Options::default() };
        let shape = self.decoder.decode_to(file, &options, self.pixels, &mut Vec::new())?;
        let start = out.len();
        let encoded = self.encoder.encode(self.pixels, shape.size, shape.channels, out);
        if encoded.is_err() {
            out.truncate(start);
        }
        encoded.map(|()| shape.size)
    }
}

fn check_chunks(file: &[u8], upright: bool) -> Result<()> {
    let mut chunks = Chunks::after_signature(file)?;
    loop {
        let chunk = chunks.next()?;
        if !PIXEL_CHUNKS.contains(&&chunk.kind) && (upright || !ORIENTATION_CHUNKS.contains(&&chunk.kind)) {
            let expected = "only chunks that determine the pixels";
            return Err(ImageFault::new(ImageFaultKind::Unsupported, chunk.offset, expected, chunk.name()));
        }
        if &chunk.kind == b"IEND" {
            return Ok(());
        }
    }
}

fn check_header(header: &Header, channels: Channels) -> Result<()> {
    let whole = header.bit_depth == 8 && header.color != ColorType::Palette;
    if whole || (header.bit_depth <= 8 && channels != Channels::AsStored) {
        return Ok(());
    }
    let found = format!("{:?} of {} bits", header.color, header.bit_depth);
    Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "samples of 8 bits", found))
}
