//! Bytes and bits of a file that ends too early, in the steps in which libjpeg-turbo takes them (jdhuff.c, jdmarker.c).
//!
//! How far it has read ahead decides what it sees at the end: where bytes are missing within an MCU, it begins again at the first
//! byte that it had not read when the MCU began; where they are missing between two MCUs, an end marker is put in.
use crate::jpeg::header::marker::EOI;

/// What is read behind a file whose end is made up.
const END: [u8; 2] = [0xff, EOI];
/// Bits that a refill brings, of a register of 64.
const FULL: u32 = 57;
/// Bits of a lookup.
pub(super) const LOOKUP: u32 = 8;

/// Why decoding does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// More data are needed.
    Waits,
    /// No data can help.
    Fails,
}

/// A place in the file.
#[derive(Clone)]
pub(super) struct Feed<'a> {
    data: &'a [u8],
    /// Whether the end is made up: by reading on, or by an end marker.
    recovers: bool,
    /// Whether `data` is that end marker.
    is_end: bool,
    /// The byte that reading begins with again.
    kept: usize,
    next: usize,
    word: u64,
    left: u32,
    /// The marker that ends the data of an interval.
    marker: Option<u8>,
    /// Whether bits were made up in front of that marker.
    is_dry: bool,
}

impl<'a> Feed<'a> {
    /// Begins at byte `start` of `data`.
    pub(super) fn new(data: &'a [u8], start: usize, recovers: bool) -> Self {
        let (kept, next) = (start, start);
        Self { data, recovers, is_end: false, kept, next, word: 0, left: 0, marker: None, is_dry: false }
    }

    /// Whether all further MCUs of the interval are level.
    pub(super) fn is_dry(&self) -> bool {
        self.is_dry
    }

    /// Whether `count` bytes are there and no marker is near, so that an MCU can be read without looking for the end.
    pub(super) fn has(&self, count: usize) -> bool {
        self.marker.is_none() && self.data.len() - self.kept >= count
    }

    /// Keeps what was read.
    pub(super) fn keep(&mut self) {
        self.kept = self.next;
    }

    /// Where reading stands.
    pub(super) fn offset(&self) -> usize {
        self.next
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        if self.next == self.data.len() {
            self.begin_again()?;
        }
        self.next += 1;
        Ok(self.data[self.next - 1])
    }

    #[cold]
    fn begin_again(&mut self) -> Result<(), Stop> {
        if self.kept == self.data.len() {
            if self.is_end || !self.recovers {
                return Err(Stop::Fails);
            }
            (self.data, self.kept, self.is_end) = (&END, 0, true);
        } else if !self.recovers {
            return Err(Stop::Waits);
        }
        self.next = self.kept;
        Ok(())
    }

    /// The first other byte behind 0xff. A file that has none would be read for ever.
    fn behind_fill(&mut self) -> Result<u8, Stop> {
        for _ in 0..2 * self.data.len() + END.len() {
            let byte = self.byte()?;
            if byte != 0xff {
                return Ok(byte);
            }
        }
        Err(Stop::Fails)
    }

    /// Tops up; in front of a marker only if fewer than `needed` bits are there, and then with zeros.
    fn fill(&mut self, needed: u32) -> Result<(), Stop> {
        while self.marker.is_none() && self.left < FULL {
            let mut byte = self.byte()?;
            if byte == 0xff {
                match self.behind_fill()? {
                    0 => byte = 0xff,
                    code => {
                        self.marker = Some(code);
                        break;
                    }
                }
            }
            self.push(byte);
        }
        if self.marker.is_some() && needed > self.left {
            self.is_dry = true;
            self.word <<= FULL - self.left;
            self.left = FULL;
        }
        Ok(())
    }

    fn push(&mut self, byte: u8) {
        self.word = self.word << 8 | u64::from(byte);
        self.left += 8;
    }

    /// The next `count` bits if so many are there after a refill.
    pub(super) fn peek(&mut self, count: u32) -> Result<Option<usize>, Stop> {
        if self.left < count {
            self.fill(0)?;
        }
        Ok((self.left >= count).then(|| self.value(count)))
    }

    /// Takes the next `count` bits, at most 16.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, Stop> {
        if self.left < count {
            self.fill(count)?;
        }
        let value = self.value(count) as u32;
        self.left -= count;
        Ok(value)
    }

    fn value(&self, count: u32) -> usize {
        (self.word >> (self.left - count)) as usize & ((1 << count) - 1)
    }

    /// Tops up by six bytes if few bits are left, which [`Self::has`] has made sure of. A marker is read as zeros.
    pub(super) fn fill_ahead(&mut self) {
        if self.left > 16 {
            return;
        }
        for _ in 0..6 {
            match self.data.get(self.next..) {
                Some([0xff, 0, ..]) => {
                    self.push(0xff);
                    self.next += 2;
                }
                Some([0xff, code, ..]) => {
                    self.marker = Some(*code);
                    self.push(0);
                }
                Some([byte, ..]) => {
                    self.push(*byte);
                    self.next += 1;
                }
                _ => self.push(0),
            }
        }
    }

    /// The next marker, which is passed.
    pub(super) fn pass_marker(&mut self) -> Result<u8, Stop> {
        let code = self.find_marker()?;
        self.marker = None;
        Ok(code)
    }

    /// The next marker.
    fn find_marker(&mut self) -> Result<u8, Stop> {
        if let Some(code) = self.marker {
            return Ok(code);
        }
        self.next = self.kept;
        loop {
            while self.byte()? != 0xff {
                self.keep();
            }
            let code = self.behind_fill()?;
            self.keep();
            if code != 0 {
                self.marker = Some(code);
                return Ok(code);
            }
        }
    }

    /// Passes restart marker `number`, or finds its way without it, as libjpeg's `jpeg_resync_to_restart` does.
    pub(super) fn restart(&mut self, number: u8) -> Result<(), Stop> {
        self.left = 0;
        loop {
            let code = self.find_marker()?;
            let ahead = code.wrapping_sub(0xd0).wrapping_sub(number) & 7;
            match code {
                0xd0..=0xd7 if ahead == 0 || (3..=5).contains(&ahead) => {
                    (self.marker, self.is_dry) = (None, false);
                    return Ok(());
                }
                0xd0..=0xd7 if ahead <= 2 => return Ok(()),
                0xc0..=0xcf | 0xd8.. => return Ok(()),
                _ => self.marker = None,
            }
        }
    }

    /// What stands in the segment behind a marker that was passed. Where bytes are missing, it begins again at its length.
    pub(super) fn segment(&mut self) -> Result<Vec<u8>, Stop> {
        self.next = self.kept;
        let length = u16::from_be_bytes([self.byte()?, self.byte()?]).checked_sub(2).ok_or(Stop::Fails)?;
        let segment = (0..length).map(|_| self.byte()).collect();
        self.keep();
        segment
    }

    /// Begins with the data of another scan.
    pub(super) fn begin_scan(&mut self) {
        (self.word, self.left, self.marker, self.is_dry) = (0, 0, None, false);
    }

    /// Steps over the segment behind a marker that was passed.
    pub(super) fn skip_segment(&mut self) -> Result<(), Stop> {
        self.next = self.kept;
        let length = usize::from(u16::from_be_bytes([self.byte()?, self.byte()?])).saturating_sub(2);
        self.next = (self.next + length).min(self.data.len());
        self.keep();
        Ok(())
    }
}
