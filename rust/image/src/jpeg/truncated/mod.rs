//! Files that end too early: their pixels as libjpeg-turbo gives them to a program that lets them pass.
//!
//! What lies in front of the end is as in the whole file, but for the last MCUs; how those and all behind them come out depends on
//! how far libjpeg-turbo has read ahead, which is followed here step by step.
mod feed;
mod mcu;
mod progressive;
pub(in crate::jpeg) mod scan;
mod table;

use super::header::Reader;
use super::header::marker::{APP0, APP15, COM, DNL, EOI, RST0, RST7, TEM};
use super::header::scan::{Part, Scan};
use super::huffman::code::required;
use super::picture::{Picture, Target};
use super::samples::{Component, Enlarge, Job, Kernel, Scale, Transform};
use super::sequential::{Coder, slots};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use feed::{Feed, Stop};
use mcu::Mcus;
use table::Table;

/// The decoding of one scan into a picture.
pub(super) struct Truncated<'j, 'a, 't> {
    pub(super) reader: &'j Reader<'a>,
    pub(super) scan: &'j Scan,
    /// Whether the missing end is made up.
    pub(super) recovers: bool,
    pub(super) scale: Scale,
    pub(super) coders: &'j [Coder],
    pub(super) transforms: &'j [Transform],
    pub(super) picture: &'j mut Picture,
    pub(super) target: &'j mut Target<'t>,
}

impl Job for Truncated<'_, '_, '_> {
    /// Rows of the image that come of the data, those above the picture's included.
    type Output = Result<usize>;

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) -> Result<usize> {
        let tables = self.tables()?;
        let feed = Feed::new(self.reader.data, self.scan.data, self.recovers);
        let shapes = self.reader.frame.components.iter().enumerate();
        let blocks = shapes.flat_map(|(component, shape)| {
            let (dc, ac) = &tables[component];
            std::iter::repeat_n((component, dc, ac), shape.h * shape.v)
        });
        let mut mcus = Mcus::new(feed, blocks.collect(), self.reader.state.restart_interval);
        let size = self.reader.frame.mcus();
        let wanted = self.picture.window.y + self.picture.window.height;
        for row in 0..size.height {
            match self.decode_row(kernel, &mut mcus, row) {
                Err(Stop::Waits) => return self.rows_in_front(row, &mcus.feed),
                Err(Stop::Fails) => return Err(failed(&mcus.feed)),
                Ok(()) if self.num_rows(row + 1) >= wanted && row + 1 < size.height => return Ok(wanted),
                Ok(()) => {}
            }
        }
        if wanted == self.picture.layout.size.height {
            expect_end(&mut mcus.feed)?;
        }
        Ok(wanted)
    }
}

impl Truncated<'_, '_, '_> {
    /// DC and AC table of each component.
    fn tables(&self) -> Result<Vec<(Table, Table)>> {
        let (tables, offset) = (&self.reader.state.tables, self.scan.offset);
        let of_part = |part: &Part| {
            let dc = required(&tables.dc, part.dc, "a DC Huffman", offset)?;
            let ac = required(&tables.ac, part.ac, "an AC Huffman", offset)?;
            Ok((Table::new(dc), Table::new(ac)))
        };
        self.scan.parts.iter().map(of_part).collect()
    }

    /// Decodes a row of MCUs, and makes those pixels that it was the last to be missing for.
    #[inline(always)]
    fn decode_row<K: Kernel>(
        &mut self,
        kernel: K,
        mcus: &mut Mcus<'_, '_>,
        row: usize,
    ) -> std::result::Result<(), Stop> {
        let slots = slots(self.reader, self.coders, self.transforms, Some(&*self.picture));
        let Self { reader, picture, target, .. } = self;
        let columns = picture.mcu_columns.clone();
        let is_shown = picture.mcu_rows.contains(&row);
        for column in 0..reader.frame.mcus().width {
            let blocks = mcus.decode()?;
            if !is_shown || !columns.contains(&column) {
                continue;
            }
            for (slot, block) in slots.iter().zip(blocks) {
                let Some((transform, origins)) = slot.output else { continue };
                let plane = &mut picture.planes[slot.component];
                let stride = plane.stride();
                let origin = origins[row % 2] + (column - columns.start) * slot.mcu_columns;
                transform.block(kernel, block, 63, plane.samples_mut(origin), stride);
            }
        }
        if is_shown {
            picture.finish_rows(kernel, row, target);
        }
        Ok(())
    }

    /// The rows that `num_mcu_rows` rows of MCUs give, where no more come. Rows above a window that share samples are read one by one,
    /// and libjpeg is lost among them.
    fn rows_in_front(&self, num_mcu_rows: usize, feed: &Feed<'_>) -> Result<usize> {
        let rows = self.num_rows(num_mcu_rows);
        let is_shared = self.used().iter().any(|component| component.enlarge.factors().1 > 1);
        if is_shared && rows < self.picture.window.y { Err(failed(feed)) } else { Ok(rows) }
    }

    /// The components that pixels are made of.
    fn used(&self) -> &[Component] {
        &self.picture.layout.components[..self.picture.planes.len()]
    }

    /// Rows that libjpeg gives once `num_mcu_rows` rows of MCUs are decoded: where rows are mixed with those below, all but the last
    /// ones that share samples.
    fn num_rows(&self, num_mcu_rows: usize) -> usize {
        let (frame, layout) = (&self.reader.frame, &self.picture.layout);
        if num_mcu_rows == frame.mcus().height {
            return layout.size.height;
        }
        let is_mixed =
            |component: &Component| matches!(component.enlarge, Enlarge::TriangleDown | Enlarge::TriangleBoth);
        let is_mixed = self.used().iter().any(is_mixed);
        let groups = (num_mcu_rows * self.scale.edge()).saturating_sub(is_mixed.into());
        (groups * frame.max_v).min(layout.size.height)
    }
}

/// Reads on behind the last MCU, as libjpeg does in the end. What the data hold there without an end marker is of no use.
fn expect_end(feed: &mut Feed<'_>) -> Result<()> {
    loop {
        let passed = match feed.pass_marker() {
            Ok(EOI) => return Ok(()),
            Ok(code) => skip_between(feed, code),
            Err(stop) => Err(stop),
        };
        match passed {
            Ok(()) => {}
            Err(Stop::Waits) => return Ok(()),
            Err(Stop::Fails) => return Err(failed(feed)),
        }
    }
}

/// Passes what may follow marker `code` behind the data of a scan and is of no consequence.
fn skip_between(feed: &mut Feed<'_>, code: u8) -> std::result::Result<(), Stop> {
    match code {
        TEM | RST0..=RST7 => Ok(()),
        APP0..=APP15 | COM | DNL => feed.skip_segment(),
        _ => Err(Stop::Fails),
    }
}

fn failed(feed: &Feed<'_>) -> ImageFault {
    ImageFault::new(ImageFaultKind::Truncated, feed.offset(), "more data", "an end that cannot be made up")
}
