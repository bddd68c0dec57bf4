//! From a PNG file to another of the same pixels: gray, RGB or as stored, if nothing but pixels matters in it.
use super::chunks::Chunks;
use super::encoder::Encoder;
use super::header::ColorType;
use super::header::Header;
use super::options::{Channels, Depth, Limits, Options};
use super::{Decoder, layout::Layout};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Chunks that make pixels, or that nobody writes again.
const KNOWN: [&[u8; 4]; 13] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"tIME", b"bKGD", b"sBIT", b"hIST", b"sPLT",
];
/// Chunks that may tell an orientation: EXIF by itself, or EXIF or XMP in text.
const TELLING: [&[u8; 4]; 4] = [b"eXIf", b"tEXt", b"zTXt", b"iTXt"];

/// What the new file is to be.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Its channels.
    pub channels: Channels,
    /// Whether an orientation matters, so that files that may have one are left to others.
    pub upright: bool,
    /// What an image may cost.
    pub limits: Limits,
}

/// What recoding needs, its memory reused.
pub struct Recoder<'a> {
    /// For the file that is there.
    pub decoder: &'a mut Decoder,
    /// For the file that is made.
    pub encoder: &'a mut Encoder,
    /// Pixels of the image at hand.
    pub pixels: &'a mut Vec<u8>,
}

impl Recoder<'_> {
    /// Appends the new file to `out`, which is as before after a fault; its size in pixels.
    ///
    /// `Unsupported` are files with transparency beside alpha samples, a profile or several images, samples of 16 bits,
    /// and with [`Channels::AsStored`] palettes and fewer bits than 8.
    pub fn recode(&mut self, file: &[u8], wanted: Wanted, out: &mut Vec<u8>) -> Result<Size> {
        check_chunks(file, wanted.upright)?;
        let Wanted { channels, limits, .. } = wanted;
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
    let mut chunks = Chunks::of_file(file)?;
    loop {
        let chunk = chunks.next()?;
        if !KNOWN.contains(&&chunk.kind) && (upright || !TELLING.contains(&&chunk.kind)) {
            let expected = "chunks that only tell pixels";
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
