//! Decoding of truncated files. The pixels equal those of libjpeg-turbo in a program that ignores its warnings.
//!
//! The MCUs before the end of the data, except the last ones, are as in the complete file. The last MCUs and everything
//! after them depend on how far libjpeg-turbo reads ahead, which this module reproduces step by step.
mod bit_source;
pub(in crate::jpeg) mod scans;

use super::header::Reader;
use super::header::frame::{MAX_MCU_BLOCKS, Scan, ScanComponent};
use super::header::marker::{APP0, APP15, COM, DNL, EOI, RST0, RST7, TEM};
use super::huffman::require_table;
use super::output::{OutputBuffer, OutputWindow};
use super::samples::{Block, Component, Job, Kernel, NATURAL_ORDER, Scale, Transform, Upsampling};
use super::sequential::{ComponentTables, mcu_blocks};
use super::stream::extend_sign;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory;
use bit_source::{BitSource, HuffmanTable, StopReason};

/// The job of decoding one truncated scan into an output.
pub(super) struct Truncated<'j, 'a, 't> {
    pub(super) reader: &'j Reader<'a>,
    pub(super) scan: &'j Scan,
    /// Whether to decode the missing part as if an end-of-image marker followed the data.
    pub(super) recover: bool,
    pub(super) scale: Scale,
    pub(super) component_tables: &'j [ComponentTables],
    pub(super) transforms: &'j [Transform],
    pub(super) output: &'j mut OutputWindow,
    pub(super) buffer: &'j mut OutputBuffer<'t>,
}

impl Job for Truncated<'_, '_, '_> {
    /// Number of image rows decoded from the data, including those above the window.
    type Output = Result<usize>;

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) -> Result<usize> {
        let tables = self.build_tables()?;
        let source = BitSource::new(self.reader.data, self.scan.data, self.recover);
        let shapes = self.reader.frame.components.iter().enumerate();
        let blocks = shapes.flat_map(|(component, shape)| {
            let (dc, ac) = &tables[component];
            std::iter::repeat_n((component, dc, ac), shape.h * shape.v)
        });
        let mut mcus = McuDecoder::new(source, blocks.collect(), self.reader.state.restart_interval);
        let size = self.reader.frame.mcus();
        let needed_rows = self.output.window.y + self.output.window.height;
        for row in 0..size.height {
            match self.decode_row(kernel, &mut mcus, row) {
                Err(StopReason::Suspended) => return self.available_rows(row, &mcus.source),
                Err(StopReason::Failed) => return Err(read_failure(&mcus.source)),
                Ok(()) if self.num_rows(row + 1) >= needed_rows && row + 1 < size.height => return Ok(needed_rows),
                Ok(()) => {}
            }
        }
        if needed_rows == self.output.layout.size.height {
            read_image_end(&mut mcus.source)?;
        }
        Ok(needed_rows)
    }
}

