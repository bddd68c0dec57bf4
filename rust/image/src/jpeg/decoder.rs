//! The JPEG decoder: parses headers, decodes scans, and writes rows of pixels.
use super::entry_points::EntryPoints;
use super::header::Reader;
use super::header::frame::{Coding, Scan};
use super::header::tables::Quantization;
use super::huffman::ac::{AcTable, SkipTable};
use super::huffman::{DcTable, SymbolTable, TableCache, require_table};
use super::options::{Limits, Options, Region};
use super::output::{OutputBuffer, OutputWindow};
use super::samples::{Scale, run};
use super::scan_cursor::ScanCursor;
use super::scans::coefficients::Grid;
use super::scans::{decode_scans, decode_truncated_scans, num_blocks};
use super::sequential::{Sequential, build_component_tables, build_transforms, check_data_len};
use super::stream::Stream;
use super::truncated::Truncated;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory;
use crate::pixels::{Pixels, Samples, Size, Window};

/// Decodes JPEG files one after another and reuses its buffers and Huffman tables. Use one per thread.
#[derive(Default)]
pub struct Decoder {
    scratch: Scratch,
    num_finished: usize,
}

impl Decoder {
    /// Creates a decoder with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes `data`, or `window` of it, into newly allocated pixels. The window is in pixels of the scaled image.
    ///
    /// # Errors
    /// The same as those of [`Decoder::decode`].
    pub fn decode_pixels(&mut self, data: &[u8], window: Option<Window>, options: &Options) -> Result<Pixels> {
        let mut samples = Vec::new();
        let (size, channels) = self.decode_to(data, Region::all_rows(window), options, None, &mut samples)?;
        Ok(Pixels { size, channels, samples: Samples::U8(samples) })
    }

    /// Decodes `region` of `data` into `out`, which is resized to fit. Returns the size and the number of channels.
    ///
    /// # Errors
    /// The same as those of [`Decoder::decode`].
    pub fn decode_to(
        &mut self,
        data: &[u8],
        region: Region<'_>,
        options: &Options,
        points: Option<&EntryPoints>,
        out: &mut Vec<u8>,
    ) -> Result<(Size, usize)> {
        let (parsed, output) = self.prepare(data, region, options)?;
        let size = Size { width: output.window.width, height: output.window.height };
        let stride = output.row_bytes();
        memory::resize(out, size.height * stride, 0)?;
        self.decode_prepared(parsed, (options, points), output, OutputBuffer { out, stride })?;
        Ok((size, stride / size.width))
    }

    /// Decodes `data`, or `window` of it, into `out`, whose rows are `stride` bytes apart. The window is in pixels of
    /// the scaled image; its pixels equal those of the same window of the whole image.
    ///
    /// With the entry points `points` of this file, the rows above a window need not be decoded. Entry points of
    /// another file are rejected.
    ///
    /// Damage in parts of the file that the window does not need is not detected.
    ///
    /// # Errors
    /// - `Unsupported` for features that this decoder does not implement.
    /// - `LimitExceeded` for images that exceed a limit. Each limit is checked before the work that it limits.
    /// - `BadWindow`, `BadEntryPoints` and `BadArgument` for invalid requests.
    /// - `Truncated` and `Bad…` for damaged files.
    /// - `OutOfMemory` if a buffer cannot be allocated.
    ///
    /// On an error, only the rows counted by [`Decoder::num_finished`] have specified contents.
    pub fn decode(
        &mut self,
        data: &[u8],
        window: Option<Window>,
        options: &Options,
        points: Option<&EntryPoints>,
        out: &mut [u8],
        stride: usize,
    ) -> Result<()> {
        let (parsed, output) = self.prepare(data, Region::all_rows(window), options)?;
        let buffer = OutputBuffer { out, stride };
        buffer.check_size(&output)?;
        self.decode_prepared(parsed, (options, points), output, buffer)
    }

