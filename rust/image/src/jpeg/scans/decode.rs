//! One scan of an image with several: its blocks in order, each decoded into the store.
use super::band::Band;
use super::store::Grid;
use crate::fault::Result;
use crate::jpeg::header::frame::Frame;
use crate::jpeg::header::scan::Scan;
use crate::jpeg::huffman::ac::{AcTable, ROOM, RoomyBlock};
use crate::jpeg::huffman::code::Damage;
use crate::jpeg::huffman::dc::DcTable;
use crate::jpeg::samples::{Block, Job, Kernel};
use crate::jpeg::stream::bits::Bits;
use crate::jpeg::walk::Walk;
use crate::pixels::Size;
use std::sync::Arc;

/// What a scan's blocks hold, with the tables for them; those of DC by place in the scan.
pub(in crate::jpeg) enum Content<'a> {
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
    pub(in crate::jpeg) walk: Walk<'s, 'a>,
    pub(in crate::jpeg) frame: &'j Frame,
    pub(in crate::jpeg) scan: &'j Scan,
    pub(in crate::jpeg) content: Content<'j>,
    pub(in crate::jpeg) grids: &'j mut [Grid],
}

/// MCUs of a scan across and down. A scan of one component has as many as that has blocks with samples (T.81 A.2.2).
pub(in crate::jpeg) fn mcus(frame: &Frame, scan: &Scan) -> Size {
    match &scan.parts[..] {
        [only] => frame.blocks(only.component),
        _ => frame.mcus(),
    }
}

/// Blocks that a scan visits.
pub(in crate::jpeg) fn num_blocks(frame: &Frame, scan: &Scan) -> usize {
    let (mcus, parts) = (mcus(frame, scan), &scan.parts);
    let of = |component: usize| frame.components[component].h * frame.components[component].v;
    let in_mcu = if parts.len() == 1 { 1 } else { parts.iter().map(|part| of(part.component)).sum() };
    mcus.width * mcus.height * in_mcu
}

impl Job for ScanJob<'_, '_, '_> {
    /// The offset of the marker behind the scan.
    type Output = Result<usize>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<usize> {
        let Self { mut walk, frame, scan, content, grids } = self;
        let (mcus, slots) = (mcus(frame, scan), slots(frame, scan));
        match content {
            Content::Sequential { dc, ac } => {
                let mut roomy: RoomyBlock = [0; ROOM];
                each_block(&mut walk, mcus, &slots, grids, |at, block, _| at.sequential(dc, ac, block, &mut roomy))
            }
            Content::FirstDc { dc, low } => {
                each_block(&mut walk, mcus, &slots, grids, |at, block, _| at.first_dc(dc, low, block))
            }
            Content::RefineDc { low } => {
                each_block(&mut walk, mcus, &slots, grids, |at, block, _| at.refine_dc(low, block))
            }
            Content::FirstAc(mut band) => each_block(&mut walk, mcus, &slots, grids, |at, block, is_restart| {
                band.empty = if is_restart { 0 } else { band.empty };
                band.first(at.bits, at.data, block)
            }),
            Content::RefineAc(mut band) => each_block(&mut walk, mcus, &slots, grids, |at, block, is_restart| {
                band.empty = if is_restart { 0 } else { band.empty };
                band.refine(at.bits, at.data, block)
            }),
        }?;
        walk.finish()
    }
}

/// A block of every MCU: place of its component in the scan, index of the component, blocks of it across and down an MCU, and
/// which of them it is.
pub(in crate::jpeg) struct Slot {
    pub(in crate::jpeg) part: usize,
    component: usize,
    step: (usize, usize),
    place: (usize, usize),
}

impl Slot {
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
pub(in crate::jpeg) fn slots(frame: &Frame, scan: &Scan) -> Vec<Slot> {
    if let [only] = &scan.parts[..] {
        return vec![Slot { part: 0, component: only.component, step: (1, 1), place: (0, 0) }];
    }
    let mut slots = Vec::new();
    for (part, of) in scan.parts.iter().enumerate() {
        let component = frame.components[of.component];
        for place in 0..component.h * component.v {
            let (step, place) = ((component.h, component.v), (place % component.h, place / component.h));
            slots.push(Slot { part, component: of.component, step, place });
        }
    }
    slots
}

/// Where a block is decoded from.
struct At<'b> {
    bits: &'b mut Bits,
    data: &'b [u8],
    predictors: &'b mut [i64; 4],
    /// Place of the block's component in the scan.
    part: usize,
}

/// Calls `decode` with every block of a scan, and whether it is the first of a restart interval; what it gives is the last place
/// that it wrote.
#[inline(always)]
fn each_block(
    walk: &mut Walk<'_, '_>,
    mcus: Size,
    slots: &[Slot],
    grids: &mut [Grid],
    mut decode: impl FnMut(At<'_>, &mut Block, bool) -> std::result::Result<usize, Damage>,
) -> Result<()> {
    for row in 0..mcus.height {
        for column in 0..mcus.width {
            let is_restart = walk.begin_mcu()?;
            let mut bits = walk.bits;
            for slot in slots {
                let grid = &mut grids[slot.component];
                let index = slot.index(grid, row, column);
                let at = At {
                    bits: &mut bits,
                    data: walk.stream.bytes(),
                    predictors: &mut walk.predictors,
                    part: slot.part,
                };
                let result = decode(at, &mut grid.blocks[index], is_restart);
                walk.bits = bits;
                let last = result.map_err(|damage| walk.damaged(damage))?;
                grid.last[index] = grid.last[index].max(last as u8);
            }
        }
        walk.check_row()?;
    }
    Ok(())
}

impl At<'_> {
    #[inline(always)]
    fn dc(&mut self, tables: &[Arc<DcTable>]) -> std::result::Result<i64, Damage> {
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
        roomy: &mut RoomyBlock,
    ) -> std::result::Result<usize, Damage> {
        roomy[0] = self.dc(dc)? as i16;
        let last = ac[self.part].block(self.bits, self.data, roomy)?;
        if let Some(decoded) = roomy.first_chunk_mut::<64>() {
            *block = *decoded;
            *decoded = [0; 64];
        }
        Ok(last)
    }

    #[inline(always)]
    fn first_dc(mut self, dc: &[Arc<DcTable>], low: u32, block: &mut Block) -> std::result::Result<usize, Damage> {
        block[0] = (self.dc(dc)? << low) as i16;
        Ok(0)
    }

    #[inline(always)]
    fn refine_dc(self, low: u32, block: &mut Block) -> std::result::Result<usize, Damage> {
        self.bits.refill(self.data);
        if self.bits.flag() {
            block[0] |= 1 << low;
        }
        Ok(0)
    }
}
