//! Blocks of progressive scans as libjpeg-turbo decodes them, whatever the data hold (jdphuff.c).
use super::feed::{Feed, Stop};
use super::mcu::{ZEROS, value};
use super::table::Table;
use crate::jpeg::header::scan::Scan;
use crate::jpeg::samples::Block;
use crate::jpeg::zigzag::NATURAL;

/// A band of a progressive scan: its blocks one after another.
pub(super) struct Progressive<'t> {
    start: usize,
    end: usize,
    low: u32,
    is_first: bool,
    /// DC tables by place in the scan, or the AC table of its only component.
    tables: &'t [Table],
    predictors: [i32; 4],
    /// Blocks from here on without further new coefficients.
    empty: u32,
}

impl<'t> Progressive<'t> {
    /// The band of `scan`.
    pub(super) fn new(scan: &Scan, tables: &'t [Table]) -> Self {
        let (start, end, low, is_first) = (scan.start, scan.end, scan.low, scan.high == 0);
        Self { start, end, low, is_first, tables, predictors: [0; 4], empty: 0 }
    }

    /// Forgets what a restart forgets.
    pub(super) fn restart(&mut self) {
        (self.predictors, self.empty) = ([0; 4], 0);
    }

    /// Decodes the band of a block of the component at place `part` of the scan.
    pub(super) fn block(&mut self, feed: &mut Feed<'_>, part: usize, block: &mut Block) -> Result<(), Stop> {
        match (self.start, self.is_first) {
            (0, true) => self.first_dc(feed, part, block),
            (0, false) => {
                block[0] |= (feed.take(1)? << self.low) as i16;
                Ok(())
            }
            (_, true) => self.first_ac(feed, block),
            (_, false) => self.refine_ac(feed, block),
        }
    }

    fn first_dc(&mut self, feed: &mut Feed<'_>, part: usize, block: &mut Block) -> Result<(), Stop> {
        let size = self.tables[part].symbol::<false>(feed)?.into();
        let predictor = &mut self.predictors[part];
        *predictor = predictor.wrapping_add(value::<false>(feed, size)?);
        block[0] = (*predictor << self.low) as i16;
        Ok(())
    }

    fn first_ac(&mut self, feed: &mut Feed<'_>, block: &mut Block) -> Result<(), Stop> {
        if self.empty > 0 {
            self.empty -= 1;
            return Ok(());
        }
        let mut place = self.start;
        while place <= self.end {
            let symbol = self.tables[0].symbol::<false>(feed)?;
            let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < ZEROS {
                self.empty = (1 << run) + feed.take(run as u32)? - 1;
                break;
            }
            place += run;
            if size > 0 {
                // What lies beyond the block takes its last place.
                block[usize::from(NATURAL[place.min(63)])] = (value::<false>(feed, size)? << self.low) as i16;
            }
            place += 1;
        }
        Ok(())
    }

    fn refine_ac(&mut self, feed: &mut Feed<'_>, block: &mut Block) -> Result<(), Stop> {
        let mut place = self.start;
        if self.empty == 0 {
            while place <= self.end {
                let symbol = self.tables[0].symbol::<false>(feed)?;
                let (run, size) = (usize::from(symbol >> 4), symbol & 15);
                if size == 0 && run < ZEROS {
                    self.empty = (1 << run) + feed.take(run as u32)?;
                    break;
                }
                let sign = if size > 0 && feed.take(1)? == 0 { -1 } else { 1 };
                place = self.pass_zeros(feed, block, place, run)?;
                if size > 0 {
                    block[usize::from(NATURAL[place.min(63)])] = sign << self.low;
                }
                place += 1;
            }
        }
        if self.empty > 0 {
            self.pass_zeros(feed, block, place, usize::MAX)?;
            self.empty -= 1;
        }
        Ok(())
    }

    /// Refines what is not zero from `place` on until `zeros` zeros are passed; gives the place of the zero behind them, or the one
    /// behind the band.
    fn pass_zeros(
        &self,
        feed: &mut Feed<'_>,
        block: &mut Block,
        mut place: usize,
        mut zeros: usize,
    ) -> Result<usize, Stop> {
        while place <= self.end {
            let value = &mut block[usize::from(NATURAL[place])];
            if *value != 0 {
                let bit = 1 << self.low;
                if feed.take(1)? == 1 && *value & bit == 0 {
                    *value = value.wrapping_add(if *value > 0 { bit } else { -bit });
                }
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            place += 1;
        }
        Ok(place)
    }
}
