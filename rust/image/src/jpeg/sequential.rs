//! Decoding of a sequential image in one scan. Blocks are transformed to samples as soon as they are decoded; blocks
//! that no output pixel needs are skipped.
use super::decoder::TableCaches;
use super::header::Reader;
use super::header::frame::{MAX_MCU_BLOCKS, Scan};
use super::header::tables::Quantization;
use super::huffman::ac::{AcTable, PADDED_BLOCK_LEN, SkipTable};
use super::huffman::{BlockError, DcTable, require_table};
use super::output::{OutputBuffer, OutputWindow, Plane};
use super::samples::{Dct, Job, Kernel, Layout, Transform};
use super::scan_cursor::ScanCursor;
use super::stream::BitReader;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use std::sync::Arc;

/// The Huffman tables of one component.
pub(super) struct ComponentTables {
    dc: Arc<DcTable>,
    ac: Arc<AcTable>,
    /// Table that skips AC coefficients; `None` if all blocks of the component are needed.
    skip: Option<Arc<SkipTable>>,
}

/// Builds the tables of a scan's components; `skips` states whether blocks will be skipped.
pub(super) fn build_component_tables(
    reader: &Reader<'_>,
    scan: &Scan,
    caches: &mut TableCaches,
    skips: bool,
) -> Result<Vec<ComponentTables>> {
    let tables = &reader.state.tables;
    let mut component_tables = Vec::with_capacity(scan.components.len());
    for component in &scan.components {
        let dc = require_table(&tables.dc, component.dc, "a DC Huffman", scan.offset)?;
        let ac = require_table(&tables.ac, component.ac, "an AC Huffman", scan.offset)?;
        let skip = if skips { Some(caches.skip.get(ac, SkipTable::new)?) } else { None };
        component_tables.push(ComponentTables {
            dc: caches.dc.get(dc, DcTable::new)?,
            ac: caches.ac.get(ac, AcTable::new)?,
            skip,
        });
    }
    Ok(component_tables)
}

/// Builds the inverse transforms of the components from the quantization tables in `tables`.
pub(super) fn build_transforms(layout: &Layout, tables: &[Quantization], dct: Dct) -> Vec<Transform> {
    layout.components.iter().zip(tables).map(|(component, table)| Transform::new(dct, component.block, table)).collect()
}

/// The job of decoding one scan into the output.
pub(super) struct Sequential<'j, 's, 'a, 't> {
    pub(super) cursor: ScanCursor<'s, 'a>,
    pub(super) reader: &'j Reader<'a>,
    pub(super) component_tables: &'j [ComponentTables],
    pub(super) transforms: &'j [Transform],
    pub(super) output: &'j mut OutputWindow,
    pub(super) buffer: &'j mut OutputBuffer<'t>,
}

impl Job for Sequential<'_, '_, '_, '_> {
    /// Byte offset in the file of the marker after the scan; `None` if the output did not need the scan's last MCU.
    type Output = Result<Option<usize>>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<Option<usize>> {
        let Self { mut cursor, reader, component_tables, transforms, output, buffer } = self;
        let mcu_blocks = mcu_blocks(reader, component_tables, transforms, Some(&*output));
        let mcus = reader.frame.mcus();
        let (rows, columns) = (output.mcu_rows.clone(), output.mcu_columns.clone());
        let mut blocks = McuBuffer::new();
        for row in rows {
            seek_to(&mut cursor, &mcu_blocks, row * mcus.width + columns.start)?;
            for column in 0..columns.len() {
                cursor.begin_mcu()?;
                blocks.decode(&mut cursor, &mcu_blocks).map_err(|error| cursor.block_fault(error))?;
                blocks.transform(kernel, &mcu_blocks, &mut output.planes, (row, column));
            }
            cursor.check_row()?;
            output.finish_rows(kernel, row, buffer);
        }
        if cursor.mcu() == mcus.width * mcus.height { cursor.finish().map(Some) } else { Ok(None) }
    }
}

