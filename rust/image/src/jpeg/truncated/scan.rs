//! Images of several scans that end too early: each scan into the store of coefficients, and what stands between them.
use super::feed::{Feed, Stop};
use super::mcu::Mcus;
use super::progressive::Progressive;
use super::table::Table;
use super::{failed, skip_between};
use crate::fault::Result;
use crate::jpeg::header::Reader;
use crate::jpeg::header::frame::Coding;
use crate::jpeg::header::marker::Bytes;
use crate::jpeg::header::marker::{DHT, DQT, DRI, EOI, SOS};
use crate::jpeg::header::scan::Scan;
use crate::jpeg::huffman::code::Code;
use crate::jpeg::huffman::code::required;
use crate::jpeg::huffman::dc::DcTable;
use crate::jpeg::scans::store::Grid;
use crate::jpeg::scans::{Slot, mcus, slots};
use crate::pixels::Size;

/// The way through a file whose end is made up by an end marker.
pub(in crate::jpeg) struct TruncatedScans<'a> {
    feed: Feed<'a>,
}

impl<'a> TruncatedScans<'a> {
    /// Begins with the data of the first scan.
    pub(in crate::jpeg) fn new(data: &'a [u8], first: &Scan) -> Self {
        Self { feed: Feed::new(data, first.data, true) }
    }

    /// Decodes `scan`; gives the last row of MCUs that its data reached.
    pub(in crate::jpeg) fn decode(&mut self, reader: &Reader<'_>, scan: &Scan, grids: &mut [Grid]) -> Result<usize> {
        let (dc, ac) = tables(reader, scan)?;
        let shape = Shape { mcus: mcus(&reader.frame, scan), slots: slots(&reader.frame, scan) };
        let interval = reader.state.restart_interval;
        let reached = match reader.frame.coding {
            Coding::Sequential => self.sequential(&shape, (&dc, &ac), interval, grids),
            Coding::Progressive => self.progressive(
                &shape,
                Progressive::new(scan, if scan.start == 0 { &dc } else { &ac }),
                interval,
                grids,
            ),
        };
        let rows_down = match &scan.parts[..] {
            [only] => reader.frame.components[only.component].v,
            _ => 1,
        };
        reached.map(|row| row / rows_down).map_err(|_| failed(&self.feed))
    }

    fn sequential(
        &mut self,
        shape: &Shape,
        (dc, ac): (&[Table], &[Table]),
        interval: usize,
        grids: &mut [Grid],
    ) -> std::result::Result<usize, Stop> {
        let blocks = shape.slots.iter().map(|slot| (slot.part, &dc[slot.part], &ac[slot.part]));
        let mut mcus = Mcus::new(self.feed.clone(), blocks.collect(), interval);
        let mut reached = 0;
        for (row, column) in shape.places() {
            reached = if mcus.feed.is_dry() { reached } else { row };
            for (slot, block) in shape.slots.iter().zip(mcus.decode()?) {
                *slot.block_mut(grids, row, column) = *block;
            }
        }
        self.feed = mcus.feed;
        Ok(reached)
    }

    fn progressive(
        &mut self,
        shape: &Shape,
        mut band: Progressive<'_>,
        interval: usize,
        grids: &mut [Grid],
    ) -> std::result::Result<usize, Stop> {
        let feed = &mut self.feed;
        let mut reached = 0;
        for (number, (row, column)) in shape.places().enumerate() {
            reached = if feed.is_dry() { reached } else { row };
            if let Some(restarts) = number.checked_div(interval)
                && restarts > 0
                && number % interval == 0
            {
                feed.restart(((restarts - 1) % 8) as u8)?;
                band.restart();
            }
            if feed.is_dry() {
                continue;
            }
            for slot in &shape.slots {
                band.block(feed, slot.part, slot.block_mut(grids, row, column))?;
            }
            feed.keep();
        }
        Ok(reached)
    }

    /// Reads on up to the next scan, whose data come next; none at the end of the image.
    pub(in crate::jpeg) fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<Scan>> {
        loop {
            let code = self.feed.pass_marker().map_err(|_| failed(&self.feed))?;
            match code {
                EOI => return Ok(None),
                SOS | DHT | DQT | DRI => {
                    let segment = self.feed.segment().map_err(|_| failed(&self.feed))?;
                    let bytes = Bytes::new(&segment, self.feed.offset());
                    if code == SOS {
                        self.feed.begin_scan();
                        return Scan::read(&reader.frame, bytes).map(Some);
                    }
                    reader.state.take_over(code, bytes)?;
                }
                other => skip_between(&mut self.feed, other).map_err(|_| failed(&self.feed))?,
            }
        }
    }
}

/// The blocks of a scan.
struct Shape {
    mcus: Size,
    slots: Vec<Slot>,
}

impl Shape {
    /// Row and column of each MCU, in order.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let Size { width, height } = self.mcus;
        (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
    }
}

/// DC and AC tables that a scan needs, by place in the scan.
fn tables(reader: &Reader<'_>, scan: &Scan) -> Result<(Vec<Table>, Vec<Table>)> {
    let known = &reader.state.tables;
    let (mut dc, mut ac) = (Vec::new(), Vec::new());
    for part in &scan.parts {
        if scan.start == 0 && scan.high == 0 {
            let spec = required(&known.dc, part.dc, "a DC Huffman", scan.offset)?;
            DcTable::new(spec)?;
            dc.push(Table::new(spec));
        }
        if scan.end > 0 {
            let spec = required(&known.ac, part.ac, "an AC Huffman", scan.offset)?;
            Code::new(spec)?;
            ac.push(Table::new(spec));
        }
    }
    Ok((dc, ac))
}
