//! MCUs of a sequential scan as libjpeg-turbo decodes them, whatever the data hold.
use super::feed::{Feed, Stop};
use super::table::Table;
use crate::jpeg::header::frame::MAX_MCU_BLOCKS;
use crate::jpeg::samples::Block;
use crate::jpeg::stream::bits::extend;
use crate::jpeg::zigzag::NATURAL;

/// Bytes that must be there for each block of an MCU so that it is read without looking for the end.
const AHEAD: usize = 512;
/// Run of a symbol without value that stands for sixteen zeros; smaller ones end the block.
pub(super) const ZEROS: usize = 15;

/// The way through a scan.
pub(super) struct Mcus<'a, 't> {
    pub(super) feed: Feed<'a>,
    /// For each block of an MCU, its component and the tables of that.
    blocks: Vec<(usize, &'t Table, &'t Table)>,
    predictors: [i32; 4],
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
        Self { feed, blocks, predictors: [0; 4], interval, until_restart: interval, num_restarts: 0, values }
    }

    /// The coefficients of the next MCU, block by block.
    pub(super) fn decode(&mut self) -> Result<&[Block], Stop> {
        if self.interval > 0 && self.until_restart == 0 {
            self.restart()?;
        }
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        if !self.feed.is_dry() && !self.decode_ahead() {
            for index in 0..self.blocks.len() {
                self.block::<false>(index)?;
            }
            self.feed.keep();
        }
        self.until_restart = self.until_restart.saturating_sub(1);
        Ok(&self.values[..self.blocks.len()])
    }

    fn restart(&mut self) -> Result<(), Stop> {
        self.feed.restart((self.num_restarts % 8) as u8)?;
        self.num_restarts += 1;
        self.predictors = [0; 4];
        self.until_restart = self.interval;
        Ok(())
    }

    /// Decodes block `index` of an MCU; `AHEAD` tells whether enough bytes are there.
    fn block<const AHEAD: bool>(&mut self, index: usize) -> Result<(), Stop> {
        let Self { feed, blocks, predictors, values, .. } = self;
        let ((component, dc, ac), block) = (blocks[index], &mut values[index]);
        let size = dc.symbol::<AHEAD>(feed)?.into();
        predictors[component] = predictors[component].wrapping_add(value::<AHEAD>(feed, size)?);
        block[0] = predictors[component] as i16;
        let mut place = 1;
        while place < 64 {
            let symbol = ac.symbol::<AHEAD>(feed)?;
            let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < ZEROS {
                break;
            }
            place += run;
            if size > 0 {
                // What lies beyond the block takes its last place.
                block[usize::from(NATURAL[place.min(63)])] = value::<AHEAD>(feed, size)? as i16;
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
        let decoded = (0..self.blocks.len()).try_for_each(|index| self.block::<true>(index));
        if decoded.is_ok() && self.feed.has(0) {
            self.feed.keep();
            return true;
        }
        (self.feed, self.predictors) = (feed, predictors);
        self.values = [[0; 64]; MAX_MCU_BLOCKS];
        false
    }
}

/// The number that `size` bits stand for.
pub(super) fn value<const AHEAD: bool>(feed: &mut Feed<'_>, size: u32) -> Result<i32, Stop> {
    if size == 0 {
        return Ok(0);
    }
    if AHEAD {
        feed.fill_ahead();
    }
    Ok(extend(feed.take(size)?, size))
}
