//! One stored row, its filter undone, into the samples asked for.
use super::channels::{add_alpha, convert};
use super::color::ColorType;
use super::gray::Gray;
use super::layout::Layout;
use super::options::{Options, Palette, Target};
use super::palette::Table;
use super::unpack;
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// Memory for the steps between a stored and a finished row, kept from image to image.
#[derive(Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    keyed_bytes: Vec<u8>,
    wide: Vec<u16>,
    keyed_wide: Vec<u16>,
    converted: Vec<u16>,
}

/// How the rows of one image become samples.
pub(super) struct Rows<'a> {
    depth: u8,
    scale: u8,
    channels: usize,
    target: Target,
    gray: Gray<'a>,
    table: Option<&'a Table>,
    key: Option<[u16; 3]>,
    /// Whether 8-bit samples are stored as they are wanted.
    is_plain: bool,
    /// Where the pixels start in the file, for faults.
    offset: usize,
    scratch: &'a mut Scratch,
}

/// A type that finished rows can have.
pub(super) trait Finish: Copy + Default {
    /// Finishes a row.
    fn finish(rows: &mut Rows, row: &[u8], out: &mut [Self]) -> Result<()>;
}

impl Finish for u8 {
    #[inline]
    fn finish(rows: &mut Rows, row: &[u8], out: &mut [u8]) -> Result<()> {
        match rows.depth {
            8 if rows.is_plain => copy(row, out),
            16 => rows.reduce(row, out),
            8 => rows.bytes(row, out)?,
            _ => rows.packed(row, out)?,
        }
        Ok(())
    }
}

impl Finish for u16 {
    fn finish(rows: &mut Rows, row: &[u8], out: &mut [u16]) -> Result<()> {
        let (target, gray) = (rows.target, rows.gray);
        let (samples, channels) = rows.widen(row, rows.samples(out.len()));
        convert(samples, channels, target, &gray, out);
        Ok(())
    }
}

impl<'a> Rows<'a> {
    /// The way for an image; `table` holds its palette, converted, if it has one and the output is not its indices.
    pub(super) fn new(
        layout: &Layout,
        options: &Options,
        gray: Gray<'a>,
        table: &'a Table,
        scratch: &'a mut Scratch,
    ) -> Result<Self> {
        let header = &layout.header;
        let (depth, target) = (header.bit_depth, options.target(header)?);
        let is_palette = header.color == ColorType::Palette;
        let scale = if is_palette || options.palette == Palette::Classes { 1 } else { unpack::gray_scale(depth) };
        let key = layout.key.filter(|_| target.has_alpha());
        let key = key.map(|key| key.samples().map(|sample| sample * u16::from(scale)));
        let table = (is_palette && !options.keeps_indices(header)).then_some(table);
        let (channels, offset) = (header.color.samples(), layout.data.offset);
        let is_plain = table.is_none() && key.is_none() && target == stored_as(header.color);
        Ok(Self { depth, scale, channels, target, gray, table, key, is_plain, offset, scratch })
    }

    /// Stored samples of a row whose finished form has `finished` of them.
    fn samples(&self, finished: usize) -> usize {
        finished / self.target.count() * self.channels
    }

    /// Finishes a row of several samples per byte.
    fn packed(&mut self, row: &[u8], out: &mut [u8]) -> Result<()> {
        let mut samples = std::mem::take(&mut self.scratch.bytes);
        samples.resize(self.samples(out.len()), 0);
        unpack::bits(self.depth, self.scale, row, &mut samples);
        let finished = self.bytes(&samples, out);
        self.scratch.bytes = samples;
        finished
    }

    /// Finishes a row of samples of up to 8 bits.
    fn bytes(&mut self, samples: &[u8], out: &mut [u8]) -> Result<()> {
        if let Some(table) = self.table {
            return self.colors(table, samples, out);
        }
        if let Some(key) = self.key {
            let key = key.map(|sample| sample as u8);
            let keyed = &mut self.scratch.keyed_bytes;
            add_alpha(samples, &key[..self.channels], keyed);
            convert(keyed, self.channels + 1, self.target, &self.gray, out);
        } else {
            convert(samples, self.channels, self.target, &self.gray, out);
        }
        Ok(())
    }

    fn colors(&self, table: &Table, indices: &[u8], out: &mut [u8]) -> Result<()> {
        if let Some(index) = table.missing(indices) {
            let expected = format!("indices into a palette of {}", table.entries());
            return Err(ImageFault::new(ImageFaultKind::BadTable, self.offset, expected, index.to_string()));
        }
        match self.target.count() {
            1 => table.look_up::<1>(indices, out),
            2 => table.look_up::<2>(indices, out),
            3 => table.look_up::<3>(indices, out),
            _ => table.look_up::<4>(indices, out),
        }
        Ok(())
    }

    /// A row of 16-bit samples, with alpha if there is a key, and its channels.
    fn widen(&mut self, row: &[u8], samples: usize) -> (&[u16], usize) {
        let scratch = &mut *self.scratch;
        scratch.wide.resize(samples, 0);
        unpack::wide(row, &mut scratch.wide);
        let Some(key) = self.key else { return (&scratch.wide, self.channels) };
        add_alpha(&scratch.wide, &key[..self.channels], &mut scratch.keyed_wide);
        (&scratch.keyed_wide, self.channels + 1)
    }

    /// Finishes a row of 16-bit samples as 8-bit ones; libpng turns to gray before it narrows, Pillow after.
    fn reduce(&mut self, row: &[u8], out: &mut [u8]) {
        let samples = self.samples(out.len());
        if self.target.is_gray() && self.channels >= 3 && self.gray != Gray::Pillow {
            return self.convert_then_narrow(row, samples, out);
        }
        let mut narrow = std::mem::take(&mut self.scratch.bytes);
        let mut channels = self.channels;
        if self.key.is_some() {
            let (wide, keyed) = self.widen(row, samples);
            narrow.resize(wide.len(), 0);
            unpack::narrow(wide, &mut narrow);
            channels = keyed;
        } else {
            narrow.resize(samples, 0);
            unpack::upper_halves(row, &mut narrow);
        }
        convert(&narrow, channels, self.target, &self.gray, out);
        self.scratch.bytes = narrow;
    }

    fn convert_then_narrow(&mut self, row: &[u8], samples: usize, out: &mut [u8]) {
        let mut converted = std::mem::take(&mut self.scratch.converted);
        converted.resize(out.len(), 0);
        let (target, gray) = (self.target, self.gray);
        let (wide, channels) = self.widen(row, samples);
        convert(wide, channels, target, &gray, &mut converted);
        unpack::narrow(&converted, out);
        self.scratch.converted = converted;
    }
}

/// Copies a row; one of 16 to 32 bytes as two halves that overlap, which costs less than a call.
fn copy(row: &[u8], out: &mut [u8]) {
    if let (17..=32, Some(first), Some(last)) = (row.len(), row.first_chunk::<16>(), row.last_chunk::<16>())
        && out.len() == row.len()
    {
        out[..16].copy_from_slice(first);
        out[row.len() - 16..].copy_from_slice(last);
    } else {
        out.copy_from_slice(row);
    }
}

/// The target whose pixels are those that are stored.
fn stored_as(color: ColorType) -> Target {
    match color {
        ColorType::Gray | ColorType::Palette => Target::Gray,
        ColorType::GrayAlpha => Target::GrayAlpha,
        ColorType::Rgb => Target::Rgb,
        ColorType::Rgba => Target::Rgba,
    }
}