/// Moves to MCU number `target`: jumps as far as possible and skips the remaining MCUs.
#[inline(always)]
fn seek_to(cursor: &mut ScanCursor<'_, '_>, mcu_blocks: &[McuBlock<'_>], target: usize) -> Result<()> {
    cursor.seek(target)?;
    skip_to(cursor, mcu_blocks, target)
}

/// Skips all MCUs before MCU number `target`.
#[inline(always)]
pub(super) fn skip_to(cursor: &mut ScanCursor<'_, '_>, mcu_blocks: &[McuBlock<'_>], target: usize) -> Result<()> {
    while cursor.mcu() < target {
        cursor.begin_mcu()?;
        skip_mcu(cursor, mcu_blocks).map_err(|error| cursor.block_fault(error))?;
    }
    Ok(())
}

/// Returns the blocks of an MCU in scan order (T.81 A.2.3). Without an output, no block is transformed to samples.
pub(super) fn mcu_blocks<'j>(
    reader: &Reader<'_>,
    component_tables: &'j [ComponentTables],
    transforms: &'j [Transform],
    output: Option<&OutputWindow>,
) -> Vec<McuBlock<'j>> {
    let mut mcu_blocks = Vec::with_capacity(10);
    for (component, (shape, tables)) in reader.frame.components.iter().zip(component_tables).enumerate() {
        for index in 0..shape.h * shape.v {
            let (row, column) = (index / shape.h, index % shape.h);
            let plane = output.and_then(|output| output.planes.get(component));
            mcu_blocks.push(McuBlock {
                component,
                dc: &tables.dc,
                ac: &tables.ac,
                skip: tables.skip.as_deref(),
                needs_ac: plane.is_some() && transforms[component].needs_ac(),
                destination: plane.map(|plane| (&transforms[component], plane.origins(column, row))),
                mcu_columns: plane.map_or(0, |plane| plane.mcu_columns()),
            });
        }
    }
    mcu_blocks
}

/// Checks that the rest of the file can hold `num_blocks` blocks of at least `bits` bits each, before memory is
/// allocated for them.
pub(super) fn check_data_len(reader: &Reader<'_>, scan: &Scan, num_blocks: usize, bits: usize) -> Result<()> {
    let left = reader.data.len().saturating_sub(scan.data);
    if num_blocks * bits <= left * 8 {
        return Ok(());
    }
    let expected = format!("at least {} bytes for {num_blocks} blocks", (num_blocks * bits).div_ceil(8));
    Err(ImageFault::new(ImageFaultKind::Truncated, scan.data, expected, left.to_string()))
}

/// Distance between the blocks in an `McuBuffer`: 64 coefficients, plus index 64, which receives ignored writes.
const BLOCK_PITCH: usize = 80;

/// Describes one block of an MCU. All MCUs of a scan have the same blocks.
pub(super) struct McuBlock<'a> {
    pub(super) component: usize,
    pub(super) dc: &'a DcTable,
    pub(super) ac: &'a AcTable,
    pub(super) skip: Option<&'a SkipTable>,
    /// Whether the samples depend on the block's AC coefficients.
    pub(super) needs_ac: bool,
    /// The transform, and the index in the component plane at which the samples of this block begin, for the window's
    /// first MCU in even and in odd rows of MCUs. `None` if the output does not need the component.
    pub(super) destination: Option<(&'a Transform, [usize; 2])>,
    /// Number of sample columns in one MCU.
    pub(super) mcu_columns: usize,
}

/// The coefficients of one MCU. All are zero before an MCU is decoded.
///
/// All blocks of an MCU are decoded before any is transformed, for two reasons. A vector load stalls if it reads
/// coefficients that were just written one by one. And the processor overlaps consecutive transforms.
#[repr(align(32))]
pub(super) struct McuBuffer {
    values: [i16; (MAX_MCU_BLOCKS - 1) * BLOCK_PITCH + PADDED_BLOCK_LEN],
    /// For each block, the zig-zag index of its last nonzero coefficient.
    last_indices: [u8; MAX_MCU_BLOCKS],
}

impl McuBuffer {
    pub(super) fn new() -> Self {
        Self { values: [0; (MAX_MCU_BLOCKS - 1) * BLOCK_PITCH + PADDED_BLOCK_LEN], last_indices: [0; MAX_MCU_BLOCKS] }
    }

