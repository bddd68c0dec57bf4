//! Chunk order (PNG specification, section 5.6), and the location of the chunks that determine the pixels.
use super::chunks::{Chunk, Chunks};
use super::header::ColorType;
use super::header::Header;
use super::palette::{self, TransparentColor};
use crate::exif;
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// Gamma of an sRGB chunk in units of 1/100,000.
const SRGB_GAMMA: u32 = 45_455;

/// The chunks of a file that affect its pixels.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) header: Header,
    /// Palette with three bytes per entry; empty without a PLTE chunk.
    pub(super) palette: &'a [u8],
    /// Alpha values of the first palette entries; the other entries are opaque.
    pub(super) palette_alpha: &'a [u8],
    /// The transparent color of a grayscale or RGB image.
    pub(super) key: Option<TransparentColor>,
    pub(super) encoding: Encoding,
    pub(super) data: ImageData<'a>,
}

/// Color space information of an image.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Encoding {
    gamma: Option<u32>,
    srgb: bool,
    /// Whether the image has an ICC profile.
    pub(super) profile: bool,
}

impl Encoding {
    /// Returns the encoding exponent in units of 1/100,000; sRGB overrides gAMA.
    pub(super) fn gamma(&self) -> Option<u32> {
        if self.srgb { Some(SRGB_GAMMA) } else { self.gamma }
    }
}

/// The consecutive IDAT chunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageData<'a> {
    file: &'a [u8],
    /// Offset of the first IDAT chunk in the file.
    pub(super) offset: usize,
    end: usize,
    /// Number of bytes of compressed data in all IDAT chunks.
    pub(super) length: usize,
}

impl<'a> ImageData<'a> {
    /// Returns the data of the only IDAT chunk and everything that follows in the file; `None` if there are several
    /// IDAT chunks.
    pub(super) fn data_to_file_end(&self) -> Option<&'a [u8]> {
        let (length, body) = self.file.get(self.offset..)?.split_first_chunk()?;
        (u32::from_be_bytes(*length) as usize == self.length).then(|| body.get(4..)).flatten()
    }

    /// Iterates over the data of each IDAT chunk.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'a [u8]> {
        let (end, mut chunks, mut at) = (self.end, Chunks::at_offset(self.file, self.offset), self.offset);
        std::iter::from_fn(move || {
            let chunk = (at < end).then(|| chunks.next().ok()).flatten()?;
            at = chunk.end();
            Some(chunk.body)
        })
    }
}

/// Position of a chunk relative to the IDAT chunks.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Before,
    Within,
    After,
}

impl<'a> Layout<'a> {
    /// Reads all chunks up to IEND. Data after IEND is ignored.
    pub(super) fn read(file: &'a [u8], checksums: bool) -> Result<Self> {
        let mut chunks = Chunks::after_signature(file)?;
        let check = |chunk: &Chunk| if checksums { chunk.check_crc() } else { Ok(()) };
        let first = chunks.next()?;
        if &first.kind != b"IHDR" {
            return Err(first.fault("IHDR", first.name()));
        }
        check(&first)?;
        let mut reader = LayoutReader::new(file, Header::from_chunk(&first)?);
        loop {
            let chunk = chunks.next()?;
            check(&chunk)?;
            if &chunk.kind == b"IEND" {
                return reader.finish(&chunk);
            }
            reader.read_chunk(&chunk)?;
        }
    }
}

struct LayoutReader<'a> {
    layout: Layout<'a>,
    stage: Stage,
    has_palette: bool,
}

impl<'a> LayoutReader<'a> {
    fn new(file: &'a [u8], header: Header) -> Self {
        let data = ImageData { file, offset: 0, end: 0, length: 0 };
        let layout =
            Layout { header, palette: &[], palette_alpha: &[], key: None, encoding: Encoding::default(), data };
        Self { layout, stage: Stage::Before, has_palette: false }
    }

