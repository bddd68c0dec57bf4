//! From a PNG file to another of the same pixels: grey, RGB or as stored, if nothing but pixels matters in it.
use super::chunks::Chunks;
use super::colour::ColourType;
use super::encoder::Encoder;
use super::header::Header;
use super::options::{Channels, Depth, Limits, Options};
use super::{Decoder, layout::Layout};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Chunks that make pixels, or that nobody writes again.
const KNOWN: [&[u8; 4]; 12] =
    [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"tIME", b"bKGD", b"sBIT", b"hIST"];

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
    /// `Unsupported` are files with transparency beside alpha samples, a profile, an orientation or text, samples of 16
    /// bits, and with [`Channels::AsStored`] palettes and fewer bits than 8.
    pub fn recode(&mut self, file: &[u8], channels: Channels, limits: Limits, out: &mut Vec<u8>) -> Result<Size> {
        check_chunks(file)?;
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

fn check_chunks(file: &[u8]) -> Result<()> {
    let mut chunks = Chunks::of_file(file)?;
    loop {
        let chunk = chunks.next()?;
        if !KNOWN.contains(&&chunk.kind) {
            let expected = "chunks that only tell pixels";
            return Err(ImageFault::new(ImageFaultKind::Unsupported, chunk.offset, expected, chunk.name()));
        }
        if &chunk.kind == b"IEND" {
            return Ok(());
        }
    }
}

fn check_header(header: &Header, channels: Channels) -> Result<()> {
    let whole = header.bit_depth == 8 && header.colour != ColourType::Palette;
    if whole || (header.bit_depth <= 8 && channels != Channels::AsStored) {
        return Ok(());
    }
    let found = format!("{:?} of {} bits", header.colour, header.bit_depth);
    Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "samples of 8 bits", found))
}
