//! Conversion of inflated rows: interlacing, unpacking of samples, and conversion to the output channels.
use super::channels::{GrayConversion, add_alpha, convert_channels};
use super::header::{ColorType, Header};
use super::layout::Layout;
use super::options::{Options, Palette, Target};
use super::palette::PaletteTable;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// Buffers for intermediate rows, reused for the next image.
#[derive(Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    keyed_bytes: Vec<u8>,
    wide: Vec<u16>,
    keyed_wide: Vec<u16>,
    converted: Vec<u16>,
}

/// Converts the rows of one image.
pub(super) struct RowConverter<'a> {
    depth: u8,
    scale: u8,
    channels: usize,
    target: Target,
    gray: GrayConversion<'a>,
    table: Option<&'a PaletteTable>,
    key: Option<[u16; 3]>,
    /// Whether stored 8-bit samples already have the output channels, so that rows are only copied.
    is_output_format: bool,
    /// Offset of the image data in the file, for errors.
    offset: usize,
    scratch: &'a mut Scratch,
}

/// A sample type of output rows.
pub(super) trait OutputSample: Copy + Default {
    /// Converts one inflated row to the output channels and sample type.
    fn convert_row(rows: &mut RowConverter, row: &[u8], out: &mut [Self]) -> Result<()>;
}

impl OutputSample for u8 {
    #[inline]
    fn convert_row(rows: &mut RowConverter, row: &[u8], out: &mut [u8]) -> Result<()> {
        match rows.depth {
            8 if rows.is_output_format => copy_row(row, out),
            16 => rows.reduce_to_bytes(row, out)?,
            8 => rows.convert_bytes(row, out)?,
            _ => rows.convert_packed(row, out)?,
        }
        Ok(())
    }
}

impl OutputSample for u16 {
    fn convert_row(rows: &mut RowConverter, row: &[u8], out: &mut [u16]) -> Result<()> {
        let (target, gray) = (rows.target, rows.gray);
        let (samples, channels) = rows.unpack_16_bit_row(row, rows.stored_samples(out.len()))?;
        convert_channels(samples, channels, target, &gray, out);
        Ok(())
    }
}

impl<'a> RowConverter<'a> {
    /// Prepares the conversion for an image. `table` holds its converted palette unless the output consists of indices.
    pub(super) fn new(
        layout: &Layout,
        options: &Options,
        gray: GrayConversion<'a>,
        table: &'a PaletteTable,
        scratch: &'a mut Scratch,
    ) -> Result<Self> {
        let header = &layout.header;
        let (depth, target) = (header.bit_depth, options.output_channels(header)?);
        let is_palette = header.color == ColorType::Palette;
        let scale = if is_palette || options.palette == Palette::Classes { 1 } else { gray_scale_factor(depth) };
        let key = layout.key.filter(|_| target.has_alpha());
        let key = key.map(|key| key.samples().map(|sample| sample * u16::from(scale)));
        let table = (is_palette && !options.keeps_indices(header)).then_some(table);
        let (channels, offset) = (header.color.samples(), layout.data.offset);
        let is_output_format = table.is_none() && key.is_none() && target == stored_as(header.color);
        Ok(Self { depth, scale, channels, target, gray, table, key, is_output_format, offset, scratch })
    }

    /// Returns the number of stored samples in a row that has `output_samples` output samples.
    fn stored_samples(&self, output_samples: usize) -> usize {
        output_samples / self.target.count() * self.channels
    }

    /// Converts a row with several samples per byte.
    fn convert_packed(&mut self, row: &[u8], out: &mut [u8]) -> Result<()> {
        let mut samples = std::mem::take(&mut self.scratch.bytes);
        memory::resize(&mut samples, self.stored_samples(out.len()), 0)?;
        unpack_bits(self.depth, self.scale, row, &mut samples);
        let result = self.convert_bytes(&samples, out);
        self.scratch.bytes = samples;
        result
    }

