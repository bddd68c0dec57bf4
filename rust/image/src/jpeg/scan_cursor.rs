//! The way through a scan's MCUs: intervals, predictors, and the shortcuts to a later MCU.
use super::huffman::BlockError;
use super::stream::{Bits, Stream};
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// An MCU at which decoding can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryPoint {
    /// Its number in the scan.
    pub(super) mcu: usize,
    /// The byte of the image in which it begins.
    pub(super) offset: usize,
    /// How many bits of that byte belong to its predecessor.
    pub(super) bit: u32,
    /// DC of the block before it, for each component.
    pub(super) predictors: [i64; 4],
}

/// Where in a scan the decoder stands.
pub(super) struct ScanCursor<'s, 'a> {
    pub(super) stream: &'s mut Stream<'a>,
    pub(super) bits: Bits,
    pub(super) predictors: [i64; 4],
    /// The next MCU.
    mcu: usize,
    num_mcus: usize,
    /// MCUs of an interval; all of the scan where there are no restarts.
    interval: usize,
    /// The MCU before which the next restart marker stands.
    interval_end: usize,
    limit: usize,
    points: &'s [EntryPoint],
}

impl<'s, 'a> ScanCursor<'s, 'a> {
    /// Begins in a scan of `num_mcus` whose data start at byte `offset`, at the last place up to MCU `target` that can be reached
    /// without decoding. `points` are such points, in order.
    pub(super) fn new(
        stream: &'s mut Stream<'a>,
        offset: usize,
        interval: usize,
        num_mcus: usize,
        target: usize,
        points: &'s [EntryPoint],
    ) -> Result<Self> {
        let interval = if interval == 0 { num_mcus } else { interval };
        stream.clear();
        let start = EntryPoint { mcu: 0, offset, bit: 0, predictors: [0; 4] };
        let mut cursor = Self {
            stream,
            bits: Bits::new(0),
            predictors: [0; 4],
            mcu: 0,
            num_mcus,
            interval,
            interval_end: 0,
            limit: 0,
            points,
        };
        let point = cursor.find_entry_point(start, target)?.unwrap_or(start);
        cursor.start_at(point);
        Ok(cursor)
    }

    /// The next MCU.
    #[inline(always)]
    pub(super) fn mcu(&self) -> usize {
        self.mcu
    }

    /// Prepares for the next MCU; tells whether it is the first of a restart interval.
    #[inline(always)]
    pub(super) fn begin_mcu(&mut self) -> Result<bool> {
        let is_restart = self.mcu == self.interval_end;
        if is_restart {
            self.restart()?;
        }
        if self.bits.next_byte() > self.limit {
            self.refill()?;
        }
        self.mcu += 1;
        Ok(is_restart)
    }

    /// Goes to the last place up to MCU `target` that can be reached without decoding.
    pub(super) fn seek(&mut self, target: usize) -> Result<()> {
        if self.mcu >= target {
            return Ok(());
        }
        if self.mcu == self.interval_end {
            self.restart()?;
        }
        let here = EntryPoint { mcu: self.mcu, offset: self.stream.raw_next(), bit: 0, predictors: self.predictors };
        if let Some(point) = self.find_entry_point(here, target)? {
            self.start_at(point);
        }
        Ok(())
    }

    /// Where the cursor stands, so that it can begin there another time.
    pub(super) fn entry_point(&mut self) -> Result<EntryPoint> {
        if self.mcu == self.interval_end && self.mcu < self.num_mcus {
            self.restart()?;
        }
        let (offset, bit) = self.stream.raw_position(self.bits);
        Ok(EntryPoint { mcu: self.mcu, offset, bit, predictors: self.predictors })
    }

    /// Behind a row of MCUs: checks that the data did not end within it, and that predictors stay within the 32 bits that other
    /// decoders hold them in.
    pub(super) fn check_row(&self) -> Result<()> {
        if self.stream.is_beyond(self.bits) {
            return Err(self.stream.ends_early());
        }
        match self.predictors.iter().find(|&&predictor| i32::try_from(predictor).is_err()) {
            Some(predictor) => Err(self.fault(ImageFaultKind::BadCode, "a DC within 32 bits", &predictor.to_string())),
            None => Ok(()),
        }
    }

    /// Behind the last MCU: checks that nothing is left over, and gives the offset of the marker that follows.
    pub(super) fn finish(self) -> Result<usize> {
        self.stream.finish(self.bits)
    }

    /// `damage` with the place where it was met.
    #[cold]
    pub(super) fn block_fault(&self, damage: BlockError) -> ImageFault {
        // Beyond the end of the data the bits are made up, so that the end is what is wrong.
        if self.stream.is_beyond(self.bits) {
            return self.stream.ends_early();
        }
        match damage {
            BlockError::InvalidCode => {
                self.fault(ImageFaultKind::BadCode, "a code of the Huffman table", "bits that begin none")
            }
            BlockError::RunTooLong => {
                self.fault(ImageFaultKind::BadCode, "a coefficient of the block", "a run beyond its end")
            }
        }
    }

    fn fault(&self, kind: ImageFaultKind, expected: &str, found: &str) -> ImageFault {
        ImageFault::new(kind, self.stream.raw_position(self.bits).0, expected, found)
    }

    /// The best place behind `here`, and up to `target`, that takes no decoding.
    fn find_entry_point(&self, here: EntryPoint, target: usize) -> Result<Option<EntryPoint>> {
        let before = self.points.partition_point(|point| point.mcu <= target);
        let listed = self.points[..before].last().filter(|point| point.mcu > here.mcu);
        let best = *listed.unwrap_or(&here);
        let (from, to) = (best.mcu / self.interval, target / self.interval);
        if from < to {
            let offset = self.stream.find_restart(best.offset, from, to - 1)?;
            return Ok(Some(EntryPoint { mcu: to * self.interval, offset, bit: 0, predictors: [0; 4] }));
        }
        Ok(listed.copied())
    }

    fn start_at(&mut self, point: EntryPoint) {
        self.bits = self.stream.seek(point.offset, point.bit);
        self.limit = self.stream.limit();
        (self.mcu, self.predictors) = (point.mcu, point.predictors);
        self.interval_end = ((point.mcu / self.interval + 1) * self.interval).min(self.num_mcus);
    }

    #[cold]
    fn restart(&mut self) -> Result<()> {
        let marker = self.stream.finish(self.bits)?;
        let offset = self.stream.restart(marker, self.mcu / self.interval - 1)?;
        self.start_at(EntryPoint { mcu: self.mcu, offset, bit: 0, predictors: [0; 4] });
        Ok(())
    }

    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.bits = self.stream.advance(self.bits)?;
        self.limit = self.stream.limit();
        Ok(())
    }
}