    /// Decodes the part of `window` that a truncated file still contains into `out`, which is resized to fit. Returns
    /// the size, the number of channels, and the number of decoded rows. The rows of `out` below the decoded rows are
    /// zero.
    ///
    /// If `recover` is true, decoding continues as if an end-of-image marker followed the data, so that all rows are
    /// decoded and the missing part is a flat color. The pixels equal those of a program that uses libjpeg-turbo and
    /// ignores its warnings: damage is not detected, and some blocks before the end of the data may be noise.
    ///
    /// # Errors
    /// The same as those of [`Decoder::decode`]. In addition, `Unsupported` for an image with several scans if
    /// `recover` is false, and `Truncated` for a file on which libjpeg-turbo fails too.
    pub fn decode_truncated(
        &mut self,
        data: &[u8],
        window: Option<Window>,
        options: &Options,
        recover: bool,
        out: &mut Vec<u8>,
    ) -> Result<(Size, usize, usize)> {
        let (mut reader, scan) = Reader::open(data)?;
        let size = reader.frame.size;
        Limits::check_limit(options.limits.max_pixels, size.width * size.height, "pixels", 0)?;
        if !recover && !scan.is_complete(&reader.frame) {
            let (kind, expected) = (ImageFaultKind::Unsupported, "an image of one scan");
            return Err(ImageFault::new(kind, scan.offset, expected, "several scans"));
        }
        let mut output = OutputWindow::new(&reader, options, Region::all_rows(window), &mut self.scratch.planes)?;
        let (stride, window) = (output.row_bytes(), output.window);
        out.clear();
        memory::resize(out, window.height * stride, 0)?;
        let buffer = (&mut output, &mut OutputBuffer { out, stride });
        let rows = match scan.is_complete(&reader.frame) {
            true => self.fill_truncated((&reader, &scan), options, recover, buffer),
            false => {
                decode_truncated_scans(&mut reader, scan, options, &mut self.scratch.grids, buffer).map(|()| usize::MAX)
            }
        };
        self.scratch.planes = output.into_scratch();
        let rows = rows?.saturating_sub(window.y).min(window.height);
        out[rows * stride..].fill(0);
        Ok((Size { width: window.width, height: window.height }, stride / window.width, rows))
    }