    fn read_chunk(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        if &chunk.kind == b"IDAT" {
            return self.read_image_data(chunk);
        }
        if self.stage == Stage::Within {
            self.stage = Stage::After;
        }
        match &chunk.kind {
            b"PLTE" => self.read_palette(chunk)?,
            b"tRNS" => self.read_transparency(chunk)?,
            b"gAMA" | b"sRGB" | b"iCCP" => self.read_encoding(chunk),
            b"eXIf" => self.layout.header.orientation = exif::orientation(chunk.body),
            _ if chunk.is_critical() => return Err(chunk.fault("a known critical chunk", chunk.name())),
            _ => {}
        }
        Ok(())
    }

    fn read_image_data(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        match self.stage {
            Stage::After => return Err(chunk.fault("consecutive IDAT chunks", "IDAT after another chunk")),
            Stage::Before => {
                if self.layout.header.color == ColorType::Palette && !self.has_palette {
                    let found = "IDAT without a palette";
                    return Err(ImageFault::new(ImageFaultKind::BadTable, chunk.offset, "PLTE before IDAT", found));
                }
                self.layout.data.offset = chunk.offset;
                self.stage = Stage::Within;
            }
            Stage::Within => {}
        }
        self.layout.data.end = chunk.end();
        self.layout.data.length += chunk.body.len();
        Ok(())
    }

    /// Reads a PLTE chunk. A palette image needs a valid palette. For other color types, the palette is only a
    /// suggestion to viewers, and an invalid one is ignored.
    fn read_palette(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        let is_required = self.layout.header.color == ColorType::Palette;
        let entries = match palette::palette_entries(chunk) {
            Err(_) if !is_required => return Ok(()),
            entries => entries?,
        };
        if std::mem::replace(&mut self.has_palette, true) {
            return Err(chunk.fault("one PLTE", "another PLTE"));
        }
        if is_required {
            self.layout.palette = entries;
        }
        Ok(())
    }

    /// Reads a tRNS chunk. A misplaced one is rejected, because decoders disagree on its effect.
    fn read_transparency(&mut self, chunk: &Chunk<'a>) -> Result<()> {
        let header = &mut self.layout.header;
        if header.color.has_alpha() {
            return Ok(());
        }
        if header.transparency {
            return Err(chunk.fault("one tRNS", "another tRNS"));
        }
        if self.stage != Stage::Before || (header.color == ColorType::Palette && !self.has_palette) {
            return Err(chunk.fault("tRNS after PLTE and before IDAT", "tRNS elsewhere"));
        }
        header.transparency = true;
        match header.color {
            ColorType::Palette => self.layout.palette_alpha = palette::palette_alpha(chunk, self.layout.palette)?,
            _ => self.layout.key = Some(TransparentColor::from_chunk(chunk, header)?),
        }
        Ok(())
    }

    /// Reads a gAMA, sRGB or iCCP chunk. Misplaced, repeated and out-of-range ones are ignored, as in libpng.
    fn read_encoding(&mut self, chunk: &Chunk<'a>) {
        if self.stage != Stage::Before || self.has_palette {
            return;
        }
        let encoding = &mut self.layout.encoding;
        match (&chunk.kind, chunk.body) {
            (b"gAMA", &[a, b, c, d]) => {
                let gamma = u32::from_be_bytes([a, b, c, d]);
                encoding.gamma = encoding.gamma.or(Some(gamma).filter(|gamma| (16..=625_000_000).contains(gamma)));
            }
            (b"sRGB", &[0..4]) => encoding.srgb = true,
            (b"iCCP", _) => encoding.profile = true,
            _ => {}
        }
    }

    fn finish(self, end: &Chunk) -> Result<Layout<'a>> {
        if self.stage == Stage::Before {
            return Err(end.fault("IDAT before IEND", "no IDAT"));
        }
        Ok(self.layout)
    }
}
