//! MCUs of a sequential scan as libjpeg-turbo decodes them, whatever the data hold.
use super::feed::{Feed, Stop};
use super::table::Table;
use crate::jpeg::header::frame::MAX_MCU_BLOCKS;
use crate::jpeg::samples::Block;
use crate::jpeg::stream::bits::extend;
use crate::jpeg::zigzag::NATURAL;

/// Bytes that must be there for each block of an MCU so that it is read without looking for the end.
const AHEAD: usize = 512;

/// The way through a scan.
pub(super) struct Mcus<'a, 't> {
    pub(super) feed: Feed<'a>,
    /// For each block of an MCU, its component and the tables of that.
    blocks: Vec<(usize, &'t Table, &'t Table)>,
    predictors: [i32; 3],
    /// MCUs of an interval; zero where there are no restarts.
    interval: usize,
    /// MCUs up to the next restart.
    until_restart: usize,
    num_restarts: usize,
    values: [Block; MAX_MCU_BLOCKS],
}

impl<'a, 't> Mcus<'a, 't> {
    /// Begins at `feed`; `blocks` are a component and its DC and AC tables for each block of an MCU.
    pub(super) fn new(feed: Feed<'a>, blocks: Vec<(usize, &'t Table, &'t Table)>, interval: usize) -> Self {
        let values = [[0; 64]; MAX_MCU_BLOCKS];
        Self { feed, blocks, predictors: [0; 3], interval, until_restart: interval, num_restarts: 0, values }
    }

    /// The coefficients of the next MCU, block by block.
    pub(super) fn decode(&mut self) -> Result<&[Block], Stop> {
        if self.interval > 0 && self.until_restart == 0 {
            self.restart()?;
        }
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        if !self.feed.is_dry() && !self.decode_ahead() {
            for index in 0..self.blocks.len() {
                self.block(index)?;
            }
            self.feed.keep();
        }
        self.until_restart = self.until_restart.saturating_sub(1);
        Ok(&self.values[..self.blocks.len()])
    }

    fn restart(&mut self) -> Result<(), Stop> {
        self.feed.restart((self.num_restarts % 8) as u8)?;
        self.num_restarts += 1;
        self.predictors = [0; 3];
        self.until_restart = self.interval;
        Ok(())
    }

    fn block(&mut self, index: usize) -> Result<(), Stop> {
        let Self { feed, blocks, predictors, values, .. } = self;
        let ((component, dc, ac), block) = (blocks[index], &mut values[index]);
        let size = dc.symbol(feed)?.into();
        let difference = if size > 0 { extend(feed.take(size)?, size) } else { 0 };
        set_dc(block, &mut predictors[component], difference);
        let mut place = 1;
        while place < 64 {
            let symbol = ac.symbol(feed)?;
            let size = u32::from(symbol & 15);
            if !step(&mut place, symbol) {
                break;
            }
            if size > 0 {
                set_ac(block, place, extend(feed.take(size)?, size));
            }
            place += 1;
        }
        Ok(())
    }

    /// Decodes an MCU far from the end; false, and nothing is done, where it is not, or where it meets a marker.
    fn decode_ahead(&mut self) -> bool {
        if self.interval > 0 || !self.feed.has(AHEAD * self.blocks.len()) {
            return false;
        }
        let (feed, predictors) = (self.feed.clone(), self.predictors);
        for index in 0..self.blocks.len() {
            self.block_ahead(index);
        }
        if self.feed.has(0) {
            self.feed.keep();
            return true;
        }
        (self.feed, self.predictors) = (feed, predictors);
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        false
    }

    fn block_ahead(&mut self, index: usize) {
        let Self { feed, blocks, predictors, values, .. } = self;
        let ((component, dc, ac), block) = (blocks[index], &mut values[index]);
        let value = |feed: &mut Feed<'_>, size: u32| {
            feed.fill_ahead();
            extend(feed.take_ready(size), size)
        };
        let size = dc.symbol_ahead(feed).into();
        let difference = if size > 0 { value(feed, size) } else { 0 };
        set_dc(block, &mut predictors[component], difference);
        let mut place = 1;
        while place < 64 {
            let symbol = ac.symbol_ahead(feed);
            let size = u32::from(symbol & 15);
            if !step(&mut place, symbol) {
                break;
            }
            if size > 0 {
                set_ac(block, place, value(feed, size));
            }
            place += 1;
        }
    }
}

/// Steps over the zeros that `symbol` tells; false where the block ends.
fn step(place: &mut usize, symbol: u8) -> bool {
    let (run, size) = (usize::from(symbol >> 4), symbol & 15);
    *place += run;
    size > 0 || run == 15
}

fn set_dc(block: &mut Block, predictor: &mut i32, difference: i32) {
    *predictor = predictor.wrapping_add(difference);
    block[0] = *predictor as i16;
}

/// Writes a coefficient; what lies beyond the block takes its last place.
fn set_ac(block: &mut Block, place: usize, value: i32) {
    block[usize::from(NATURAL[place.min(63)])] = value as i16;
}
