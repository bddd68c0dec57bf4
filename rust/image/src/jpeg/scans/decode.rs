//! One scan of an image with several: its blocks in order, each decoded into the store.
use super::coefficients::Grid;
use crate::fault::Result;
use crate::jpeg::header::frame::{Frame, Scan};
use crate::jpeg::huffman::ac::{AcTable, PADDED_BLOCK_LEN, PaddedBlock};
use crate::jpeg::huffman::{BlockError, DcTable, SymbolTable};
use crate::jpeg::samples::{Block, Job, Kernel, NATURAL_ORDER};
use crate::jpeg::scan_cursor::ScanCursor;
use crate::jpeg::stream::{Bits, extend};
use crate::pixels::Size;
use std::sync::Arc;

/// What a scan's blocks hold, with the tables for them; those of DC by place in the scan.
pub(in crate::jpeg) enum ScanKind<'a> {
    /// Whole blocks.
    Sequential { dc: &'a [Arc<DcTable>], ac: &'a [Arc<AcTable>] },
    /// DC, its low bits missing.
    FirstDc { dc: &'a [Arc<DcTable>], low: u32 },
    /// One more bit of DC.
    RefineDc { low: u32 },
    /// Some AC coefficients of the only component, their low bits missing.
    FirstAc(Band<'a>),
    /// One more bit of such.
    RefineAc(Band<'a>),
}

/// The decoding of one scan into the grids of its components.
pub(in crate::jpeg) struct ScanJob<'j, 's, 'a> {
    pub(in crate::jpeg) cursor: ScanCursor<'s, 'a>,
    pub(in crate::jpeg) frame: &'j Frame,
    pub(in crate::jpeg) scan: &'j Scan,
    pub(in crate::jpeg) kind: ScanKind<'j>,
    pub(in crate::jpeg) grids: &'j mut [Grid],
}

/// MCUs of a scan across and down. A scan of one component has as many as that has blocks with samples (T.81 A.2.2).
pub(in crate::jpeg) fn mcus(frame: &Frame, scan: &Scan) -> Size {
    match &scan.components[..] {
        [only] => frame.blocks(only.index),
        _ => frame.mcus(),
    }
}

/// Blocks that a scan visits.
pub(in crate::jpeg) fn num_blocks(frame: &Frame, scan: &Scan) -> usize {
    let (mcus, parts) = (mcus(frame, scan), &scan.components);
    let of = |component: usize| frame.components[component].h * frame.components[component].v;
    let in_mcu = if parts.len() == 1 { 1 } else { parts.iter().map(|component| of(component.index)).sum() };
    mcus.width * mcus.height * in_mcu
}

impl Job for ScanJob<'_, '_, '_> {
    /// The offset of the marker behind the scan.
    type Output = Result<usize>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<usize> {
        let Self { mut cursor, frame, scan, kind, grids } = self;
        let (mcus, scan_blocks) = (mcus(frame, scan), scan_blocks(frame, scan));
        match kind {
            ScanKind::Sequential { dc, ac } => {
                let mut padded: PaddedBlock = [0; PADDED_BLOCK_LEN];
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, _| {
                    at.sequential(dc, ac, block, &mut padded)
                })
            }
            ScanKind::FirstDc { dc, low } => {
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, _| at.first_dc(dc, low, block))
            }
            ScanKind::RefineDc { low } => {
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, _| at.refine_dc(low, block))
            }
            ScanKind::FirstAc(mut band) => {
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, is_restart| {
                    band.empty_blocks = if is_restart { 0 } else { band.empty_blocks };
                    band.first(at.bits, at.data, block)
                })
            }
            ScanKind::RefineAc(mut band) => {
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, is_restart| {
                    band.empty_blocks = if is_restart { 0 } else { band.empty_blocks };
                    band.refine(at.bits, at.data, block)
                })
            }
        }?;
        cursor.finish()
    }
}

/// A block of every MCU: place of its component in the scan, index of the component, blocks of it across and down an MCU, and
/// which of them it is.
pub(in crate::jpeg) struct ScanBlock {
    pub(in crate::jpeg) part: usize,
    component: usize,
    step: (usize, usize),
    place: (usize, usize),
}

