//! The blocks of one MCU: first all of them are decoded, then all become samples.
use super::header::frame::MAX_MCU_BLOCKS;
use super::huffman::ac::{AcTable, ROOM};
use super::huffman::code::Damage;
use super::huffman::dc::DcTable;
use super::huffman::skip::SkipTable;
use super::planes::Plane;
use super::samples::{Kernel, Transform};
use super::stream::bits::Bits;
use super::walk::Walk;

/// Values from a block to the next: its own 64, and place 64 for what nobody reads.
const PITCH: usize = 80;

/// One block of every MCU.
pub(super) struct Slot<'a> {
    pub(super) component: usize,
    pub(super) dc: &'a DcTable,
    pub(super) ac: &'a AcTable,
    pub(super) skip: Option<&'a SkipTable>,
    /// Whether its AC coefficients make a difference.
    pub(super) is_read: bool,
    /// Whether pixels are made of the component; with what, and where its samples go in the first MCU of even and odd rows.
    pub(super) output: Option<(&'a Transform, [usize; 2])>,
    /// Samples from an MCU to the next.
    pub(super) mcu_columns: usize,
}

/// Room for the coefficients of an MCU, all zero between two of them.
///
/// A block that was only just written cannot be read whole at once, and a transform takes long until its first result: one after
/// the other, transforms wait together.
#[repr(align(32))]
pub(super) struct Blocks {
    values: [i16; (MAX_MCU_BLOCKS - 1) * PITCH + ROOM],
    /// For each block, the place of its last coefficient in the order of transmission.
    lasts: [u8; MAX_MCU_BLOCKS],
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { values: [0; (MAX_MCU_BLOCKS - 1) * PITCH + ROOM], lasts: [0; MAX_MCU_BLOCKS] }
    }

    /// Decodes the next MCU.
    #[inline(always)]
    pub(super) fn decode(&mut self, walk: &mut Walk<'_, '_>, slots: &[Slot<'_>]) -> Result<(), Damage> {
        let mut bits = walk.bits;
        let result = self.decode_all(&mut bits, walk.stream.bytes(), &mut walk.predictors, slots);
        walk.bits = bits;
        result
    }

    #[inline(always)]
    fn decode_all(
        &mut self,
        bits: &mut Bits,
        data: &[u8],
        predictors: &mut [i64; 4],
        slots: &[Slot<'_>],
    ) -> Result<(), Damage> {
        for (index, (slot, last)) in slots.iter().zip(&mut self.lasts).enumerate() {
            let dc = slot.next_dc(bits, data, predictors)?;
            let room = self.values[index * PITCH..].first_chunk_mut();
            if let (true, Some(block)) = (slot.is_read, room) {
                block[0] = dc as i16;
                *last = slot.ac.block(bits, data, block)? as u8;
            } else {
                (self.values[index * PITCH], *last) = (dc as i16, 0);
                slot.skip(bits, data)?;
            }
        }
        Ok(())
    }

    /// Transforms what was decoded into column `column` of the picture's planes.
    #[inline(always)]
    pub(super) fn transform<K: Kernel>(
        &mut self,
        kernel: K,
        slots: &[Slot<'_>],
        planes: &mut [Plane],
        (row, column): (usize, usize),
    ) {
        for (index, (slot, &last)) in slots.iter().zip(&self.lasts).enumerate() {
            let block = self.values[index * PITCH..].first_chunk_mut();
            let (Some((transform, origins)), Some(block)) = (slot.output, block) else { continue };
            let plane = &mut planes[slot.component];
            let stride = plane.stride();
            let samples = plane.samples_mut(origins[row % 2] + column * slot.mcu_columns);
            transform.block(kernel, block, last.into(), samples, stride);
            *block = [0; 64];
        }
    }
}

/// Steps over the next MCU.
#[inline(always)]
pub(super) fn skip(walk: &mut Walk<'_, '_>, slots: &[Slot<'_>]) -> Result<(), Damage> {
    let mut bits = walk.bits;
    let result = skip_all(&mut bits, walk.stream.bytes(), &mut walk.predictors, slots);
    walk.bits = bits;
    result
}

#[inline(always)]
fn skip_all(bits: &mut Bits, data: &[u8], predictors: &mut [i64; 4], slots: &[Slot<'_>]) -> Result<(), Damage> {
    for slot in slots {
        slot.next_dc(bits, data, predictors)?;
        slot.skip(bits, data)?;
    }
    Ok(())
}

impl Slot<'_> {
    /// Decodes the block's DC.
    #[inline(always)]
    fn next_dc(&self, bits: &mut Bits, data: &[u8], predictors: &mut [i64; 4]) -> Result<i64, Damage> {
        bits.refill(data);
        let predictor = &mut predictors[self.component];
        *predictor += i64::from(self.dc.difference(bits)?);
        Ok(*predictor)
    }

    /// Steps over the rest of the block.
    #[inline(always)]
    fn skip(&self, bits: &mut Bits, data: &[u8]) -> Result<(), Damage> {
        match self.skip {
            Some(skip) => skip.block(bits, data),
            None => self.ac.block(bits, data, &mut [0; ROOM]).map(drop),
        }
    }
}