impl Truncated<'_, '_, '_> {
    /// Builds the DC and AC table of each component.
    fn build_tables(&self) -> Result<Vec<(HuffmanTable, HuffmanTable)>> {
        let (tables, offset) = (&self.reader.state.tables, self.scan.offset);
        let build_pair = |component: &ScanComponent| -> Result<_> {
            let dc = require_table(&tables.dc, component.dc, "a DC Huffman", offset)?;
            let ac = require_table(&tables.ac, component.ac, "an AC Huffman", offset)?;
            Ok((HuffmanTable::new(dc), HuffmanTable::new(ac)))
        };
        let mut built = memory::with_capacity(self.scan.components.len())?;
        for component in &self.scan.components {
            built.push(build_pair(component)?);
        }
        Ok(built)
    }

    /// Decodes a row of MCUs and writes the rows of pixels that are then complete.
    #[inline(always)]
    fn decode_row<K: Kernel>(
        &mut self,
        kernel: K,
        mcus: &mut McuDecoder<'_, '_>,
        row: usize,
    ) -> Result<(), StopReason> {
        let mcu_blocks = mcu_blocks(self.reader, self.component_tables, self.transforms, Some(&*self.output));
        let Self { reader, output, buffer, .. } = self;
        let columns = output.mcu_columns.clone();
        let is_shown = output.mcu_rows.contains(&row);
        for column in 0..reader.frame.mcus().width {
            let blocks = mcus.decode_mcu()?;
            if !is_shown || !columns.contains(&column) {
                continue;
            }
            for (mcu_block, block) in mcu_blocks.iter().zip(blocks) {
                let Some((transform, origins)) = mcu_block.destination else { continue };
                let plane = &mut output.planes[mcu_block.component];
                let stride = plane.stride();
                let origin = origins[row % 2] + (column - columns.start) * mcu_block.mcu_columns;
                transform.apply(kernel, block, 63, plane.samples_mut(origin), stride);
            }
        }
        if is_shown {
            output.finish_rows(kernel, row, buffer);
        }
        Ok(())
    }

    /// Returns the number of pixel rows that are available from `num_mcu_rows` rows of MCUs if no more data follows.
    /// Returns an error if the window starts below these rows and chroma is subsampled vertically, because libjpeg then
    /// fails while it skips rows.
    fn available_rows(&self, num_mcu_rows: usize, source: &BitSource<'_>) -> Result<usize> {
        let rows = self.num_rows(num_mcu_rows);
        let is_shared = self.used_components().iter().any(|component| component.upsampling.factors().1 > 1);
        if is_shared && rows < self.output.window.y { Err(read_failure(source)) } else { Ok(rows) }
    }

    /// Returns the component planes that the output needs.
    fn used_components(&self) -> &[Component] {
        &self.output.layout.components[..self.output.planes.len()]
    }

    /// Returns the number of rows that libjpeg outputs once `num_mcu_rows` rows of MCUs are decoded. Vertical
    /// interpolation needs the next row of chroma samples, so the last rows that share samples are not output yet.
    fn num_rows(&self, num_mcu_rows: usize) -> usize {
        let (frame, layout) = (&self.reader.frame, &self.output.layout);
        if num_mcu_rows == frame.mcus().height {
            return layout.size.height;
        }
        let is_mixed =
            |component: &Component| matches!(component.upsampling, Upsampling::TriangleDown | Upsampling::TriangleBoth);
        let is_mixed = self.used_components().iter().any(is_mixed);
        let groups = (num_mcu_rows * self.scale.edge()).saturating_sub(is_mixed.into());
        (groups * frame.max_v).min(layout.size.height)
    }
}

/// Reads to the end of the image after the last MCU, as libjpeg does. Data without an end-of-image marker is accepted.
fn read_image_end(source: &mut BitSource<'_>) -> Result<()> {
    loop {
        let passed = match source.take_marker() {
            Ok(EOI) => return Ok(()),
            Ok(code) => skip_marker(source, code),
            Err(stop) => Err(stop),
        };
        match passed {
            Ok(()) => {}
            Err(StopReason::Suspended) => return Ok(()),
            Err(StopReason::Failed) => return Err(read_failure(source)),
        }
    }
}

/// Skips marker `code`, and its segment, if it may follow the data of a scan and does not affect the image.
fn skip_marker(source: &mut BitSource<'_>, code: u8) -> Result<(), StopReason> {
    match code {
        TEM | RST0..=RST7 => Ok(()),
        APP0..=APP15 | COM | DNL => source.skip_segment(),
        _ => Err(StopReason::Failed),
    }
}

fn read_failure(source: &BitSource<'_>) -> ImageFault {
    ImageFault::new(
        ImageFaultKind::Truncated,
        source.offset(),
        "more data",
        "an end that libjpeg-turbo cannot recover from",
    )
}

/// An MCU is decoded without checks for the end of the data if at least this many bytes per block are left.
const FAST_BYTES: usize = 512;
/// Run length in a ZRL symbol, which stands for sixteen zeros. A symbol with a smaller run and no value ends the block.
const ZRL_RUN: usize = 15;