    /// Decodes the coefficients of the next MCU.
    #[inline(always)]
    pub(super) fn decode(
        &mut self,
        cursor: &mut ScanCursor<'_, '_>,
        mcu_blocks: &[McuBlock<'_>],
    ) -> Result<(), BlockError> {
        let mut bits = cursor.bits;
        let result = self.decode_blocks(&mut bits, cursor.stream.bytes(), &mut cursor.predictors, mcu_blocks);
        cursor.bits = bits;
        result
    }

    #[inline(always)]
    fn decode_blocks(
        &mut self,
        bits: &mut BitReader,
        data: &[u8],
        predictors: &mut [i64; 4],
        mcu_blocks: &[McuBlock<'_>],
    ) -> Result<(), BlockError> {
        for (index, (mcu_block, last)) in mcu_blocks.iter().zip(&mut self.last_indices).enumerate() {
            let dc = mcu_block.next_dc(bits, data, predictors)?;
            let block = self.values[index * BLOCK_PITCH..].first_chunk_mut();
            if let (true, Some(block)) = (mcu_block.needs_ac, block) {
                block[0] = dc as i16;
                *last = mcu_block.ac.decode_block(bits, data, block)? as u8;
            } else {
                (self.values[index * BLOCK_PITCH], *last) = (dc as i16, 0);
                mcu_block.skip_ac(bits, data)?;
            }
        }
        Ok(())
    }

    /// Applies the inverse DCT to the decoded blocks of one MCU, and writes the samples to the component planes. `row`
    /// and `column` are the position of the MCU; `column` counts from the first MCU of the window.
    #[inline(always)]
    pub(super) fn transform<K: Kernel>(
        &mut self,
        kernel: K,
        mcu_blocks: &[McuBlock<'_>],
        planes: &mut [Plane],
        (row, column): (usize, usize),
    ) {
        for (index, (mcu_block, &last)) in mcu_blocks.iter().zip(&self.last_indices).enumerate() {
            let block = self.values[index * BLOCK_PITCH..].first_chunk_mut();
            let (Some((transform, origins)), Some(block)) = (mcu_block.destination, block) else { continue };
            let plane = &mut planes[mcu_block.component];
            let stride = plane.stride();
            let samples = plane.samples_mut(origins[row % 2] + column * mcu_block.mcu_columns);
            transform.apply(kernel, block, last.into(), samples, stride);
            *block = [0; 64];
        }
    }
}

/// Skips the next MCU.
#[inline(always)]
pub(super) fn skip_mcu(cursor: &mut ScanCursor<'_, '_>, mcu_blocks: &[McuBlock<'_>]) -> Result<(), BlockError> {
    let mut bits = cursor.bits;
    let result = skip_blocks(&mut bits, cursor.stream.bytes(), &mut cursor.predictors, mcu_blocks);
    cursor.bits = bits;
    result
}

#[inline(always)]
fn skip_blocks(
    bits: &mut BitReader,
    data: &[u8],
    predictors: &mut [i64; 4],
    mcu_blocks: &[McuBlock<'_>],
) -> Result<(), BlockError> {
    for mcu_block in mcu_blocks {
        mcu_block.next_dc(bits, data, predictors)?;
        mcu_block.skip_ac(bits, data)?;
    }
    Ok(())
}

impl McuBlock<'_> {
    /// Decodes the DC coefficient of the block.
    #[inline(always)]
    fn next_dc(&self, bits: &mut BitReader, data: &[u8], predictors: &mut [i64; 4]) -> Result<i64, BlockError> {
        bits.refill(data);
        let predictor = &mut predictors[self.component];
        *predictor += i64::from(self.dc.difference(bits)?);
        Ok(*predictor)
    }

    /// Skips the AC coefficients of the block.
    #[inline(always)]
    fn skip_ac(&self, bits: &mut BitReader, data: &[u8]) -> Result<(), BlockError> {
        match self.skip {
            Some(skip) => skip.skip_block(bits, data),
            None => self.ac.decode_block(bits, data, &mut [0; PADDED_BLOCK_LEN]).map(drop),
        }
    }
}
