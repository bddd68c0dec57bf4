//! A sequential image in one scan: blocks become samples as soon as they are decoded; what no pixel needs is stepped over.
use super::header::Reader;
use super::header::scan::Scan;
use super::header::tables::Quantisation;
use super::huffman::ac::{AcTable, RoomyBlock};
use super::huffman::cache::required;
use super::huffman::code::Damage;
use super::huffman::dc::DcTable;
use super::huffman::skip::SkipTable;
use super::picture::{Picture, Target};
use super::samples::{Block, Dct, Job, Kernel, Layout, Transform};
use super::scratch::TableCaches;
use super::stream::bits::Bits;
use super::walk::Walk;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use std::sync::Arc;

/// What decoding the blocks of one component takes.
pub(super) struct Coder {
    dc: Arc<DcTable>,
    ac: Arc<AcTable>,
    /// Only where some of its blocks are stepped over.
    skip: Option<Arc<SkipTable>>,
}

/// One block of every MCU.
pub(super) struct Slot<'a> {
    component: usize,
    dc: &'a DcTable,
    ac: &'a AcTable,
    skip: Option<&'a SkipTable>,
    /// Whether pixels are made of the component; with what, and where its samples go in the first MCU of even and odd rows.
    output: Option<(&'a Transform, [usize; 2])>,
    /// Samples from an MCU to the next.
    mcu_columns: usize,
}

/// The tables of a scan's components; `skips` tells whether blocks will be stepped over.
pub(super) fn coders(reader: &Reader<'_>, scan: &Scan, caches: &mut TableCaches, skips: bool) -> Result<Vec<Coder>> {
    let tables = &reader.state.tables;
    let mut coders = Vec::with_capacity(scan.parts.len());
    for part in &scan.parts {
        let dc = required(&tables.dc, part.dc, "a DC Huffman", scan.offset)?;
        let ac = required(&tables.ac, part.ac, "an AC Huffman", scan.offset)?;
        let skip = if skips { Some(caches.skip.get(ac, SkipTable::new)?) } else { None };
        coders.push(Coder { dc: caches.dc.get(dc, DcTable::new)?, ac: caches.ac.get(ac, AcTable::new)?, skip });
    }
    Ok(coders)
}

/// The transforms of the components, as the quantisation tables in `tables` demand.
pub(super) fn transforms(layout: &Layout, tables: &[Quantisation], dct: Dct) -> Vec<Transform> {
    layout.components.iter().zip(tables).map(|(component, table)| Transform::new(dct, component.block, table)).collect()
}

/// The decoding of one scan into a picture.
pub(super) struct Sequential<'j, 's, 'a, 't> {
    pub(super) walk: Walk<'s, 'a>,
    pub(super) reader: &'j Reader<'a>,
    pub(super) coders: &'j [Coder],
    pub(super) transforms: &'j [Transform],
    pub(super) picture: &'j mut Picture,
    pub(super) target: &'j mut Target<'t>,
}

impl Job for Sequential<'_, '_, '_, '_> {
    /// The offset of the marker behind the scan, if the picture needed the scan's last MCU.
    type Output = Result<Option<usize>>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<Option<usize>> {
        let Self { mut walk, reader, coders, transforms, picture, target } = self;
        let slots = slots(reader, coders, transforms, Some(&*picture));
        let mcus = reader.frame.mcus();
        let (rows, columns) = (picture.mcu_rows.clone(), picture.mcu_columns.clone());
        let mut block: RoomyBlock = [0; 256];
        for row in rows {
            skip_to(&mut walk, &slots, row * mcus.width + columns.start)?;
            for column in 0..columns.len() {
                walk.begin_mcu()?;
                decode_mcu(kernel, &mut walk, &slots, picture, (row, column), &mut block)
                    .map_err(|damage| walk.damaged(damage))?;
            }
            walk.check_row()?;
            picture.finish_rows(kernel, row, target);
        }
        if walk.mcu() == mcus.width * mcus.height { walk.finish().map(Some) } else { Ok(None) }
    }
}

