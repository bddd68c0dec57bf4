//! Iterates over the MCUs of a scan. Tracks restart intervals and DC predictors, and jumps ahead via restart markers
//! and entry points.
use super::huffman::BlockError;
use super::stream::{BitReader, Stream};
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// An MCU at which decoding can begin without decoding the MCUs before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryPoint {
    /// MCU number in the scan.
    pub(super) mcu: usize,
    /// Byte offset in the file at which the MCU begins.
    pub(super) offset: usize,
    /// Number of bits of that byte that belong to the previous MCU.
    pub(super) bit: u32,
    /// DC predictor of each component.
    pub(super) predictors: [i64; 4],
}

/// Position of the decoder in a scan, with the restart interval and the entry points that let it skip MCUs.
pub(super) struct ScanCursor<'s, 'a> {
    pub(super) stream: &'s mut Stream<'a>,
    pub(super) bits: BitReader,
    pub(super) predictors: [i64; 4],
    /// Number of the next MCU.
    mcu: usize,
    num_mcus: usize,
    /// Number of MCUs in a restart interval; all MCUs of the scan if there are no restart markers.
    interval: usize,
    /// Number of the MCU that the next restart marker precedes.
    interval_end: usize,
    limit: usize,
    points: &'s [EntryPoint],
}

impl<'s, 'a> ScanCursor<'s, 'a> {
    /// Creates a cursor in a scan of `num_mcus` MCUs whose data starts at byte `offset`. The cursor starts at MCU
    /// `target`, or at the last MCU before it that can be reached without decoding. `points` are the entry points in
    /// ascending order.
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
            bits: BitReader::new(0),
            predictors: [0; 4],
            mcu: 0,
            num_mcus,
            interval,
            interval_end: 0,
            limit: 0,
            points,
        };
        let point = cursor.find_entry_point(start, target)?.unwrap_or(start);
        cursor.jump_to(point)?;
        Ok(cursor)
    }

    /// Returns the number of the next MCU.
    #[inline(always)]
    pub(super) fn mcu(&self) -> usize {
        self.mcu
    }

    /// Prepares for decoding the next MCU. Returns whether it is the first of a restart interval.
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

    /// Moves forward to MCU `target`, or to the last MCU before it that can be reached without decoding.
    pub(super) fn seek(&mut self, target: usize) -> Result<()> {
        if self.mcu >= target {
            return Ok(());
        }
        if self.mcu == self.interval_end {
            self.restart()?;
        }
        let here = EntryPoint { mcu: self.mcu, offset: self.stream.next_offset(), bit: 0, predictors: self.predictors };
        if let Some(point) = self.find_entry_point(here, target)? {
            self.jump_to(point)?;
        }
        Ok(())
    }

    /// Returns the current position as an entry point.
    pub(super) fn entry_point(&mut self) -> Result<EntryPoint> {
        if self.mcu == self.interval_end && self.mcu < self.num_mcus {
            self.restart()?;
        }
        let (offset, bit) = self.stream.image_position(self.bits);
        Ok(EntryPoint { mcu: self.mcu, offset, bit, predictors: self.predictors })
    }

    /// Checks, after a row of MCUs, that the data did not end within the row. Also checks that the DC predictors fit
    /// into 32 bits, because other decoders store them in 32 bits.
    pub(super) fn check_row(&self) -> Result<()> {
        if self.stream.is_past_end(self.bits) {
            return Err(self.stream.truncated_fault());
        }
        match self.predictors.iter().find(|&&predictor| i32::try_from(predictor).is_err()) {
            Some(predictor) => {
                Err(self.fault(ImageFaultKind::BadCode, "a DC coefficient within 32 bits", &predictor.to_string()))
            }
            None => Ok(()),
        }
    }

    /// Checks that no data is left after the last MCU. Returns the offset of the marker that follows.
    pub(super) fn finish(self) -> Result<usize> {
        self.stream.finish(self.bits)
    }

    /// Converts a block error to an `ImageFault` at the current position.
    #[cold]
    pub(super) fn block_fault(&self, error: BlockError) -> ImageFault {
        // After the end of the data, the bit reader returns zero bits, which may form an invalid code. The error to
        // report then is the end of the data.
        if self.stream.is_past_end(self.bits) {
            return self.stream.truncated_fault();
        }
        match error {
            BlockError::InvalidCode => {
                self.fault(ImageFaultKind::BadCode, "a code of the Huffman table", "bits that match no code")
            }
            BlockError::RunTooLong => {
                self.fault(ImageFaultKind::BadCode, "a zero run within the block", "a run beyond its end")
            }
        }
    }

    fn fault(&self, kind: ImageFaultKind, expected: &str, found: &str) -> ImageFault {
        ImageFault::new(kind, self.stream.image_position(self.bits).0, expected, found)
    }

    /// Returns the last MCU after `here`, up to `target`, that can be reached without decoding; `None` if there is
    /// none.
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

    fn jump_to(&mut self, point: EntryPoint) -> Result<()> {
        self.bits = self.stream.seek(point.offset, point.bit)?;
        self.limit = self.stream.limit();
        (self.mcu, self.predictors) = (point.mcu, point.predictors);
        self.interval_end = ((point.mcu / self.interval + 1) * self.interval).min(self.num_mcus);
        Ok(())
    }

    #[cold]
    fn restart(&mut self) -> Result<()> {
        let marker = self.stream.finish(self.bits)?;
        let offset = self.stream.skip_restart_marker(marker, self.mcu / self.interval - 1)?;
        self.jump_to(EntryPoint { mcu: self.mcu, offset, bit: 0, predictors: [0; 4] })
    }

    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.bits = self.stream.advance(self.bits)?;
        self.limit = self.stream.limit();
        Ok(())
    }
}
