//! Images with several scans: progressive ones, and sequential ones with a scan per component.
mod band;
mod decode;
mod estimate;
mod progress;
pub(in crate::jpeg) mod store;

use super::decoder::TableCaches;
use super::header::Reader;
use super::header::frame::Coding;
use super::header::scan::Scan;
use super::header::tables::Quantization;
use super::huffman::ac::AcTable;
use super::huffman::code::required;
use super::huffman::dc::DcTable;
use super::huffman::symbol::SymbolTable;
use super::options::{Limits, Options};
use super::picture::{Picture, Target};
use super::samples::run;
use super::sequential::{check_plausible, transforms};
use super::stream::Stream;
use super::truncated::scan::TruncatedScans;
use super::walk::Walk;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use band::Band;
use decode::{Content, ScanJob};
pub(in crate::jpeg) use decode::{Slot, mcus, num_blocks, slots};
use estimate::Estimates;
use progress::Progress;
use std::sync::Arc;
use store::{Grid, Render, check_memory, padded_blocks};

/// What the scans read so far have brought.
struct Session<'j, 'a> {
    reader: &'j mut Reader<'a>,
    options: &'j Options,
    progress: Progress,
    /// For each component the quantization table in force at its first scan.
    quantization: Vec<Option<Quantization>>,
    num_scans: usize,
    num_visits: usize,
}

