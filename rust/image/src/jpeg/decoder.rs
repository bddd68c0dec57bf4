//! From a JPEG file to pixels: the way of every image through the parts.
use super::entry::EntryPoints;
use super::header::Reader;
use super::header::frame::Coding;
use super::header::scan::Scan;
use super::header::tables::Quantization;
use super::huffman::ac::AcTable;
use super::huffman::code::{Cache, required};
use super::huffman::dc::DcTable;
use super::huffman::skip::SkipTable;
use super::huffman::symbol::SymbolTable;
use super::options::{Limits, Options, Wanted};
use super::picture::{Picture, Target};
use super::samples::{Scale, run};
use super::scans::store::Grid;
use super::scans::{decode_scans, decode_truncated_scans, num_blocks};
use super::sequential::{Sequential, check_plausible, coders, transforms};
use super::stream::Stream;
use super::truncated::Truncated;
use super::walk::Walk;
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
        let (size, channels) = self.decode_to(data, Wanted::all(window), options, None, &mut samples)?;
        Ok(Pixels { size, channels, samples: Samples::U8(samples) })
    }

    /// [`Decoder::decode`] of what is wanted to the front of `out`, which gets the size of the result.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_to(
        &mut self,
        data: &[u8],
        wanted: Wanted<'_>,
        options: &Options,
        points: Option<&EntryPoints>,
        out: &mut Vec<u8>,
    ) -> Result<(Size, usize)> {
        let (parsed, picture) = self.prepare(data, wanted, options)?;
        let size = Size { width: picture.window.width, height: picture.window.height };
        let stride = picture.row_bytes();
        out.resize(size.height * stride, 0);
        self.finish(parsed, (options, points), picture, Target { out, stride })?;
        Ok((size, stride / size.width))
    }

    /// Decodes `data`, or `window` of it, to `out`, whose rows lie `stride` bytes apart. The window is given in pixels of the
    /// result's scale; what is decoded of it equals that part of the whole image.
    ///
    /// With entry points `points` of this very file, the rows above a window need not be read; those of another are refused.
    ///
    /// Damage in parts of the file that the window does not need goes unnoticed.
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
        let (parsed, picture) = self.prepare(data, Wanted::all(window), options)?;
        let target = Target { out, stride };
        target.check(&picture)?;
        self.finish(parsed, (options, points), picture, target)
    }

    /// Decodes what a file that ends too early still holds of `window` to the front of `out`, which gets the size of the result;
    /// gives that, its channels, and how many of its rows there are. Those below are zeros.
    ///
    /// With `recovers` the end is made up by an end marker: all rows are there, level from the end on. All is as libjpeg-turbo gives
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
        recovers: bool,
        out: &mut Vec<u8>,
    ) -> Result<(Size, usize, usize)> {
        let (mut reader, scan) = Reader::open(data)?;
        let size = reader.frame.size;
        Limits::check(options.limits.max_pixels, size.width * size.height, "pixels", 0)?;
        if !recovers && !scan.is_whole(&reader.frame) {
            let (kind, expected) = (ImageFaultKind::Unsupported, "an image of one scan");
            return Err(ImageFault::new(kind, scan.offset, expected, "several scans"));
        }
        let mut picture = Picture::new(&reader, options, Wanted::all(window), &mut self.scratch.planes)?;
        let (stride, window) = (picture.row_bytes(), picture.window);
        out.clear();
        out.resize(window.height * stride, 0);
        let target = (&mut picture, &mut Target { out, stride });
        let rows = match scan.is_whole(&reader.frame) {
            true => self.fill_truncated((&reader, &scan), options, recovers, target),
            false => {
                decode_truncated_scans(&mut reader, scan, options, &mut self.scratch.grids, target).map(|()| usize::MAX)
            }
        };
        self.scratch.planes = picture.into_scratch();
        let rows = rows?.saturating_sub(window.y).min(window.height);
        out[rows * stride..].fill(0);
        Ok((Size { width: window.width, height: window.height }, stride / window.width, rows))
    }

    fn fill_truncated(
        &mut self,
        (reader, scan): (&Reader<'_>, &Scan),
        options: &Options,
        recovers: bool,
        (picture, target): (&mut Picture, &mut Target<'_>),
    ) -> Result<usize> {
        let coders = &coders(reader, scan, &mut self.scratch.caches, false)?;
        let transforms = &transforms(&picture.layout, &quantization(reader, scan)?, options.dct);
        run(Truncated { reader, scan, recovers, scale: options.scale, coders, transforms, picture, target })
    }

    /// Entry points of `data` that take at most `max_bytes` as bytes; none if that are too few to be of use, or if the file's restart
    /// markers serve as well. Reads all of the file, so that it is checked too.
    ///
    /// # Errors
    /// As [`EntryPoints::build`].
    pub fn entry_points(&mut self, data: &[u8], max_bytes: usize) -> Result<Option<EntryPoints>> {
        EntryPoints::within(data, max_bytes, &mut self.scratch)
    }

    /// Rows of the window that the last call finished, be it with a fault.
    pub fn num_finished(&self) -> usize {
        self.num_finished
    }

    /// Reads the headers and prepares for the window, once it is certain that the file may hold so much.
    fn prepare<'a>(
        &mut self,
        data: &'a [u8],
        wanted: Wanted<'_>,
        options: &Options,
    ) -> Result<((Reader<'a>, Scan), Picture)> {
        self.num_finished = 0;
        let (reader, scan) = Reader::open(data)?;
        check_cost(&reader, &scan, options)?;
        let picture = Picture::new(&reader, options, wanted, &mut self.scratch.planes)?;
        Ok(((reader, scan), picture))
    }

    /// Decodes what was prepared for.
    fn finish(
        &mut self,
        (mut reader, scan): (Reader<'_>, Scan),
        wanted: (&Options, Option<&EntryPoints>),
        mut picture: Picture,
        mut target: Target<'_>,
    ) -> Result<()> {
        let result = self.fill((&mut reader, scan), wanted, (&mut picture, &mut target));
        self.num_finished = picture.num_finished();
        self.scratch.planes = picture.into_scratch();
        result
    }

    fn fill(
        &mut self,
        (reader, scan): (&mut Reader<'_>, Scan),
        (options, points): (&Options, Option<&EntryPoints>),
        (picture, target): (&mut Picture, &mut Target<'_>),
    ) -> Result<()> {
        let Scratch { caches, clean, grids, .. } = &mut self.scratch;
        let mut stream = Stream::new(reader.data, std::mem::take(clean));
        let result = match scan.is_whole(&reader.frame) {
            true => decode_whole_scan(reader, scan, (options, points), (&mut stream, caches), (picture, target)),
            false if points.is_some() => Err(several_scans(&scan)),
            false => decode_scans(reader, scan, options, (&mut stream, caches, grids), (picture, target)),
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
    (picture, target): (&mut Picture, &mut Target<'_>),
) -> Result<()> {
    let mcus = reader.frame.mcus();
    let has_means = picture.layout.components.iter().any(|component| component.block == Scale::Eighth);
    let skips = has_means || !picture.is_whole(mcus) || picture.planes.len() < scan.parts.len();
    let coders = coders(reader, &scan, caches, skips)?;
    let transforms = transforms(&picture.layout, &quantization(reader, &scan)?, options.dct);
    let places = points.map_or(Ok(&[][..]), |points| points.places(reader, scan.data))?;
    let first = picture.mcu_rows.start * mcus.width + picture.mcu_columns.start;
    let walk = Walk::new(stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, first, places)?;
    let job = Sequential { walk, reader, coders: &coders, transforms: &transforms, picture, target };
    run(job)?.map_or(Ok(()), |end| reader.expect_end(end))
}

/// Refuses what would cost more than the limits, or what the file is too short for.
fn check_cost(reader: &Reader<'_>, scan: &Scan, options: &Options) -> Result<()> {
    let frame = &reader.frame;
    Limits::check(options.limits.max_pixels, frame.size.width * frame.size.height, "pixels", 0)?;
    let least_bits = if frame.coding == Coding::Sequential { 2 } else { 1 };
    check_plausible(reader, scan, num_blocks(frame, scan), least_bits)
}

/// The quantization tables of the components of `scan`.
fn quantization(reader: &Reader<'_>, scan: &Scan) -> Result<Vec<Quantization>> {
    let table = |index: usize| {
        let number = reader.frame.components[index].table;
        required(&reader.state.tables.quantization, number, "quantization", scan.offset).copied()
    };
    scan.parts.iter().map(|part| table(part.component)).collect()
}

impl Target<'_> {
    fn check(&self, picture: &Picture) -> Result<()> {
        let (height, row) = (picture.window.height, picture.row_bytes());
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
