//! Decoding of one scan of an image that has several scans. The coefficients go to the grid of each component.
use super::coefficients::Grid;
use crate::fault::Result;
use crate::jpeg::header::frame::{Frame, Scan};
use crate::jpeg::huffman::ac::{AcTable, PADDED_BLOCK_LEN, PaddedBlock};
use crate::jpeg::huffman::{BlockError, DcTable, SymbolTable};
use crate::jpeg::samples::{Block, Job, Kernel, NATURAL_ORDER};
use crate::jpeg::scan_cursor::ScanCursor;
use crate::jpeg::stream::{BitReader, extend_sign};
use crate::pixels::Size;
use std::sync::Arc;

/// The part of the coefficients that a scan contains, with the Huffman tables to decode it. DC tables are indexed by
/// component in the scan.
pub(in crate::jpeg) enum ScanKind<'a> {
    /// All coefficients of the blocks.
    Sequential { dc: &'a [Arc<DcTable>], ac: &'a [Arc<AcTable>] },
    /// The high bits of DC coefficients.
    FirstDc { dc: &'a [Arc<DcTable>], low: u32 },
    /// One more bit of each DC coefficient.
    RefineDc { low: u32 },
    /// The high bits of a band of AC coefficients of one component.
    FirstAc(Band<'a>),
    /// One more bit of the AC coefficients in a band.
    RefineAc(Band<'a>),
}

/// The job of decoding one scan into the grids of its components.
pub(in crate::jpeg) struct ScanJob<'j, 's, 'a> {
    pub(in crate::jpeg) cursor: ScanCursor<'s, 'a>,
    pub(in crate::jpeg) frame: &'j Frame,
    pub(in crate::jpeg) scan: &'j Scan,
    pub(in crate::jpeg) kind: ScanKind<'j>,
    pub(in crate::jpeg) grids: &'j mut [Grid],
}

/// Returns the number of MCUs across and down in a scan. In a scan of one component, an MCU is a single block, and
/// padding blocks are absent (T.81 A.2.2).
pub(in crate::jpeg) fn mcus(frame: &Frame, scan: &Scan) -> Size {
    match &scan.components[..] {
        [only] => frame.blocks(only.index),
        _ => frame.mcus(),
    }
}

/// Returns the number of blocks in a scan.
pub(in crate::jpeg) fn num_blocks(frame: &Frame, scan: &Scan) -> usize {
    let (mcus, parts) = (mcus(frame, scan), &scan.components);
    let of = |component: usize| frame.components[component].h * frame.components[component].v;
    let in_mcu = if parts.len() == 1 { 1 } else { parts.iter().map(|component| of(component.index)).sum() };
    mcus.width * mcus.height * in_mcu
}

impl Job for ScanJob<'_, '_, '_> {
    /// Byte offset in the file of the marker after the scan.
    type Output = Result<usize>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<usize> {
        let Self { mut cursor, frame, scan, kind, grids } = self;
        let (mcus, scan_blocks) = (mcus(frame, scan), scan_blocks(frame, scan));
        match kind {
            ScanKind::Sequential { dc, ac } => {
                let mut padded: PaddedBlock = [0; PADDED_BLOCK_LEN];
                for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, _| {
                    at.decode_sequential(dc, ac, block, &mut padded)
                })
            }
            ScanKind::FirstDc { dc, low } => for_each_block(&mut cursor, mcus, &scan_blocks, grids, |at, block, _| {
                at.decode_first_dc(dc, low, block)
            }),
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

/// Describes one block of an MCU. All MCUs of a scan have the same blocks.
pub(in crate::jpeg) struct ScanBlock {
    /// Index of the block's component in the scan.
    pub(in crate::jpeg) scan_index: usize,
    /// Index in the frame header of the component to which the block belongs.
    component: usize,
    /// Number of blocks of the component across and down an MCU.
    mcu_size: (usize, usize),
    /// Column and row of this block in the MCU.
    position: (usize, usize),
}

impl ScanBlock {
    /// Returns the coefficients of this block in the MCU at `row` and `column` of the scan.
    pub(in crate::jpeg) fn block_mut<'g>(&self, grids: &'g mut [Grid], row: usize, column: usize) -> &'g mut Block {
        let grid = &mut grids[self.component];
        let index = self.index(grid, row, column);
        &mut grid.blocks[index]
    }

    #[inline(always)]
    fn index(&self, grid: &Grid, row: usize, column: usize) -> usize {
        (row * self.mcu_size.1 + self.position.1) * grid.columns + column * self.mcu_size.0 + self.position.0
    }
}

/// Returns the blocks that an MCU of a scan has, in decoding order.
pub(in crate::jpeg) fn scan_blocks(frame: &Frame, scan: &Scan) -> Vec<ScanBlock> {
    if let [only] = &scan.components[..] {
        return vec![ScanBlock { scan_index: 0, component: only.index, mcu_size: (1, 1), position: (0, 0) }];
    }
    let mut scan_blocks = Vec::new();
    for (scan_index, component) in scan.components.iter().enumerate() {
        let sampling = frame.components[component.index];
        for index in 0..sampling.h * sampling.v {
            let (mcu_size, position) = ((sampling.h, sampling.v), (index % sampling.h, index / sampling.h));
            scan_blocks.push(ScanBlock { scan_index, component: component.index, mcu_size, position });
        }
    }
    scan_blocks
}

