//! Truncated images with several scans: decodes each scan into the coefficient grids, and parses the segments between
//! scans.
use super::bit_source::{BitSource, HuffmanTable, MAX_SEGMENT_LEN, StopReason};
use super::{McuDecoder, ZRL_RUN, read_failure, read_value, skip_marker};
use crate::fault::Result;
use crate::jpeg::header::Reader;
use crate::jpeg::header::frame::{Coding, Scan};
use crate::jpeg::header::marker::{DHT, DQT, DRI, EOI, SOS, SegmentReader};
use crate::jpeg::huffman::{DcTable, HuffmanCode, require_table};
use crate::jpeg::samples::{Block, NATURAL_ORDER};
use crate::jpeg::scans::coefficients::Grid;
use crate::jpeg::scans::{ScanBlock, mcus, scan_blocks};
use crate::memory;
use crate::pixels::Size;

/// Reads the scans of a file as if an end-of-image marker followed its data.
pub(in crate::jpeg) struct TruncatedScans<'a> {
    source: BitSource<'a>,
}

impl<'a> TruncatedScans<'a> {
    /// Creates a reader that starts at the data of the first scan.
    pub(in crate::jpeg) fn new(data: &'a [u8], first: &Scan) -> Self {
        Self { source: BitSource::new(data, first.data, true) }
    }

    /// Decodes `scan`. Returns the last row of MCUs for which there was data.
    pub(in crate::jpeg) fn decode(&mut self, reader: &Reader<'_>, scan: &Scan, grids: &mut [Grid]) -> Result<usize> {
        let (dc, ac) = build_scan_tables(reader, scan)?;
        let shape = ScanLayout { mcus: mcus(&reader.frame, scan), scan_blocks: scan_blocks(&reader.frame, scan) };
        let interval = reader.state.restart_interval;
        let reached = match reader.frame.coding {
            Coding::Sequential => self.decode_sequential(&shape, (&dc, &ac), interval, grids),
            Coding::Progressive => self.decode_progressive(
                &shape,
                ProgressiveDecoder::new(scan, if scan.start == 0 { &dc } else { &ac }),
                interval,
                grids,
            ),
        };
        let rows_down = match &scan.components[..] {
            [only] => reader.frame.components[only.index].v,
            _ => 1,
        };
        reached.map(|row| row / rows_down).map_err(|_| read_failure(&self.source))
    }

    fn decode_sequential(
        &mut self,
        layout: &ScanLayout,
        (dc, ac): (&[HuffmanTable], &[HuffmanTable]),
        interval: usize,
        grids: &mut [Grid],
    ) -> Result<usize, StopReason> {
        let blocks = layout
            .scan_blocks
            .iter()
            .map(|scan_block| (scan_block.scan_index, &dc[scan_block.scan_index], &ac[scan_block.scan_index]));
        let mut mcus = McuDecoder::new(self.source.clone(), blocks.collect(), interval);
        let mut reached = 0;
        for (row, column) in layout.mcu_positions() {
            reached = if mcus.source.insufficient_data() { reached } else { row };
            for (scan_block, block) in layout.scan_blocks.iter().zip(mcus.decode_mcu()?) {
                *scan_block.block_mut(grids, row, column) = *block;
            }
        }
        self.source = mcus.source;
        Ok(reached)
    }

    fn decode_progressive(
        &mut self,
        layout: &ScanLayout,
        mut band: ProgressiveDecoder<'_>,
        interval: usize,
        grids: &mut [Grid],
    ) -> Result<usize, StopReason> {
        let source = &mut self.source;
        let mut reached = 0;
        for (number, (row, column)) in layout.mcu_positions().enumerate() {
            reached = if source.insufficient_data() { reached } else { row };
            if let Some(restarts) = number.checked_div(interval)
                && restarts > 0
                && number % interval == 0
            {
                source.restart(((restarts - 1) % 8) as u8)?;
                band.restart();
            }
            if source.insufficient_data() {
                continue;
            }
            for scan_block in &layout.scan_blocks {
                band.decode_block(source, scan_block.scan_index, scan_block.block_mut(grids, row, column))?;
            }
            source.mark_consumed();
        }
        Ok(reached)
    }

    /// Parses up to the header of the next scan. Returns `None` at the end of the image.
    pub(in crate::jpeg) fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<Scan>> {
        loop {
            let code = self.source.take_marker().map_err(|_| read_failure(&self.source))?;
            match code {
                EOI => return Ok(None),
                SOS | DHT | DQT | DRI => {
                    let mut segment = memory::with_capacity(MAX_SEGMENT_LEN)?;
                    self.source.read_segment(&mut segment).map_err(|_| read_failure(&self.source))?;
                    let bytes = SegmentReader::new(&segment, self.source.offset());
                    if code == SOS {
                        self.source.begin_scan();
                        return Scan::read(&reader.frame, bytes).map(Some);
                    }
                    reader.state.apply_tables(code, bytes)?;
                }
                other => skip_marker(&mut self.source, other).map_err(|_| read_failure(&self.source))?,
            }
        }
    }
}

/// The MCUs of a scan and the blocks in each.
struct ScanLayout {
    mcus: Size,
    scan_blocks: Vec<ScanBlock>,
}