    fn fill_truncated(
        &mut self,
        (reader, scan): (&Reader<'_>, &Scan),
        options: &Options,
        recover: bool,
        (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
    ) -> Result<usize> {
        let component_tables = &build_component_tables(reader, scan, &mut self.scratch.caches, false)?;
        let transforms = &build_transforms(&output.layout, &quantization_tables(reader, scan)?, options.dct);
        run(Truncated { reader, scan, recover, scale: options.scale, component_tables, transforms, output, buffer })
    }

    /// Builds entry points for the JPEG file `data`. Their serialized size is at most `max_bytes`. Returns `None` if
    /// too few entry points fit to be useful, or if the file's restart markers serve the same purpose. Decodes the
    /// whole file, so it also validates the file.
    ///
    /// # Errors
    /// The same as those of [`EntryPoints::build`].
    pub fn entry_points(&mut self, data: &[u8], max_bytes: usize) -> Result<Option<EntryPoints>> {
        EntryPoints::build_within(data, max_bytes, &mut self.scratch)
    }

    /// Returns the number of rows of the window that the last decoding call completed, even if that call failed.
    pub fn num_finished(&self) -> usize {
        self.num_finished
    }

    /// Parses the headers, checks the limits, and sets up the output for `region`.
    fn prepare<'a>(
        &mut self,
        data: &'a [u8],
        region: Region<'_>,
        options: &Options,
    ) -> Result<((Reader<'a>, Scan), OutputWindow)> {
        self.num_finished = 0;
        let (reader, scan) = Reader::open(data)?;
        check_cost(&reader, &scan, options)?;
        let output = OutputWindow::new(&reader, options, region, &mut self.scratch.planes)?;
        Ok(((reader, scan), output))
    }

    /// Decodes an image whose headers are parsed. Then stores the number of finished rows and the reusable buffers in
    /// `self`.
    fn decode_prepared(
        &mut self,
        (mut reader, scan): (Reader<'_>, Scan),
        decoding: (&Options, Option<&EntryPoints>),
        mut output: OutputWindow,
        mut buffer: OutputBuffer<'_>,
    ) -> Result<()> {
        let result = self.decode_to_buffer((&mut reader, scan), decoding, (&mut output, &mut buffer));
        self.num_finished = output.num_finished();
        self.scratch.planes = output.into_scratch();
        result
    }

    fn decode_to_buffer(
        &mut self,
        (reader, scan): (&mut Reader<'_>, Scan),
        (options, points): (&Options, Option<&EntryPoints>),
        (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
    ) -> Result<()> {
        let Scratch { caches, unstuffed, grids, .. } = &mut self.scratch;
        let mut stream = Stream::new(reader.data, std::mem::take(unstuffed));
        let result = match scan.is_complete(&reader.frame) {
            true => decode_single_scan(reader, scan, (options, points), (&mut stream, caches), (output, buffer)),
            false if points.is_some() => Err(several_scans_fault(&scan)),
            false => decode_scans(reader, scan, options, (&mut stream, caches, grids), (output, buffer)),
        };
        *unstuffed = stream.into_scratch();
        result
    }
}

fn several_scans_fault(scan: &Scan) -> ImageFault {
    ImageFault::new(
        ImageFaultKind::BadEntryPoints,
        scan.offset,
        "no entry points for an image of several scans",
        "entry points",
    )
}

/// Decodes a sequential image whose only scan holds all components.
fn decode_single_scan<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    (options, points): (&Options, Option<&EntryPoints>),
    (stream, caches): (&mut Stream<'a>, &mut TableCaches),
    (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
) -> Result<()> {
    let mcus = reader.frame.mcus();
    let has_means = output.layout.components.iter().any(|component| component.block == Scale::Eighth);
    let skips = has_means || !output.covers_image(mcus) || output.planes.len() < scan.components.len();
    let component_tables = build_component_tables(reader, &scan, caches, skips)?;
    let transforms = build_transforms(&output.layout, &quantization_tables(reader, &scan)?, options.dct);
    let points = points.map_or(Ok(&[][..]), |points| points.points_for(reader, scan.data))?;
    let first = output.mcu_rows.start * mcus.width + output.mcu_columns.start;
    let cursor =
        ScanCursor::new(stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, first, points)?;
    let job =
        Sequential { cursor, reader, component_tables: &component_tables, transforms: &transforms, output, buffer };
    run(job)?.map_or(Ok(()), |end| reader.expect_end(end))
}

/// Rejects images that exceed the limits, and files that are too short for the size they declare.
fn check_cost(reader: &Reader<'_>, scan: &Scan, options: &Options) -> Result<()> {
    let frame = &reader.frame;
    Limits::check_limit(options.limits.max_pixels, frame.size.width * frame.size.height, "pixels", 0)?;
    let least_bits = if frame.coding == Coding::Sequential { 2 } else { 1 };
    check_data_len(reader, scan, num_blocks(frame, scan), least_bits)
}

/// Returns the quantization tables of the components of `scan`.
fn quantization_tables(reader: &Reader<'_>, scan: &Scan) -> Result<Vec<Quantization>> {
    let table = |index: usize| {
        let number = reader.frame.components[index].table;
        require_table(&reader.state.tables.quantization, number, "quantization", scan.offset).copied()
    };
    scan.components.iter().map(|component| table(component.index)).collect()
}

impl OutputBuffer<'_> {
    fn check_size(&self, output: &OutputWindow) -> Result<()> {
        let (height, row) = (output.window.height, output.row_bytes());
        let needed = (height - 1).checked_mul(self.stride).and_then(|bytes| bytes.checked_add(row));
        if self.stride >= row && needed.is_some_and(|needed| needed <= self.out.len()) {
            return Ok(());
        }
        let found = format!("{} bytes in rows of {}", self.out.len(), self.stride);
        Err(ImageFault::new(ImageFaultKind::BadArgument, 0, format!("{height} rows of {row} bytes"), found))
    }
}

/// Huffman lookup tables built for earlier images, reused when a file has the same codes.
#[derive(Default)]
pub(super) struct TableCaches {
    pub(super) dc: TableCache<DcTable>,
    pub(super) ac: TableCache<AcTable>,
    pub(super) skip: TableCache<SkipTable>,
    pub(super) symbols: TableCache<SymbolTable>,
}

/// Buffers and tables that a decoder reuses for the next image.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) caches: TableCaches,
    /// Buffer for entropy-coded bytes from which the stuffed zero bytes are removed.
    pub(super) unstuffed: Vec<u8>,
    /// Buffers for the decoded samples of each color component, before upsampling.
    pub(super) planes: Vec<Vec<u8>>,
    /// The coefficients of each component, for images with several scans.
    pub(super) grids: Vec<Grid>,
}