/// Decodes all scans from `scan` on into `grids`, and what `picture` needs of them into `target`.
pub(in crate::jpeg) fn decode_scans<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    options: &Options,
    (stream, caches, grids): (&mut Stream<'a>, &mut TableCaches, &mut Vec<Grid>),
    (picture, target): (&mut Picture, &mut Target<'_>),
) -> Result<()> {
    let mut session = Session::new(reader, options, grids)?;
    let mut next = Some(scan);
    while let Some(scan) = next {
        session.admit(&scan, grids)?;
        let end = session.decode(&scan, stream, caches, grids)?;
        next = session.reader.next_scan(end)?;
    }
    if session.reader.frame.coding == Coding::Progressive {
        session.progress.check_complete(0)?;
    }
    session.render(grids, None, (picture, target));
    Ok(())
}

/// The same of a file that ends too early, whose end is made up by an end marker.
pub(in crate::jpeg) fn decode_truncated_scans<'a>(
    reader: &mut Reader<'a>,
    scan: Scan,
    options: &Options,
    grids: &mut Vec<Grid>,
    (picture, target): (&mut Picture, &mut Target<'_>),
) -> Result<()> {
    let mut scans = TruncatedScans::new(reader.data, &scan);
    let mut session = Session::new(reader, options, grids)?;
    let (mut next, mut last_good) = (Some(scan), 0);
    while let Some(scan) = next {
        session.check_limits(&scan)?;
        session.progress.note(&scan);
        session.make_room(&scan, grids)?;
        last_good = scans.decode(session.reader, &scan, grids)?;
        next = scans.next(session.reader)?;
    }
    grids.iter_mut().for_each(|grid| grid.last.fill(63));
    let estimates = Estimates::new(&session.reader.frame, &session.progress, &session.quantization, last_good);
    session.render(grids, estimates, (picture, target));
    Ok(())
}

impl<'j, 'a> Session<'j, 'a> {
    fn new(reader: &'j mut Reader<'a>, options: &'j Options, grids: &mut Vec<Grid>) -> Result<Self> {
        check_memory(&reader.frame, &options.limits)?;
        let num_components = reader.frame.components.len();
        grids.resize_with(num_components, Grid::default);
        grids.iter_mut().for_each(Grid::clear);
        let (progress, quantization) = (Progress::new(num_components), vec![None; num_components]);
        Ok(Self { reader, options, progress, quantization, num_scans: 0, num_visits: 0 })
    }

    /// Checks `scan` against limits and earlier scans, and makes room for its components.
    fn admit(&mut self, scan: &Scan, grids: &mut [Grid]) -> Result<()> {
        let visits = self.check_limits(scan)?;
        let is_sequential = self.reader.frame.coding == Coding::Sequential;
        if !is_sequential {
            self.progress.add(scan)?;
        }
        let is_first = scan.parts.iter().any(|part| !grids[part.component].is_set_up());
        if is_first {
            check_plausible(self.reader, scan, visits, if is_sequential { 2 } else { 1 })?;
        }
        if let Some(part) = scan.parts.iter().find(|part| is_sequential && grids[part.component].is_set_up()) {
            let (kind, found) = (ImageFaultKind::Unsupported, format!("component {} twice", part.component));
            return Err(ImageFault::new(kind, scan.offset, "each component in one scan", found));
        }
        self.make_room(scan, grids)
    }

    /// Counts a scan and the blocks that it visits, which it gives.
    fn check_limits(&mut self, scan: &Scan) -> Result<usize> {
        let limits = &self.options.limits;
        let visits = num_blocks(&self.reader.frame, scan);
        self.num_scans += 1;
        self.num_visits += visits;
        Limits::check(limits.max_scans, self.num_scans, "scans", scan.offset)?;
        Limits::check(limits.max_block_visits, self.num_visits, "visits of blocks", scan.offset)?;
        Ok(visits)
    }

    fn make_room(&mut self, scan: &Scan, grids: &mut [Grid]) -> Result<()> {
        for part in &scan.parts {
            self.latch(part.component, scan)?;
            grids[part.component].set_up(padded_blocks(&self.reader.frame, part.component));
        }
        Ok(())
    }

    /// Keeps the quantization table that is in force at a component's first scan.
    fn latch(&mut self, component: usize, scan: &Scan) -> Result<()> {
        if self.quantization[component].is_none() {
            let number = self.reader.frame.components[component].table;
            let table = required(&self.reader.state.tables.quantization, number, "quantization", scan.offset)?;
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
        let tables = self.tables(scan, caches)?;
        let content = self.content(scan, &tables);
        let walk = Walk::new(stream, scan.data, self.reader.state.restart_interval, mcus.width * mcus.height, 0, &[])?;
        run(ScanJob { walk, frame, scan, content, grids })
    }

    /// Makes the picture of what the scans have brought.
    fn render(&self, grids: &[Grid], estimates: Option<Estimates>, (picture, target): (&mut Picture, &mut Target<'_>)) {
        let quantization: Vec<Quantization> = self.quantization.iter().map(|table| table.unwrap_or([0; 64])).collect();
        let transforms = &transforms(&picture.layout, &quantization, self.options.dct);
        run(Render { grids, estimates: estimates.as_ref(), transforms, picture, target });
    }

    /// The tables that a scan needs.
    fn tables(&self, scan: &Scan, caches: &mut TableCaches) -> Result<ScanTables> {
        let tables = &self.reader.state.tables;
        let is_sequential = self.reader.frame.coding == Coding::Sequential;
        let mut needed = ScanTables::default();
        for part in &scan.parts {
            if scan.start == 0 && scan.high == 0 {
                needed
                    .dc
                    .push(caches.dc.get(required(&tables.dc, part.dc, "a DC Huffman", scan.offset)?, DcTable::new)?);
            }
            if scan.end > 0 {
                let spec = required(&tables.ac, part.ac, "an AC Huffman", scan.offset)?;
                match is_sequential {
                    true => needed.ac.push(caches.ac.get(spec, AcTable::new)?),
                    false => needed.symbols = Some(caches.symbols.get(spec, SymbolTable::new)?),
                }
            }
        }
        Ok(needed)
    }

    fn content<'t>(&self, scan: &Scan, tables: &'t ScanTables) -> Content<'t> {
        let low = scan.low;
        let Some(table) = &tables.symbols else {
            return match (self.reader.frame.coding, scan.high) {
                (Coding::Sequential, _) => Content::Sequential { dc: &tables.dc, ac: &tables.ac },
                (Coding::Progressive, 0) => Content::FirstDc { dc: &tables.dc, low },
                (Coding::Progressive, _) => Content::RefineDc { low },
            };
        };
        let band = Band { table, start: scan.start, end: scan.end, low, empty: 0 };
        if scan.high == 0 { Content::FirstAc(band) } else { Content::RefineAc(band) }
    }
}

/// The tables of one scan; those of a sequential scan and of DC by place in the scan.
#[derive(Default)]
struct ScanTables {
    dc: Vec<Arc<DcTable>>,
    ac: Vec<Arc<AcTable>>,
    symbols: Option<Arc<SymbolTable>>,
}