impl ScanLayout {
    /// Returns the row and column of each MCU, in order.
    fn mcu_positions(&self) -> impl Iterator<Item = (usize, usize)> {
        let Size { width, height } = self.mcus;
        (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
    }
}

/// Builds the DC and AC tables that a scan needs, indexed by component in the scan.
fn build_scan_tables(reader: &Reader<'_>, scan: &Scan) -> Result<(Vec<HuffmanTable>, Vec<HuffmanTable>)> {
    let known = &reader.state.tables;
    let (mut dc, mut ac) = (Vec::new(), Vec::new());
    for component in &scan.components {
        if scan.start == 0 && scan.high == 0 {
            let spec = require_table(&known.dc, component.dc, "a DC Huffman", scan.offset)?;
            DcTable::new(spec)?;
            memory::push(&mut dc, HuffmanTable::new(spec))?;
        }
        if scan.end > 0 {
            let spec = require_table(&known.ac, component.ac, "an AC Huffman", scan.offset)?;
            HuffmanCode::new(spec)?;
            memory::push(&mut ac, HuffmanTable::new(spec))?;
        }
    }
    Ok((dc, ac))
}

/// Decodes the blocks of a progressive scan as libjpeg-turbo does, whatever the data contains (jdphuff.c).
pub(super) struct ProgressiveDecoder<'t> {
    start: usize,
    end: usize,
    low: u32,
    is_first: bool,
    /// DC tables indexed by component in the scan, or the AC table of the scan's only component.
    tables: &'t [HuffmanTable],
    predictors: [i32; 4],
    /// Number of blocks left in the current end-of-band run, starting with the next block. These blocks have no new
    /// coefficients.
    empty_blocks: u32,
}

impl<'t> ProgressiveDecoder<'t> {
    /// Creates a decoder for the blocks of `scan`.
    pub(super) fn new(scan: &Scan, tables: &'t [HuffmanTable]) -> Self {
        let (start, end, low, is_first) = (scan.start, scan.end, scan.low, scan.high == 0);
        Self { start, end, low, is_first, tables, predictors: [0; 4], empty_blocks: 0 }
    }

    /// Resets the predictors and the end-of-band run.
    pub(super) fn restart(&mut self) {
        (self.predictors, self.empty_blocks) = ([0; 4], 0);
    }

    /// Decodes the band of a block that belongs to component `scan_index` of the scan.
    pub(super) fn decode_block(
        &mut self,
        source: &mut BitSource<'_>,
        scan_index: usize,
        block: &mut Block,
    ) -> Result<(), StopReason> {
        match (self.start, self.is_first) {
            (0, true) => self.decode_first_dc(source, scan_index, block),
            (0, false) => {
                block[0] |= (source.take(1)? << self.low) as i16;
                Ok(())
            }
            (_, true) => self.decode_first_ac(source, block),
            (_, false) => self.refine_ac(source, block),
        }
    }

    fn decode_first_dc(
        &mut self,
        source: &mut BitSource<'_>,
        scan_index: usize,
        block: &mut Block,
    ) -> Result<(), StopReason> {
        let size = self.tables[scan_index].read_symbol::<false>(source)?.into();
        let predictor = &mut self.predictors[scan_index];
        *predictor = predictor.wrapping_add(read_value::<false>(source, size)?);
        block[0] = (*predictor << self.low) as i16;
        Ok(())
    }

    fn decode_first_ac(&mut self, source: &mut BitSource<'_>, block: &mut Block) -> Result<(), StopReason> {
        if self.empty_blocks > 0 {
            self.empty_blocks -= 1;
            return Ok(());
        }
        let mut index = self.start;
        while index <= self.end {
            let symbol = self.tables[0].read_symbol::<false>(source)?;
            let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < ZRL_RUN {
                self.empty_blocks = (1 << run) + source.take(run as u32)? - 1;
                break;
            }
            index += run;
            if size > 0 {
                // libjpeg-turbo writes coefficients past the end of the block to index 63.
                block[usize::from(NATURAL_ORDER[index.min(63)])] =
                    (read_value::<false>(source, size)? << self.low) as i16;
            }
            index += 1;
        }
        Ok(())
    }

    fn refine_ac(&mut self, source: &mut BitSource<'_>, block: &mut Block) -> Result<(), StopReason> {
        let mut index = self.start;
        if self.empty_blocks == 0 {
            while index <= self.end {
                let symbol = self.tables[0].read_symbol::<false>(source)?;
                let (run, size) = (usize::from(symbol >> 4), symbol & 15);
                if size == 0 && run < ZRL_RUN {
                    self.empty_blocks = (1 << run) + source.take(run as u32)?;
                    break;
                }
                let sign = if size > 0 && source.take(1)? == 0 { -1 } else { 1 };
                index = self.refine_nonzero(source, block, index, run)?;
                if size > 0 {
                    block[usize::from(NATURAL_ORDER[index.min(63)])] = sign << self.low;
                }
                index += 1;
            }
        }
        if self.empty_blocks > 0 {
            self.refine_nonzero(source, block, index, usize::MAX)?;
            self.empty_blocks -= 1;
        }
        Ok(())
    }

    /// Refines the nonzero coefficients from zig-zag index `index` on, and skips `zeros` zero coefficients. Returns the
    /// index of the next zero coefficient, or the index after the band if there is none.
    fn refine_nonzero(
        &self,
        source: &mut BitSource<'_>,
        block: &mut Block,
        mut index: usize,
        mut zeros: usize,
    ) -> Result<usize, StopReason> {
        while index <= self.end {
            let value = &mut block[usize::from(NATURAL_ORDER[index])];
            if *value != 0 {
                let bit = 1 << self.low;
                if source.take(1)? == 1 && *value & bit == 0 {
                    *value = value.wrapping_add(if *value > 0 { bit } else { -bit });
                }
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            index += 1;
        }
        Ok(index)
    }
}
