//! A sequential image in one scan: blocks become samples as soon as they are decoded; what no pixel needs is stepped over.
use super::decoder::TableCaches;
use super::header::Reader;
use super::header::scan::Scan;
use super::header::tables::Quantization;
use super::huffman::ac::AcTable;
use super::huffman::code::required;
use super::huffman::dc::DcTable;
use super::huffman::skip::SkipTable;
use super::mcu::{self, Blocks, Slot};
use super::picture::{Picture, Target};
use super::samples::{Dct, Job, Kernel, Layout, Transform};
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

/// The transforms of the components, as the quantization tables in `tables` demand.
pub(super) fn transforms(layout: &Layout, tables: &[Quantization], dct: Dct) -> Vec<Transform> {
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
        let mut blocks = Blocks::new();
        for row in rows {
            skip_to(&mut walk, &slots, row * mcus.width + columns.start)?;
            for column in 0..columns.len() {
                walk.begin_mcu()?;
                blocks.decode(&mut walk, &slots).map_err(|damage| walk.damaged(damage))?;
                blocks.transform(kernel, &slots, &mut picture.planes, (row, column));
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
        mcu::skip(walk, slots).map_err(|damage| walk.damaged(damage))?;
    }
    Ok(())
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
                is_read: plane.is_some() && transforms[component].needs_all(),
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
