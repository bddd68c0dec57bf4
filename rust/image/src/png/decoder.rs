//! The PNG decoder: inflates the image data, undoes filters and interlacing, and converts pixels.
use std::slice::ChunksExact;

use super::channels::{Curves, GrayConversion, convert_channels};
use super::header::{ColorType, Header};
use super::inflate::{self, Inflater};
use super::layout::Layout;
use super::options::{Options, Shape};
use super::palette::PaletteTable;
use super::rows::{self, OutputSample, Pass, RowConverter, Scratch};
use super::unfilter::{Filter, Unfilter};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory;
use crate::pixels::{Pixels, Samples};

/// Decodes PNG files one after another and reuses its buffers. Use one per thread.
pub struct Decoder {
    inflater: Inflater,
    unfilter: Unfilter,
    table: PaletteTable,
    curves: Option<Box<Curves>>,
    scratch: Scratch,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Creates a decoder that uses the vector instructions of this processor.
    pub fn new() -> Self {
        Self {
            inflater: Inflater::new(),
            unfilter: Unfilter::detect(),
            table: PaletteTable::new(),
            curves: None,
            scratch: Scratch::default(),
        }
    }

    /// Decodes a file into newly allocated pixels.
    pub fn decode(&mut self, data: &[u8], options: &Options) -> Result<Pixels> {
        let job = Job::new(data, options)?;
        let shape = job.shape;
        let samples = match shape.bits {
            16 => Samples::U16(self.decode_to_vec(&job)?),
            _ => Samples::U8(self.decode_to_vec(&job)?),
        };
        Ok(Pixels { size: shape.size, channels: shape.channels, samples })
    }

    /// Decodes a file to 8-bit samples in `out`, whose rows start `stride` bytes apart.
    pub fn decode_into(&mut self, data: &[u8], options: &Options, out: &mut [u8], stride: usize) -> Result<Shape> {
        let job = Job::new(data, options)?;
        check_output_len(job.shape, out.len(), stride)?;
        self.decode_job(&job, &mut Output { samples: out, stride, channels: job.shape.channels })?;
        Ok(job.shape)
    }

    /// Decodes a file into `bytes`, or into `words` if the result has 16-bit samples. Previous contents are
    /// overwritten.
    pub fn decode_to(
        &mut self,
        data: &[u8],
        options: &Options,
        bytes: &mut Vec<u8>,
        words: &mut Vec<u16>,
    ) -> Result<Shape> {
        let job = Job::new(data, options)?;
        match job.shape.bits {
            16 => self.decode_to_reused(&job, words)?,
            _ => self.decode_to_reused(&job, bytes)?,
        }
        Ok(job.shape)
    }

    fn decode_to_vec<T: OutputSample>(&mut self, job: &Job) -> Result<Vec<T>> {
        let mut samples = Vec::new();
        self.decode_to_reused(job, &mut samples)?;
        Ok(samples)
    }

    fn decode_to_reused<T: OutputSample>(&mut self, job: &Job, samples: &mut Vec<T>) -> Result<()> {
        let stride = job.shape.row_samples();
        memory::resize(samples, stride * job.shape.size.height, T::default())?;
        self.decode_job(job, &mut Output { samples, stride, channels: job.shape.channels })
    }

    fn decode_job<T: OutputSample>(&mut self, job: &Job, output: &mut Output<T>) -> Result<()> {
        let result = self.decode_passes(job, output);
        self.inflater.free_large_buffers();
        result
    }

    fn decode_passes<T: OutputSample>(&mut self, job: &Job, output: &mut Output<T>) -> Result<()> {
        let Self { inflater, unfilter, table, curves, scratch } = self;
        let gray = job.gray(curves)?;
        job.fill_table(table, &gray)?;
        let mut rows = RowConverter::new(&job.layout, job.options, gray, table, scratch)?;
        let mut stored = inflater.inflate(&job.layout.data, job.inflated, job.options.checksums)?;
        for pass in rows::passes(&job.layout.header) {
            let length = job.row_bytes(&pass) + 1;
            let (this, rest) = stored.split_at_mut(length * pass.size.height);
            let mut source = PassRows { stored: this, length, undone: 0, unfilter: *unfilter, job };
            output.write_pass(&pass, &mut source, &mut rows)?;
            stored = rest;
        }
        Ok(())
    }
}

/// An image to decode: its chunks, options, output shape and inflated size.
struct Job<'a> {
    layout: Layout<'a>,
    options: &'a Options,
    shape: Shape,
    inflated: u64,
}

impl<'a> Job<'a> {
    /// Parses the chunks and performs all checks that need no memory.
    fn new(data: &'a [u8], options: &'a Options) -> Result<Self> {
        let layout = Layout::read(data, options.checksums)?;
        let shape = options.shape(&layout.header)?;
        let inflated = rows::inflated_bytes(&layout.header);
        options.limits.check(inflated, options.limits.max_bytes, "bytes of rows")?;
        inflate::check_expansion(&layout.data, inflated)?;
        Ok(Self { layout, options, shape, inflated })
    }

