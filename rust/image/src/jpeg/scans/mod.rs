//! Images with several scans: progressive images, and sequential images with one scan per component.
pub(in crate::jpeg) mod coefficients;
mod decode;
mod smoothing;

use super::decoder::TableCaches;
use super::header::Reader;
use super::header::frame::{Coding, Scan};
use super::header::tables::Quantization;
use super::huffman::ac::AcTable;
use super::huffman::{DcTable, SymbolTable, require_table};
use super::options::{Limits, Options};
use super::output::{OutputBuffer, OutputWindow};
use super::samples::run;
use super::scan_cursor::ScanCursor;
use super::sequential::{build_transforms, check_data_len};
use super::stream::Stream;
use super::truncated::scans::TruncatedScans;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use coefficients::{Grid, Render, check_memory, padded_blocks};
use decode::{Band, ScanJob, ScanKind};
pub(in crate::jpeg) use decode::{ScanBlock, mcus, num_blocks, scan_blocks};
use smoothing::{BlockSmoothing, CoefficientBits};
use std::sync::Arc;

/// State of decoding across the scans of an image.
struct MultiScan<'j, 'a> {
    reader: &'j mut Reader<'a>,
    options: &'j Options,
    coefficient_bits: CoefficientBits,
    /// For each component, the quantization table that was defined at its first scan.
    quantization: Vec<Option<Quantization>>,
    num_scans: usize,
    num_visits: usize,
}