    /// Converts a row of samples of up to 8 bits.
    fn convert_bytes(&mut self, samples: &[u8], out: &mut [u8]) -> Result<()> {
        if let Some(table) = self.table {
            return self.look_up_colors(table, samples, out);
        }
        if let Some(key) = self.key {
            let key = key.map(|sample| sample as u8);
            let keyed = &mut self.scratch.keyed_bytes;
            add_alpha(samples, &key[..self.channels], keyed)?;
            convert_channels(keyed, self.channels + 1, self.target, &self.gray, out);
        } else {
            convert_channels(samples, self.channels, self.target, &self.gray, out);
        }
        Ok(())
    }

    fn look_up_colors(&self, table: &PaletteTable, indices: &[u8], out: &mut [u8]) -> Result<()> {
        if let Some(index) = table.find_index_beyond(indices) {
            let expected = format!("indices into a palette of {}", table.num_entries());
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

    /// Unpacks a row of 16-bit samples and adds alpha if there is a transparent color. Returns the samples and the
    /// number of channels.
    fn unpack_16_bit_row(&mut self, row: &[u8], samples: usize) -> Result<(&[u16], usize), OutOfMemory> {
        let scratch = &mut *self.scratch;
        memory::resize(&mut scratch.wide, samples, 0)?;
        widen_words(row, &mut scratch.wide);
        let Some(key) = self.key else { return Ok((&scratch.wide, self.channels)) };
        add_alpha(&scratch.wide, &key[..self.channels], &mut scratch.keyed_wide)?;
        Ok((&scratch.keyed_wide, self.channels + 1))
    }

    /// Converts a row of 16-bit samples to 8 bits. libpng converts to gray before the reduction, Pillow after it.
    fn reduce_to_bytes(&mut self, row: &[u8], out: &mut [u8]) -> Result<(), OutOfMemory> {
        let samples = self.stored_samples(out.len());
        if self.target.is_gray() && self.channels >= 3 && self.gray != GrayConversion::Pillow {
            return self.convert_then_narrow(row, samples, out);
        }
        let mut narrow = std::mem::take(&mut self.scratch.bytes);
        let mut channels = self.channels;
        if self.key.is_some() {
            let (wide, keyed) = self.unpack_16_bit_row(row, samples)?;
            memory::resize(&mut narrow, wide.len(), 0)?;
            narrow_to_bytes(wide, &mut narrow);
            channels = keyed;
        } else {
            memory::resize(&mut narrow, samples, 0)?;
            take_upper_bytes(row, &mut narrow);
        }
        convert_channels(&narrow, channels, self.target, &self.gray, out);
        self.scratch.bytes = narrow;
        Ok(())
    }

    fn convert_then_narrow(&mut self, row: &[u8], samples: usize, out: &mut [u8]) -> Result<(), OutOfMemory> {
        let mut converted = std::mem::take(&mut self.scratch.converted);
        memory::resize(&mut converted, out.len(), 0)?;
        let (target, gray) = (self.target, self.gray);
        let (wide, channels) = self.unpack_16_bit_row(row, samples)?;
        convert_channels(wide, channels, target, &gray, &mut converted);
        narrow_to_bytes(&converted, out);
        self.scratch.converted = converted;
        Ok(())
    }
}

/// Copies a row. A row of 17 to 32 bytes is copied as two overlapping halves, which is cheaper than a call to memcpy.
fn copy_row(row: &[u8], out: &mut [u8]) {
    if let (17..=32, Some(first), Some(last)) = (row.len(), row.first_chunk::<16>(), row.last_chunk::<16>())
        && out.len() == row.len()
    {
        out[..16].copy_from_slice(first);
        out[row.len() - 16..].copy_from_slice(last);
    } else {
        out.copy_from_slice(row);
    }
}

/// Returns the output channels that are equal to the stored channels of a color type.
fn stored_as(color: ColorType) -> Target {
    match color {
        ColorType::Gray | ColorType::Palette => Target::Gray,
        ColorType::GrayAlpha => Target::GrayAlpha,
        ColorType::Rgb => Target::Rgb,
        ColorType::Rgba => Target::Rgba,
    }
}

/// A pass of an interlaced image, or the single pass of an image without interlacing (PNG specification, section 8):
/// position of the first pixel, distance between pixels, and number of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) step_x: usize,
    pub(super) step_y: usize,
    pub(super) size: Size,
}

const ADAM7: [(usize, usize, usize, usize); 7] =
    [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];

/// Returns the passes of an image that are not empty, in file order.
pub(super) fn passes(header: &Header) -> impl Iterator<Item = Pass> {
    let table: &[_] = if header.interlaced { &ADAM7 } else { &[(0, 0, 1, 1)] };
    let whole = header.size;
    let pass = move |&(x, y, step_x, step_y): &(usize, usize, usize, usize)| {
        let width = whole.width.saturating_sub(x).div_ceil(step_x);
        let height = whole.height.saturating_sub(y).div_ceil(step_y);
        Pass { x, y, step_x, step_y, size: Size { width, height } }
    };
    table.iter().map(pass).filter(|pass| pass.size.width > 0 && pass.size.height > 0)
}

/// Returns the length in bytes of a stored row of `width` pixels without its filter byte.
pub(super) fn row_bytes(header: &Header, width: usize) -> u64 {
    (width as u64 * header.pixel_bits() as u64).div_ceil(8)
}

/// Returns the length in bytes of all rows with their filter bytes.
pub(super) fn inflated_bytes(header: &Header) -> u64 {
    let bytes = |pass: Pass| (row_bytes(header, pass.size.width) + 1).saturating_mul(pass.size.height as u64);
    passes(header).map(bytes).fold(0, u64::saturating_add)
}

/// Unpacks samples of 1, 2 or 4 bits (PNG specification, section 7.2) and multiplies each by `scale`.
pub(super) fn unpack_bits(depth: u8, scale: u8, row: &[u8], out: &mut [u8]) {
    match depth {
        1 => unpack_bits_of::<1, 8>(scale, row, out),
        2 => unpack_bits_of::<2, 4>(scale, row, out),
        _ => unpack_bits_of::<4, 2>(scale, row, out),
    }
}

/// Returns the factor that scales gray samples of `depth` bits to 0 to 255.
pub(super) fn gray_scale_factor(depth: u8) -> u8 {
    match depth {
        1 => 255,
        2 => 85,
        4 => 17,
        _ => 1,
    }
}

fn unpack_bits_of<const BITS: u32, const PER_BYTE: usize>(scale: u8, row: &[u8], out: &mut [u8]) {
    let split_byte =
        |byte: u8| -> [u8; PER_BYTE] { std::array::from_fn(|k| (byte << (k as u32 * BITS) >> (8 - BITS)) * scale) };
    let (whole, rest) = out.as_chunks_mut::<PER_BYTE>();
    for (samples, &byte) in whole.iter_mut().zip(row) {
        *samples = split_byte(byte);
    }
    if let Some(&byte) = row.get(whole.len()) {
        rest.copy_from_slice(&split_byte(byte)[..rest.len()]);
    }
}

/// Converts big-endian 16-bit samples to native integers.
pub(super) fn widen_words(row: &[u8], out: &mut [u16]) {
    for (sample, bytes) in out.iter_mut().zip(row.as_chunks::<2>().0) {
        *sample = u16::from_be_bytes(*bytes);
    }
}

/// Copies the upper byte of each big-endian 16-bit sample.
pub(super) fn take_upper_bytes(row: &[u8], out: &mut [u8]) {
    for (sample, [upper, _]) in out.iter_mut().zip(row.as_chunks::<2>().0) {
        *sample = *upper;
    }
}

/// Copies the upper byte of each 16-bit sample.
pub(super) fn narrow_to_bytes(samples: &[u16], out: &mut [u8]) {
    for (narrow, sample) in out.iter_mut().zip(samples) {
        *narrow = (sample >> 8) as u8;
    }
}
