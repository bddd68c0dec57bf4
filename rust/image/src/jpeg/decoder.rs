//! From a JPEG file to pixels: the way of every image through the parts.
use super::entry_points::EntryPoints;
use super::header::Reader;
use super::header::frame::{Coding, Scan};
use super::header::tables::Quantization;
use super::huffman::ac::{AcTable, SkipTable};
use super::huffman::{Cache, DcTable, SymbolTable, require_table};
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
use crate::pixels::{Pixels, Samples, Size, Window};

/// Decodes JPEG files one after another, with memory and tables that are used again. One per thread.
#[derive(Default)]
pub struct Decoder {
    scratch: Scratch,
    num_finished: usize,
}

impl Decoder {
    /// A decoder that has not seen an image yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes `data`, or `window` of it, to memory of its own. The window is given in pixels of the result's scale.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_pixels(&mut self, data: &[u8], window: Option<Window>, options: &Options) -> Result<Pixels> {
        let mut samples = Vec::new();
        let (size, channels) = self.decode_to(data, Region::all(window), options, None, &mut samples)?;
        Ok(Pixels { size, channels, samples: Samples::U8(samples) })
    }

    /// [`Decoder::decode`] of what is wanted to the front of `out`, which gets the size of the result.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
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
        out.resize(size.height * stride, 0);
        self.finish(parsed, (options, points), output, OutputBuffer { out, stride })?;
        Ok((size, stride / size.width))
    }

    /// Decodes `data`, or `window` of it, to `out`, whose rows lie `stride` bytes apart. The window is given in pixels of the
    /// result's scale; what is decoded of it equals that part of the whole image.
    ///
    /// With entry points `points` of this very file, the rows above a window need not be read; those of another are refused.
    ///
    /// BlockError in parts of the file that the window does not need goes unnoticed.
    ///
    /// # Errors
    /// `Unsupported` for a kind that is left to other decoders; `LimitExceeded` before any such cost; `BadWindow`,
    /// `BadEntryPoints` and `BadArgument` for impossible requests; `Truncated` and `Bad…` for damage. After a fault the contents of `out` are
    /// unspecified but for the rows that [`Decoder::num_finished`] counts.
    pub fn decode(
        &mut self,
        data: &[u8],
        window: Option<Window>,
        options: &Options,
        points: Option<&EntryPoints>,
        out: &mut [u8],
        stride: usize,
    ) -> Result<()> {
        let (parsed, output) = self.prepare(data, Region::all(window), options)?;
        let buffer = OutputBuffer { out, stride };
        buffer.check(&output)?;
        self.finish(parsed, (options, points), output, buffer)
    }

    /// Decodes what a file that ends too early still holds of `window` to the front of `out`, which gets the size of the result;
    /// gives that, its channels, and how many of its rows there are. Those below are zeros.
    ///
    /// With `recover` the end is made up by an end marker: all rows are there, level from the end on. All is as libjpeg-turbo gives
    /// it to a program that heeds no warnings: damage is not looked for, and some blocks in front of the end may be noise.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Unsupported` for an image of several scans where its end is not made up; `Truncated` where
    /// libjpeg-turbo refuses such an end.
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
        Limits::check(options.limits.max_pixels, size.width * size.height, "pixels", 0)?;
        if !recover && !scan.is_whole(&reader.frame) {
            let (kind, expected) = (ImageFaultKind::Unsupported, "an image of one scan");
            return Err(ImageFault::new(kind, scan.offset, expected, "several scans"));
        }
        let mut output = OutputWindow::new(&reader, options, Region::all(window), &mut self.scratch.planes)?;
        let (stride, window) = (output.row_bytes(), output.window);
        out.clear();
        out.resize(window.height * stride, 0);
        let buffer = (&mut output, &mut OutputBuffer { out, stride });
        let rows = match scan.is_whole(&reader.frame) {
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

    /// Entry points of `data` that take at most `max_bytes` as bytes; none if that are too few to be of use, or if the file's restart
    /// markers serve as well. Reads all of the file, so that it is checked too.
    ///
    /// # Errors
    /// As [`EntryPoints::build`].
    pub fn entry_points(&mut self, data: &[u8], max_bytes: usize) -> Result<Option<EntryPoints>> {
        EntryPoints::build_within(data, max_bytes, &mut self.scratch)
    }

    /// Rows of the window that the last call finished, be it with a fault.
    pub fn num_finished(&self) -> usize {
        self.num_finished
    }

    /// Reads the headers and prepares for the window, once it is certain that the file may hold so much.
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

    /// Decodes what was prepared for.
    fn finish(
        &mut self,
        (mut reader, scan): (Reader<'_>, Scan),
        decoding: (&Options, Option<&EntryPoints>),
        mut output: OutputWindow,
        mut buffer: OutputBuffer<'_>,
    ) -> Result<()> {
        let result = self.fill((&mut reader, scan), decoding, (&mut output, &mut buffer));
        self.num_finished = output.num_finished();
        self.scratch.planes = output.into_scratch();
        result
    }

    fn fill(
        &mut self,
        (reader, scan): (&mut Reader<'_>, Scan),
        (options, points): (&Options, Option<&EntryPoints>),
        (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
    ) -> Result<()> {
        let Scratch { caches, clean, grids, .. } = &mut self.scratch;
        let mut stream = Stream::new(reader.data, std::mem::take(clean));
        let result = match scan.is_whole(&reader.frame) {
            true => decode_whole_scan(reader, scan, (options, points), (&mut stream, caches), (output, buffer)),
            false if points.is_some() => Err(several_scans(&scan)),
            false => decode_scans(reader, scan, options, (&mut stream, caches, grids), (output, buffer)),
        };
        *clean = stream.into_scratch();
        result
    }
}

fn several_scans(scan: &Scan) -> ImageFault {
    ImageFault::new(
        ImageFaultKind::BadEntryPoints,
        scan.offset,
        "no entry points for an image of several scans",
        "some",
    )
}

/// Decodes an image whose first scan is the only one.
fn decode_whole_scan<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    (options, points): (&Options, Option<&EntryPoints>),
    (stream, caches): (&mut Stream<'a>, &mut TableCaches),
    (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
) -> Result<()> {
    let mcus = reader.frame.mcus();
    let has_means = output.layout.components.iter().any(|component| component.block == Scale::Eighth);
    let skips = has_means || !output.is_whole(mcus) || output.planes.len() < scan.components.len();
    let component_tables = build_component_tables(reader, &scan, caches, skips)?;
    let transforms = build_transforms(&output.layout, &quantization_tables(reader, &scan)?, options.dct);
    let points = points.map_or(Ok(&[][..]), |points| points.points(reader, scan.data))?;
    let first = output.mcu_rows.start * mcus.width + output.mcu_columns.start;
    let cursor =
        ScanCursor::new(stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, first, points)?;
    let job =
        Sequential { cursor, reader, component_tables: &component_tables, transforms: &transforms, output, buffer };
    run(job)?.map_or(Ok(()), |end| reader.expect_end(end))
}

/// Refuses what would cost more than the limits, or what the file is too short for.
fn check_cost(reader: &Reader<'_>, scan: &Scan, options: &Options) -> Result<()> {
    let frame = &reader.frame;
    Limits::check(options.limits.max_pixels, frame.size.width * frame.size.height, "pixels", 0)?;
    let least_bits = if frame.coding == Coding::Sequential { 2 } else { 1 };
    check_data_len(reader, scan, num_blocks(frame, scan), least_bits)
}

/// The quantization tables of the components of `scan`.
fn quantization_tables(reader: &Reader<'_>, scan: &Scan) -> Result<Vec<Quantization>> {
    let table = |index: usize| {
        let number = reader.frame.components[index].table;
        require_table(&reader.state.tables.quantization, number, "quantization", scan.offset).copied()
    };
    scan.components.iter().map(|component| table(component.index)).collect()
}

impl OutputBuffer<'_> {
    fn check(&self, output: &OutputWindow) -> Result<()> {
        let (height, row) = (output.window.height, output.row_bytes());
        let needed = (height - 1).checked_mul(self.stride).and_then(|bytes| bytes.checked_add(row));
        if self.stride >= row && needed.is_some_and(|needed| needed <= self.out.len()) {
            return Ok(());
        }
        let found = format!("{} bytes in rows of {}", self.out.len(), self.stride);
        Err(ImageFault::new(ImageFaultKind::BadArgument, 0, format!("{height} rows of {row} bytes"), found))
    }
}

// Memory and tables that a decoder reuses for the next image.

/// Huffman tables that were built before.
#[derive(Default)]
pub(super) struct TableCaches {
    pub(super) dc: Cache<DcTable>,
    pub(super) ac: Cache<AcTable>,
    pub(super) skip: Cache<SkipTable>,
    pub(super) symbols: Cache<SymbolTable>,
}

/// Memory to be used again, and the tables.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) caches: TableCaches,
    /// For entropy-coded bytes.
    pub(super) clean: Vec<u8>,
    /// For planes.
    pub(super) planes: Vec<Vec<u8>>,
    /// For the coefficients of images with several scans.
    pub(super) grids: Vec<Grid>,
}