impl ScanBlock {
    /// The block in the MCU at `row` and `column` of the scan.
    pub(in crate::jpeg) fn block_mut<'g>(&self, grids: &'g mut [Grid], row: usize, column: usize) -> &'g mut Block {
        let grid = &mut grids[self.component];
        let index = self.index(grid, row, column);
        &mut grid.blocks[index]
    }

    #[inline(always)]
    fn index(&self, grid: &Grid, row: usize, column: usize) -> usize {
        (row * self.step.1 + self.place.1) * grid.columns + column * self.step.0 + self.place.0
    }
}

/// The blocks of every MCU of a scan, in order.
pub(in crate::jpeg) fn scan_blocks(frame: &Frame, scan: &Scan) -> Vec<ScanBlock> {
    if let [only] = &scan.components[..] {
        return vec![ScanBlock { part: 0, component: only.index, step: (1, 1), place: (0, 0) }];
    }
    let mut scan_blocks = Vec::new();
    for (part, component) in scan.components.iter().enumerate() {
        let sampling = frame.components[component.index];
        for place in 0..sampling.h * sampling.v {
            let (step, place) = ((sampling.h, sampling.v), (place % sampling.h, place / sampling.h));
            scan_blocks.push(ScanBlock { part, component: component.index, step, place });
        }
    }
    scan_blocks
}

/// Where a block is decoded from.
struct BlockReader<'b> {
    bits: &'b mut Bits,
    data: &'b [u8],
    predictors: &'b mut [i64; 4],
    /// EntryPoint of the block's component in the scan.
    part: usize,
}

/// Calls `decode` with every block of a scan, and whether it is the first of a restart interval; what it gives is the last place
/// that it wrote.
#[inline(always)]
fn for_each_block(
    cursor: &mut ScanCursor<'_, '_>,
    mcus: Size,
    scan_blocks: &[ScanBlock],
    grids: &mut [Grid],
    mut decode: impl FnMut(BlockReader<'_>, &mut Block, bool) -> Result<usize, BlockError>,
) -> Result<()> {
    for row in 0..mcus.height {
        for column in 0..mcus.width {
            let is_restart = cursor.begin_mcu()?;
            let mut bits = cursor.bits;
            for scan_block in scan_blocks {
                let grid = &mut grids[scan_block.component];
                let index = scan_block.index(grid, row, column);
                let at = BlockReader {
                    bits: &mut bits,
                    data: cursor.stream.bytes(),
                    predictors: &mut cursor.predictors,
                    part: scan_block.part,
                };
                let result = decode(at, &mut grid.blocks[index], is_restart);
                cursor.bits = bits;
                let last = result.map_err(|error| cursor.block_fault(error))?;
                grid.last[index] = grid.last[index].max(last as u8);
            }
        }
        cursor.check_row()?;
    }
    Ok(())
}

impl BlockReader<'_> {
    #[inline(always)]
    fn dc(&mut self, tables: &[Arc<DcTable>]) -> Result<i64, BlockError> {
        self.bits.refill(self.data);
        let predictor = &mut self.predictors[self.part];
        *predictor += i64::from(tables[self.part].difference(self.bits)?);
        Ok(*predictor)
    }

    #[inline(always)]
    fn sequential(
        mut self,
        dc: &[Arc<DcTable>],
        ac: &[Arc<AcTable>],
        block: &mut Block,
        padded: &mut PaddedBlock,
    ) -> Result<usize, BlockError> {
        padded[0] = self.dc(dc)? as i16;
        let last = ac[self.part].block(self.bits, self.data, padded)?;
        if let Some(decoded) = padded.first_chunk_mut::<64>() {
            *block = *decoded;
            *decoded = [0; 64];
        }
        Ok(last)
    }

    #[inline(always)]
    fn first_dc(mut self, dc: &[Arc<DcTable>], low: u32, block: &mut Block) -> Result<usize, BlockError> {
        block[0] = (self.dc(dc)? << low) as i16;
        Ok(0)
    }

    #[inline(always)]
    fn refine_dc(self, low: u32, block: &mut Block) -> Result<usize, BlockError> {
        self.bits.refill(self.data);
        if self.bits.flag() {
            block[0] |= 1 << low;
        }
        Ok(0)
    }
}

// AC coefficients of progressive scans: their first bits (T.81 G.1.2.2) and the bits that follow one by one (G.1.2.3).