/// Gets to MCU number `target` by the shortest way.
#[inline(always)]
fn skip_to(walk: &mut Walk<'_, '_>, slots: &[Slot<'_>], target: usize) -> Result<()> {
    walk.jump(target)?;
    pass_to(walk, slots, target)
}

/// Steps over all MCUs up to number `target`.
#[inline(always)]
pub(super) fn pass_to(walk: &mut Walk<'_, '_>, slots: &[Slot<'_>], target: usize) -> Result<()> {
    while walk.mcu() < target {
        walk.begin_mcu()?;
        skip_mcu(walk, slots).map_err(|damage| walk.damaged(damage))?;
    }
    Ok(())
}

#[inline(always)]
fn skip_mcu(walk: &mut Walk<'_, '_>, slots: &[Slot<'_>]) -> std::result::Result<(), Damage> {
    let mut bits = walk.bits;
    let data = walk.stream.bytes();
    let result = slots.iter().try_for_each(|slot| {
        slot.next_dc(&mut bits, data, &mut walk.predictors)?;
        slot.skip(&mut bits, data)
    });
    walk.bits = bits;
    result
}

/// Decodes the next MCU into column `column` of the picture's planes.
#[inline(always)]
fn decode_mcu<K: Kernel>(
    kernel: K,
    walk: &mut Walk<'_, '_>,
    slots: &[Slot<'_>],
    picture: &mut Picture,
    (row, column): (usize, usize),
    block: &mut RoomyBlock,
) -> std::result::Result<(), Damage> {
    let mut bits = walk.bits;
    let data = walk.stream.bytes();
    let result = slots.iter().try_for_each(|slot| {
        let dc = slot.next_dc(&mut bits, data, &mut walk.predictors)?;
        let Some((transform, origins)) = slot.output else { return slot.skip(&mut bits, data) };
        block[0] = dc as i16;
        let last = slot.ac.block(&mut bits, data, block)?;
        let plane = &mut picture.planes[slot.component];
        let stride = plane.stride();
        let samples = plane.samples_mut(origins[row % 2] + column * slot.mcu_columns);
        let Some(coefficients) = block.first_chunk_mut::<64>() else { return Ok(()) };
        transform.block(kernel, coefficients, last, samples, stride);
        clear(coefficients, last);
        Ok(())
    });
    walk.bits = bits;
    result
}

impl Slot<'_> {
    /// Decodes the block's DC.
    #[inline(always)]
    fn next_dc(&self, bits: &mut Bits, data: &[u8], predictors: &mut [i64; 3]) -> std::result::Result<i64, Damage> {
        bits.refill(data);
        let predictor = &mut predictors[self.component];
        *predictor += i64::from(self.dc.difference(bits)?);
        Ok(*predictor)
    }

    /// Steps over the rest of the block.
    #[inline(always)]
    fn skip(&self, bits: &mut Bits, data: &[u8]) -> std::result::Result<(), Damage> {
        match self.skip {
            Some(skip) => skip.block(bits, data),
            None => self.ac.block(bits, data, &mut [0; 256]).map(drop),
        }
    }
}

/// Makes a block zero again whose last coefficient is number `last`.
#[inline(always)]
fn clear(block: &mut Block, last: usize) {
    if last > 0 {
        *block = [0; 64];
    }
}

/// The blocks of an MCU in the order of the scan (T.81 A.2.3). Without a picture none of them yields samples.
pub(super) fn slots<'j>(
    reader: &Reader<'_>,
    coders: &'j [Coder],
    transforms: &'j [Transform],
    picture: Option<&Picture>,
) -> Vec<Slot<'j>> {
    let mut slots = Vec::with_capacity(10);
    for (component, (shape, coder)) in reader.frame.components.iter().zip(coders).enumerate() {
        for place in 0..shape.h * shape.v {
            let (row, column) = (place / shape.h, place % shape.h);
            let plane = picture.and_then(|picture| picture.planes.get(component));
            slots.push(Slot {
                component,
                dc: &coder.dc,
                ac: &coder.ac,
                skip: coder.skip.as_deref(),
                output: plane.map(|plane| (&transforms[component], plane.origins(column, row))),
                mcu_columns: plane.map_or(0, |plane| plane.mcu_columns()),
            });
        }
    }
    slots
}

/// Demands that what is left of the file can hold `num_blocks` blocks of `bits` bits or more, before memory is spent on them.
pub(super) fn check_plausible(reader: &Reader<'_>, scan: &Scan, num_blocks: usize, bits: usize) -> Result<()> {
    let left = reader.data.len().saturating_sub(scan.data);
    if num_blocks * bits <= left * 8 {
        return Ok(());
    }
    let expected = format!("at least {} bytes for {num_blocks} blocks", (num_blocks * bits).div_ceil(8));
    Err(ImageFault::new(ImageFaultKind::Truncated, scan.data, expected, left.to_string()))
}