/// Decodes the MCUs of a sequential scan as libjpeg-turbo does, whatever the data contains.
struct McuDecoder<'a, 't> {
    source: BitSource<'a>,
    /// Component, DC table and AC table of each block in an MCU.
    blocks: Vec<(usize, &'t HuffmanTable, &'t HuffmanTable)>,
    predictors: [i32; 4],
    /// Number of MCUs in a restart interval; zero if there are no restart markers.
    interval: usize,
    /// Number of MCUs before the next restart.
    until_restart: usize,
    num_restarts: usize,
    values: [Block; MAX_MCU_BLOCKS],
}

impl<'a, 't> McuDecoder<'a, 't> {
    /// Creates a decoder that reads from `source`; `blocks` lists the component, DC table and AC table of each block in
    /// an MCU.
    fn new(source: BitSource<'a>, blocks: Vec<(usize, &'t HuffmanTable, &'t HuffmanTable)>, interval: usize) -> Self {
        let values = [[0; 64]; MAX_MCU_BLOCKS];
        Self { source, blocks, predictors: [0; 4], interval, until_restart: interval, num_restarts: 0, values }
    }

    /// Decodes the coefficients of the next MCU.
    fn decode_mcu(&mut self) -> Result<&[Block], StopReason> {
        if self.interval > 0 && self.until_restart == 0 {
            self.restart()?;
        }
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        if !self.source.insufficient_data() && !self.decode_mcu_fast() {
            for index in 0..self.blocks.len() {
                self.decode_block::<false>(index)?;
            }
            self.source.mark_consumed();
        }
        self.until_restart = self.until_restart.saturating_sub(1);
        Ok(&self.values[..self.blocks.len()])
    }

    fn restart(&mut self) -> Result<(), StopReason> {
        self.source.restart((self.num_restarts % 8) as u8)?;
        self.num_restarts += 1;
        self.predictors = [0; 4];
        self.until_restart = self.interval;
        Ok(())
    }

    /// Decodes block `index` of an MCU; `FAST` states that enough bytes are left.
    fn decode_block<const FAST: bool>(&mut self, index: usize) -> Result<(), StopReason> {
        let Self { source, blocks, predictors, values, .. } = self;
        let ((component, dc, ac), block) = (blocks[index], &mut values[index]);
        let size = dc.read_symbol::<FAST>(source)?.into();
        predictors[component] = predictors[component].wrapping_add(read_value::<FAST>(source, size)?);
        block[0] = predictors[component] as i16;
        let mut zigzag = 1;
        while zigzag < 64 {
            let symbol = ac.read_symbol::<FAST>(source)?;
            let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < ZRL_RUN {
                break;
            }
            zigzag += run;
            if size > 0 {
                // libjpeg-turbo writes coefficients past the end of the block to index 63.
                block[usize::from(NATURAL_ORDER[zigzag.min(63)])] = read_value::<FAST>(source, size)? as i16;
            }
            zigzag += 1;
        }
        Ok(())
    }

    /// Decodes an MCU without checking for the end. Returns false, and restores the state, if the end or a marker is
    /// near.
    fn decode_mcu_fast(&mut self) -> bool {
        if self.interval > 0 || !self.source.has_bytes(FAST_BYTES * self.blocks.len()) {
            return false;
        }
        let (source, predictors) = (self.source.clone(), self.predictors);
        let decoded = (0..self.blocks.len()).try_for_each(|index| self.decode_block::<true>(index));
        if decoded.is_ok() && self.source.has_bytes(0) {
            self.source.mark_consumed();
            return true;
        }
        (self.source, self.predictors) = (source, predictors);
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        false
    }
}

/// Reads a coefficient value of `size` bits.
fn read_value<const FAST: bool>(source: &mut BitSource<'_>, size: u32) -> Result<i32, StopReason> {
    if size == 0 {
        return Ok(0);
    }
    if FAST {
        source.fill_fast();
    }
    Ok(extend_sign(source.take(size)?, size))
}