/// The input and predictors from which a block is decoded.
struct BlockReader<'b> {
    bits: &'b mut BitReader,
    data: &'b [u8],
    predictors: &'b mut [i64; 4],
    /// Index of the block's component in the scan.
    scan_index: usize,
}

/// Calls `decode` for every block of a scan. The last argument of `decode` states whether the MCU is the first of a
/// restart interval. `decode` returns the zig-zag index of the last coefficient it wrote.
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
                    scan_index: scan_block.scan_index,
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
    fn read_dc(&mut self, tables: &[Arc<DcTable>]) -> Result<i64, BlockError> {
        self.bits.refill(self.data);
        let predictor = &mut self.predictors[self.scan_index];
        *predictor += i64::from(tables[self.scan_index].difference(self.bits)?);
        Ok(*predictor)
    }

    #[inline(always)]
    fn decode_sequential(
        mut self,
        dc: &[Arc<DcTable>],
        ac: &[Arc<AcTable>],
        block: &mut Block,
        padded: &mut PaddedBlock,
    ) -> Result<usize, BlockError> {
        padded[0] = self.read_dc(dc)? as i16;
        let last = ac[self.scan_index].decode_block(self.bits, self.data, padded)?;
        if let Some(decoded) = padded.first_chunk_mut::<64>() {
            *block = *decoded;
            *decoded = [0; 64];
        }
        Ok(last)
    }

    #[inline(always)]
    fn decode_first_dc(mut self, dc: &[Arc<DcTable>], low: u32, block: &mut Block) -> Result<usize, BlockError> {
        block[0] = (self.read_dc(dc)? << low) as i16;
        Ok(0)
    }

    #[inline(always)]
    fn refine_dc(self, low: u32, block: &mut Block) -> Result<usize, BlockError> {
        self.bits.refill(self.data);
        if self.bits.take_bit() {
            block[0] |= 1 << low;
        }
        Ok(0)
    }
}

/// Run length in a ZRL symbol, which stands for sixteen zeros. A symbol with a smaller run and no value starts an
/// end-of-band run.
const ZRL_RUN: u32 = 15;

/// The band of coefficients in a progressive AC scan (T.81 G.1.2.2, G.1.2.3), and the state of its end-of-band run.
pub(in crate::jpeg) struct Band<'a> {
    pub(in crate::jpeg) table: &'a SymbolTable,
    pub(in crate::jpeg) start: usize,
    pub(in crate::jpeg) end: usize,
    /// Bit position of this scan (Al).
    pub(in crate::jpeg) low: u32,
    /// Number of blocks left in the current end-of-band run, starting with the next block. These blocks have no new
    /// coefficients.
    pub(in crate::jpeg) empty_blocks: u32,
}

impl Band<'_> {
    /// Decodes the high bits of a block's band. Returns the zig-zag index of the last coefficient written, or zero.
    #[inline(always)]
    pub(in crate::jpeg) fn first(
        &mut self,
        bits: &mut BitReader,
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
            let found = self.table.peek(bits);
            if found.total == 0 {
                let symbol = self.table.take(found, bits)?;
                let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
                if size == 0 && run < ZRL_RUN {
                    self.empty_blocks = (1 << run) + bits.take(run) - 1;
                    break;
                }
                next += run as usize;
                if size > 0 {
                    store_coefficient(block, next, self.end, extend_sign(bits.take(size), size) << self.low)?;
                    last = next;
                }
                next += 1;
                continue;
            }
            bits.skip(found.total.into());
            next += usize::from(found.symbol >> 4);
            store_coefficient(block, next, self.end, i32::from(found.value) << self.low)?;
            last = next;
            next += 1;
        }
        Ok(last)
    }

    /// Decodes one more bit of each coefficient in a block's band. Returns the zig-zag index of the last new
    /// coefficient, or zero.
    #[inline(always)]
    pub(in crate::jpeg) fn refine(
        &mut self,
        bits: &mut BitReader,
        data: &[u8],
        block: &mut Block,
    ) -> Result<usize, BlockError> {
        let (mut next, mut last) = (self.start, 0);
        if self.empty_blocks == 0 {
            while next <= self.end {
                bits.refill(data);
                let symbol = self.table.take(self.table.peek(bits), bits)?;
                let (run, size) = (u32::from(symbol >> 4), symbol & 15);
                if size == 0 && run < ZRL_RUN {
                    self.empty_blocks = (1 << run) + bits.take(run);
                    break;
                }
                if size > 1 {
                    return Err(BlockError::InvalidCode);
                }
                let is_positive = size == 1 && bits.take_bit();
                next = self.refine_nonzero(bits, data, block, next, run);
                if size == 1 {
                    store_coefficient(block, next, self.end, if is_positive { 1 << self.low } else { -1 << self.low })?;
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

    /// Refines the nonzero coefficients from zig-zag index `next` on, and skips `zeros` zero coefficients. Returns the
    /// index of the next zero coefficient, or the index after the band if there is none.
    #[inline(always)]
    fn refine_nonzero(
        &self,
        bits: &mut BitReader,
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
                if bits.take_bit() && *value & bit == 0 {
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

/// Writes a coefficient. Returns an error if its zig-zag index is past the end of the band.
#[inline(always)]
fn store_coefficient(block: &mut Block, index: usize, end: usize, value: i32) -> Result<(), BlockError> {
    if index > end {
        return Err(BlockError::RunTooLong);
    }
    block[usize::from(NATURAL_ORDER[index & 63])] = value as i16;
    Ok(())
}