/// Run of a symbol without value that stands for sixteen zeros; smaller ones end the band of this and following blocks.
const ZEROS: u32 = 15;

/// The band of frequencies that a scan holds, and of how many blocks it is known to be empty.
pub(in crate::jpeg) struct Band<'a> {
    pub(in crate::jpeg) table: &'a SymbolTable,
    pub(in crate::jpeg) start: usize,
    pub(in crate::jpeg) end: usize,
    /// The place of the scan's lowest bit.
    pub(in crate::jpeg) low: u32,
    /// Blocks from here on without further new coefficients.
    pub(in crate::jpeg) empty_blocks: u32,
}

impl Band<'_> {
    /// Decodes the first bits of a block's band; gives the last place written, zero for none.
    #[inline(always)]
    pub(in crate::jpeg) fn first(
        &mut self,
        bits: &mut Bits,
        data: &[u8],
        block: &mut Block,
    ) -> Result<usize, BlockError> {
        if self.empty_blocks > 0 {
            self.empty_blocks -= 1;
            return Ok(0);
        }
        let (mut next, mut last) = (self.start, 0);
        while next <= self.end {
            bits.refill(data);
            let found = self.table.look(bits);
            if found.total == 0 {
                let symbol = self.table.take(found, bits)?;
                let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
                if size == 0 && run < ZEROS {
                    self.empty_blocks = (1 << run) + bits.take(run) - 1;
                    break;
                }
                next += run as usize;
                if size > 0 {
                    put(block, next, self.end, extend(bits.take(size), size) << self.low)?;
                    last = next;
                }
                next += 1;
                continue;
            }
            bits.skip(found.total.into());
            next += usize::from(found.symbol >> 4);
            put(block, next, self.end, i32::from(found.value) << self.low)?;
            last = next;
            next += 1;
        }
        Ok(last)
    }

    /// Decodes one more bit of a block's band; gives the last place newly written, zero for none.
    #[inline(always)]
    pub(in crate::jpeg) fn refine(
        &mut self,
        bits: &mut Bits,
        data: &[u8],
        block: &mut Block,
    ) -> Result<usize, BlockError> {
        let (mut next, mut last) = (self.start, 0);
        if self.empty_blocks == 0 {
            while next <= self.end {
                bits.refill(data);
                let symbol = self.table.take(self.table.look(bits), bits)?;
                let (run, size) = (u32::from(symbol >> 4), symbol & 15);
                if size == 0 && run < ZEROS {
                    self.empty_blocks = (1 << run) + bits.take(run);
                    break;
                }
                if size > 1 {
                    return Err(BlockError::InvalidCode);
                }
                let is_positive = size == 1 && bits.flag();
                next = self.refine_nonzero(bits, data, block, next, run);
                if size == 1 {
                    put(block, next, self.end, if is_positive { 1 << self.low } else { -1 << self.low })?;
                    last = next;
                }
                next += 1;
            }
        }
        if self.empty_blocks > 0 {
            self.refine_nonzero(bits, data, block, next, u32::MAX);
            self.empty_blocks -= 1;
        }
        Ok(last)
    }

    /// Refines what is not zero from place `next` on until `zeros` zeros are passed; gives the place of the zero behind them, or
    /// the one behind the band.
    #[inline(always)]
    fn refine_nonzero(
        &self,
        bits: &mut Bits,
        data: &[u8],
        block: &mut Block,
        mut next: usize,
        mut zeros: u32,
    ) -> usize {
        while next <= self.end {
            let value = &mut block[usize::from(NATURAL_ORDER[next & 63])];
            if *value != 0 {
                if bits.count() == 0 {
                    bits.refill(data);
                }
                let bit = 1 << self.low;
                if bits.flag() && *value & bit == 0 {
                    *value = value.wrapping_add(if *value > 0 { bit } else { -bit });
                }
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            next += 1;
        }
        next
    }
}

/// Writes a coefficient, which must lie within the band.
#[inline(always)]
fn put(block: &mut Block, place: usize, end: usize, value: i32) -> Result<(), BlockError> {
    if place > end {
        return Err(BlockError::RunTooLong);
    }
    block[usize::from(NATURAL_ORDER[place & 63])] = value as i16;
    Ok(())
}