    fn row_bytes(&self, pass: &Pass) -> usize {
        rows::row_bytes(&self.layout.header, pass.size.width) as usize
    }

    /// Prepares the grayscale conversion if this image needs one.
    fn gray<'c>(&self, curves: &'c mut Option<Box<Curves>>) -> Result<GrayConversion<'c>> {
        let Header { color, bit_depth, .. } = self.layout.header;
        let has_colors = match color {
            ColorType::Palette => !self.options.keeps_indices(&self.layout.header),
            ColorType::Rgb | ColorType::Rgba => true,
            ColorType::Gray | ColorType::GrayAlpha => false,
        };
        if !has_colors || !self.options.output_channels(&self.layout.header)?.is_gray() {
            return Ok(GrayConversion::Pillow);
        }
        GrayConversion::new(self.options.gray, self.layout.encoding, bit_depth, curves)
    }

    /// Builds the lookup table of a palette image.
    fn fill_table(&self, table: &mut PaletteTable, gray: &GrayConversion) -> Result<()> {
        let header = &self.layout.header;
        if header.color != ColorType::Palette || self.options.keeps_indices(header) {
            return Ok(());
        }
        let target = self.options.output_channels(header)?;
        table.fill(self.layout.palette, self.layout.palette_alpha, |entry| {
            let mut pixel = [0; 4];
            convert_channels(&entry, entry.len(), target, gray, &mut pixel[..target.count()]);
            pixel
        });
        Ok(())
    }
}

/// The inflated rows of one pass, whose filters are undone in order.
struct PassRows<'a> {
    stored: &'a mut [u8],
    length: usize,
    /// Number of rows whose filters are already undone.
    undone: usize,
    unfilter: Unfilter,
    job: &'a Job<'a>,
}

impl PassRows<'_> {
    /// Undoes the filters of the next row, or of several rows at once. Returns these rows, each with its filter byte
    /// first.
    fn next_rows(&mut self) -> Result<ChunksExact<'_, u8>> {
        let start = self.undone * self.length;
        let (done, open) = self.stored.split_at_mut(start);
        let filter = Filter::from_code(open[0], self.undone, self.job.layout.data.offset)?;
        let above = start.checked_sub(self.length).map(|above| &done[above + 1..]);
        let pixel_bytes = self.job.layout.header.pixel_bits().div_ceil(8);
        let count = self.unfilter.undo_filter(filter, pixel_bytes, self.length, open, above);
        self.undone += count;
        Ok(open[..count * self.length].chunks_exact(self.length))
    }
}

/// Destination of the decoded rows.
struct Output<'a, T> {
    samples: &'a mut [T],
    stride: usize,
    channels: usize,
}

impl<T: OutputSample> Output<'_, T> {
    fn write_pass(&mut self, pass: &Pass, source: &mut PassRows, rows: &mut RowConverter) -> Result<()> {
        let length = pass.size.width * self.channels;
        let mut line = memory::filled(if pass.step_x > 1 { length } else { 0 }, T::default())?;
        let mut row = 0;
        while row < pass.size.height {
            for stored in source.next_rows()? {
                let start = (pass.y + row * pass.step_y) * self.stride;
                row += 1;
                if pass.step_x == 1 {
                    T::convert_row(rows, &stored[1..], &mut self.samples[start..start + length])?;
                    continue;
                }
                T::convert_row(rows, &stored[1..], &mut line)?;
                let target = &mut self.samples[start + pass.x * self.channels..];
                write_strided(&line, self.channels, pass.step_x, target);
            }
        }
        Ok(())
    }
}

/// Copies pixels to every `step`-th pixel of `target`.
fn write_strided<T: Copy>(line: &[T], channels: usize, step: usize, target: &mut [T]) {
    for (pixel, destination) in line.chunks_exact(channels).zip(target.chunks_mut(channels * step)) {
        destination[..channels].copy_from_slice(pixel);
    }
}

fn check_output_len(shape: Shape, output_len: usize, stride: usize) -> Result<()> {
    let fault = |expected: String, found: String| ImageFault::new(ImageFaultKind::BadArgument, 0, expected, found);
    if shape.bits != 8 {
        return Err(fault("8-bit samples for an output buffer of bytes".into(), "16-bit samples".into()));
    }
    let row = shape.row_samples();
    let needed = stride.checked_mul(shape.size.height - 1).and_then(|rows| rows.checked_add(row));
    match needed {
        Some(needed) if stride >= row && needed <= output_len => Ok(()),
        _ => {
            let expected = format!("{} rows of {row} bytes", shape.size.height);
            Err(fault(expected, format!("{output_len} bytes with a stride of {stride}")))
        }
    }
}