/// Decodes all scans from `scan` on into `grids`, then writes the pixels of `output` into `buffer`.
pub(in crate::jpeg) fn decode_scans<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    options: &Options,
    (stream, caches, grids): (&mut Stream<'a>, &mut TableCaches, &mut Vec<Grid>),
    (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
) -> Result<()> {
    let mut multi_scan = MultiScan::new(reader, options, grids)?;
    let mut next = Some(scan);
    while let Some(scan) = next {
        multi_scan.prepare_scan(&scan, grids)?;
        let end = multi_scan.decode(&scan, stream, caches, grids)?;
        next = multi_scan.reader.next_scan(end)?;
    }
    if multi_scan.reader.frame.coding == Coding::Progressive {
        multi_scan.coefficient_bits.check_complete(0)?;
    }
    multi_scan.render(grids, None, (output, buffer));
    Ok(())
}

/// Decodes all scans of a truncated file as if an end-of-image marker followed its data, then writes the pixels of
/// `output` into `buffer`.
pub(in crate::jpeg) fn decode_truncated_scans<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    options: &Options,
    grids: &mut Vec<Grid>,
    (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
) -> Result<()> {
    let mut scans = TruncatedScans::new(reader.data, &scan);
    let mut multi_scan = MultiScan::new(reader, options, grids)?;
    let (mut next, mut last_good) = (Some(scan), 0);
    while let Some(scan) = next {
        multi_scan.check_limits(&scan)?;
        multi_scan.coefficient_bits.note(&scan);
        multi_scan.allocate_grids(&scan, grids)?;
        last_good = scans.decode(multi_scan.reader, &scan, grids)?;
        next = scans.next(multi_scan.reader)?;
    }
    grids.iter_mut().for_each(|grid| grid.last.fill(63));
    let smoothing = BlockSmoothing::new(
        &multi_scan.reader.frame,
        &multi_scan.coefficient_bits,
        &multi_scan.quantization,
        last_good,
    );
    multi_scan.render(grids, smoothing, (output, buffer));
    Ok(())
}

impl<'j, 'a> MultiScan<'j, 'a> {
    fn new(reader: &'j mut Reader<'a>, options: &'j Options, grids: &mut Vec<Grid>) -> Result<Self> {
        check_memory(&reader.frame, &options.limits)?;
        let num_components = reader.frame.components.len();
        grids.resize_with(num_components, Grid::default);
        grids.iter_mut().for_each(Grid::clear);
        let (coefficient_bits, quantization) = (CoefficientBits::new(num_components), vec![None; num_components]);
        Ok(Self { reader, options, coefficient_bits, quantization, num_scans: 0, num_visits: 0 })
    }

    /// Checks `scan` against the limits and the earlier scans, and allocates the grids of its components.
    fn prepare_scan(&mut self, scan: &Scan, grids: &mut [Grid]) -> Result<()> {
        let visits = self.check_limits(scan)?;
        let is_sequential = self.reader.frame.coding == Coding::Sequential;
        if !is_sequential {
            self.coefficient_bits.add(scan)?;
        }
        let is_first = scan.components.iter().any(|component| !grids[component.index].is_allocated());
        if is_first {
            check_data_len(self.reader, scan, visits, if is_sequential { 2 } else { 1 })?;
        }
        if let Some(component) =
            scan.components.iter().find(|component| is_sequential && grids[component.index].is_allocated())
        {
            let (kind, found) = (ImageFaultKind::Unsupported, format!("component {} twice", component.index));
            return Err(ImageFault::new(kind, scan.offset, "each component in one scan", found));
        }
        self.allocate_grids(scan, grids)
    }

    /// Counts a scan and its blocks, and checks the limits. Returns the number of blocks.
    fn check_limits(&mut self, scan: &Scan) -> Result<usize> {
        let limits = &self.options.limits;
        let visits = num_blocks(&self.reader.frame, scan);
        self.num_scans += 1;
        self.num_visits += visits;
        Limits::check_limit(limits.max_scans, self.num_scans, "scans", scan.offset)?;
        Limits::check_limit(limits.max_block_visits, self.num_visits, "block visits", scan.offset)?;
        Ok(visits)
    }

    fn allocate_grids(&mut self, scan: &Scan, grids: &mut [Grid]) -> Result<()> {
        for component in &scan.components {
            self.latch_quantization(component.index, scan)?;
            grids[component.index].allocate(padded_blocks(&self.reader.frame, component.index))?;
        }
        Ok(())
    }

    /// Stores the quantization table that is defined at a component's first scan.
    fn latch_quantization(&mut self, component: usize, scan: &Scan) -> Result<()> {
        if self.quantization[component].is_none() {
            let number = self.reader.frame.components[component].table;
            let table = require_table(&self.reader.state.tables.quantization, number, "quantization", scan.offset)?;
            self.quantization[component] = Some(*table);
        }
        Ok(())
    }

    fn decode(
        &self,
        scan: &Scan,
        stream: &mut Stream<'_>,
        caches: &mut TableCaches,
        grids: &mut [Grid],
    ) -> Result<usize> {
        let frame = &self.reader.frame;
        let mcus = mcus(frame, scan);
        let tables = self.build_tables(scan, caches)?;
        let kind = self.scan_kind(scan, &tables);
        let cursor =
            ScanCursor::new(stream, scan.data, self.reader.state.restart_interval, mcus.width * mcus.height, 0, &[])?;
        run(ScanJob { cursor, frame, scan, kind, grids })
    }

    /// Transforms the stored coefficients and writes the pixels.
    fn render(
        &self,
        grids: &[Grid],
        smoothing: Option<BlockSmoothing>,
        (output, buffer): (&mut OutputWindow, &mut OutputBuffer<'_>),
    ) {
        let quantization: Vec<Quantization> = self.quantization.iter().map(|table| table.unwrap_or([0; 64])).collect();
        let transforms = &build_transforms(&output.layout, &quantization, self.options.dct);
        run(Render { grids, smoothing: smoothing.as_ref(), transforms, output, buffer });
    }

    /// Builds the lookup tables that a scan needs.
    fn build_tables(&self, scan: &Scan, caches: &mut TableCaches) -> Result<ScanTables> {
        let tables = &self.reader.state.tables;
        let is_sequential = self.reader.frame.coding == Coding::Sequential;
        let mut needed = ScanTables::default();
        for component in &scan.components {
            if scan.start == 0 && scan.high == 0 {
                needed.dc.push(
                    caches
                        .dc
                        .get(require_table(&tables.dc, component.dc, "a DC Huffman", scan.offset)?, DcTable::new)?,
                );
            }
            if scan.end > 0 {
                let spec = require_table(&tables.ac, component.ac, "an AC Huffman", scan.offset)?;
                match is_sequential {
                    true => needed.ac.push(caches.ac.get(spec, AcTable::new)?),
                    false => needed.symbols = Some(caches.symbols.get(spec, SymbolTable::new)?),
                }
            }
        }
        Ok(needed)
    }

    fn scan_kind<'t>(&self, scan: &Scan, tables: &'t ScanTables) -> ScanKind<'t> {
        let low = scan.low;
        let Some(table) = &tables.symbols else {
            return match (self.reader.frame.coding, scan.high) {
                (Coding::Sequential, _) => ScanKind::Sequential { dc: &tables.dc, ac: &tables.ac },
                (Coding::Progressive, 0) => ScanKind::FirstDc { dc: &tables.dc, low },
                (Coding::Progressive, _) => ScanKind::RefineDc { low },
            };
        };
        let band = Band { table, start: scan.start, end: scan.end, low, empty_blocks: 0 };
        if scan.high == 0 { ScanKind::FirstAc(band) } else { ScanKind::RefineAc(band) }
    }
}

/// The lookup tables of one scan. DC tables, and the AC tables of a sequential scan, are indexed by component in the
/// scan.
#[derive(Default)]
struct ScanTables {
    dc: Vec<Arc<DcTable>>,
    ac: Vec<Arc<AcTable>>,
    symbols: Option<Arc<SymbolTable>>,
}
