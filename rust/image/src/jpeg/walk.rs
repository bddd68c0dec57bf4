//! The way through a scan's MCUs: intervals, predictors, and the shortcuts to a later MCU.
use super::huffman::code::Damage;
use super::stream::Stream;
use super::stream::bits::Bits;
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// An MCU at which decoding can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
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
pub(super) struct Walk<'s, 'a> {
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
    places: &'s [Place],
}

impl<'s, 'a> Walk<'s, 'a> {
    /// Begins in a scan of `num_mcus` whose data start at byte `offset`, at the last place up to MCU `target` that can be reached
    /// without decoding. `places` are such places, in order.
    pub(super) fn new(
        stream: &'s mut Stream<'a>,
        offset: usize,
        interval: usize,
        num_mcus: usize,
        target: usize,
        places: &'s [Place],
    ) -> Result<Self> {
        let interval = if interval == 0 { num_mcus } else { interval };
        stream.forget();
        let start = Place { mcu: 0, offset, bit: 0, predictors: [0; 4] };
        let mut walk = Self {
            stream,
            bits: Bits::new(0),
            predictors: [0; 4],
            mcu: 0,
            num_mcus,
            interval,
            interval_end: 0,
            limit: 0,
            places,
        };
        let place = walk.shortcut(start, target)?.unwrap_or(start);
        walk.enter(place);
        Ok(walk)
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
            self.make_room()?;
        }
        self.mcu += 1;
        Ok(is_restart)
    }

    /// Goes to the last place up to MCU `target` that can be reached without decoding.
    pub(super) fn jump(&mut self, target: usize) -> Result<()> {
        if self.mcu >= target {
            return Ok(());
        }
        if self.mcu == self.interval_end {
            self.restart()?;
        }
        let here = Place { mcu: self.mcu, offset: self.stream.raw_next(), bit: 0, predictors: self.predictors };
        if let Some(place) = self.shortcut(here, target)? {
            self.enter(place);
        }
        Ok(())
    }

    /// Where the walk stands, so that it can begin there another time.
    pub(super) fn place(&mut self) -> Result<Place> {
        if self.mcu == self.interval_end && self.mcu < self.num_mcus {
            self.restart()?;
        }
        let (offset, bit) = self.stream.raw_position(self.bits);
        Ok(Place { mcu: self.mcu, offset, bit, predictors: self.predictors })
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
    pub(super) fn damaged(&self, damage: Damage) -> ImageFault {
        // Beyond the end of the data the bits are made up, so that the end is what is wrong.
        if self.stream.is_beyond(self.bits) {
            return self.stream.ends_early();
        }
        match damage {
            Damage::Code => self.fault(ImageFaultKind::BadCode, "a code of the Huffman table", "bits that begin none"),
            Damage::Run => self.fault(ImageFaultKind::BadCode, "a coefficient of the block", "a run beyond its end"),
        }
    }

    fn fault(&self, kind: ImageFaultKind, expected: &str, found: &str) -> ImageFault {
        ImageFault::new(kind, self.stream.raw_position(self.bits).0, expected, found)
    }

    /// The best place behind `here`, and up to `target`, that takes no decoding.
    fn shortcut(&self, here: Place, target: usize) -> Result<Option<Place>> {
        let before = self.places.partition_point(|place| place.mcu <= target);
        let listed = self.places[..before].last().filter(|place| place.mcu > here.mcu);
        let best = *listed.unwrap_or(&here);
        let (from, to) = (best.mcu / self.interval, target / self.interval);
        if from < to {
            let offset = self.stream.find_restart(best.offset, from, to - 1)?;
            return Ok(Some(Place { mcu: to * self.interval, offset, bit: 0, predictors: [0; 4] }));
        }
        Ok(listed.copied())
    }

    fn enter(&mut self, place: Place) {
        self.bits = self.stream.seek(place.offset, place.bit);
        self.limit = self.stream.limit();
        (self.mcu, self.predictors) = (place.mcu, place.predictors);
        self.interval_end = ((place.mcu / self.interval + 1) * self.interval).min(self.num_mcus);
    }

    #[cold]
    fn restart(&mut self) -> Result<()> {
        let marker = self.stream.finish(self.bits)?;
        let offset = self.stream.restart(marker, self.mcu / self.interval - 1)?;
        self.enter(Place { mcu: self.mcu, offset, bit: 0, predictors: [0; 4] });
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.bits = self.stream.advance(self.bits)?;
        self.limit = self.stream.limit();
        Ok(())
    }
}
