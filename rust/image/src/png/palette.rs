//! Palettes and transparency: PLTE and tRNS (PNG specification, sections 11.2.2 and 11.3.1.1).
use super::chunks::Chunk;
use super::header::Header;
use crate::fault::{ImageFault, ImageFaultKind, Result};

const MAX_ENTRIES: usize = 256;

/// The transparent color of an image without an alpha channel, as stored samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TransparentColor {
    samples: [u16; 3],
}

impl TransparentColor {
    /// Parses a tRNS chunk. Bits above the bit depth are ignored.
    pub(super) fn from_chunk(chunk: &Chunk, header: &Header) -> Result<Self> {
        let count = header.color.samples();
        if chunk.body.len() != count * 2 {
            return Err(chunk.fault(format!("tRNS of {} bytes", count * 2), format!("{} bytes", chunk.body.len())));
        }
        let mask = u16::MAX >> (16 - header.bit_depth);
        let mut samples = [0; 3];
        for (sample, bytes) in samples.iter_mut().zip(chunk.body.as_chunks::<2>().0) {
            *sample = u16::from_be_bytes(*bytes) & mask;
        }
        Ok(Self { samples })
    }

    /// Returns the samples of the transparent color, as stored.
    pub(super) fn samples(&self) -> [u16; 3] {
        self.samples
    }
}

/// Checks the length of a PLTE chunk and returns its bytes.
pub(super) fn palette_entries<'a>(chunk: &Chunk<'a>) -> Result<&'a [u8]> {
    let length = chunk.body.len();
    if length == 0 || !length.is_multiple_of(3) || length > MAX_ENTRIES * 3 {
        let found = format!("{length} bytes");
        let expected = "a palette of 1 to 256 entries of 3 bytes";
        return Err(ImageFault::new(ImageFaultKind::BadTable, chunk.offset, expected, found));
    }
    Ok(chunk.body)
}

/// Checks the number of alpha values in a tRNS chunk and returns them.
pub(super) fn palette_alpha<'a>(chunk: &Chunk<'a>, palette: &[u8]) -> Result<&'a [u8]> {
    let (length, entries) = (chunk.body.len(), palette.len() / 3);
    if length == 0 || length > entries {
        return Err(chunk.fault(format!("tRNS of 1 to {entries} bytes"), format!("{length} bytes")));
    }
    Ok(chunk.body)
}

/// Lookup table from palette indices to converted pixels.
pub(super) struct PaletteTable {
    pixels: [[u8; 4]; MAX_ENTRIES],
    entries: usize,
}

impl PaletteTable {
    pub(super) fn new() -> Self {
        Self { pixels: [[0; 4]; MAX_ENTRIES], entries: 0 }
    }

    /// Fills the table with the entries of a palette, each converted by `convert`.
    pub(super) fn fill(&mut self, palette: &[u8], alpha: &[u8], convert: impl Fn([u8; 4]) -> [u8; 4]) {
        self.entries = palette.len() / 3;
        let alphas = alpha.iter().copied().chain(std::iter::repeat(u8::MAX));
        for ((pixel, &[r, g, b]), a) in self.pixels.iter_mut().zip(palette.as_chunks::<3>().0).zip(alphas) {
            *pixel = convert([r, g, b, a]);
        }
    }

    /// Returns one of `indices` that is beyond the end of the palette, or `None`.
    pub(super) fn find_index_beyond(&self, indices: &[u8]) -> Option<u8> {
        if self.entries == MAX_ENTRIES {
            return None;
        }
        let max = indices.iter().fold(0, |max, &index| max.max(index));
        (usize::from(max) >= self.entries).then_some(max)
    }

    /// Writes the first `N` values of the palette entry of each index to `out`.
    pub(super) fn look_up<const N: usize>(&self, indices: &[u8], out: &mut [u8]) {
        for (pixel, &index) in out.as_chunks_mut::<N>().0.iter_mut().zip(indices) {
            pixel.copy_from_slice(&self.pixels[usize::from(index)][..N]);
        }
    }

    /// Returns the number of palette entries.
    pub(super) fn num_entries(&self) -> usize {
        self.entries
    }
}
