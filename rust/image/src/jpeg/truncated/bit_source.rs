//! Bytes and bits of a file that ends too early, in the steps in which libjpeg-turbo takes them (jdhuff.c, jdmarker.c).
//!
//! How far it has read ahead decides what it sees at the end: where bytes are missing within an MCU, it begins again at the first
//! byte that it had not read when the MCU began; where they are missing between two MCUs, an end marker is put in.
use crate::jpeg::header::marker::EOI;
use crate::jpeg::header::tables::HuffmanSpec;

/// What is read behind a file whose end is made up.
const END: [u8; 2] = [0xff, EOI];
/// Bits that a refill brings, of a register of 64.
const FULL: u32 = 57;
/// Bits of a lookup.
pub(super) const LOOKUP_BITS: u32 = 8;

/// Why decoding does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// More data are needed.
    Suspended,
    /// No data can help.
    Failed,
}

/// A place in the file.
#[derive(Clone)]
pub(super) struct BitSource<'a> {
    data: &'a [u8],
    /// Whether the end is made up: by reading on, or by an end marker.
    recover: bool,
    /// Whether `data` is that end marker.
    is_end: bool,
    /// The byte that reading begins with again.
    committed: usize,
    next: usize,
    word: u64,
    left: u32,
    /// The marker that ends the data of an interval.
    marker: Option<u8>,
    /// Whether bits were made up in front of that marker.
    insufficient_data: bool,
}

impl<'a> BitSource<'a> {
    /// Begins at byte `start` of `data`.
    pub(super) fn new(data: &'a [u8], start: usize, recover: bool) -> Self {
        let (committed, next) = (start, start);
        Self { data, recover, is_end: false, committed, next, word: 0, left: 0, marker: None, insufficient_data: false }
    }

    /// Whether all further MCUs of the interval are level.
    pub(super) fn insufficient_data(&self) -> bool {
        self.insufficient_data
    }

    /// Whether `count` bytes are there and no marker is near, so that an MCU can be read without looking for the end.
    pub(super) fn has_bytes(&self, count: usize) -> bool {
        self.marker.is_none() && self.data.len() - self.committed >= count
    }

    /// Keeps what was read.
    pub(super) fn commit(&mut self) {
        self.committed = self.next;
    }

    /// Where reading stands.
    pub(super) fn offset(&self) -> usize {
        self.next
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        if self.next == self.data.len() {
            self.rewind()?;
        }
        self.next += 1;
        Ok(self.data[self.next - 1])
    }

    #[cold]
    fn rewind(&mut self) -> Result<(), Stop> {
        if self.committed == self.data.len() {
            if self.is_end || !self.recover {
                return Err(Stop::Failed);
            }
            (self.data, self.committed, self.is_end) = (&END, 0, true);
        } else if !self.recover {
            return Err(Stop::Suspended);
        }
        self.next = self.committed;
        Ok(())
    }

    /// The first other byte behind 0xff. A file that has none would be read for ever.
    fn read_after_fill(&mut self) -> Result<u8, Stop> {
        for _ in 0..2 * self.data.len() + END.len() {
            let byte = self.byte()?;
            if byte != 0xff {
                return Ok(byte);
            }
        }
        Err(Stop::Failed)
    }

    /// Tops up; in front of a marker only if fewer than `needed` bits are there, and then with zeros.
    fn fill(&mut self, needed: u32) -> Result<(), Stop> {
        while self.marker.is_none() && self.left < FULL {
            let mut byte = self.byte()?;
            if byte == 0xff {
                match self.read_after_fill()? {
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
            self.insufficient_data = true;
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
    pub(super) fn fill_fast(&mut self) {
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
    pub(super) fn take_marker(&mut self) -> Result<u8, Stop> {
        let code = self.find_marker()?;
        self.marker = None;
        Ok(code)
    }

    /// The next marker.
    fn find_marker(&mut self) -> Result<u8, Stop> {
        if let Some(code) = self.marker {
            return Ok(code);
        }
        self.next = self.committed;
        loop {
            while self.byte()? != 0xff {
                self.commit();
            }
            let code = self.read_after_fill()?;
            self.commit();
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
                    (self.marker, self.insufficient_data) = (None, false);
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
        self.next = self.committed;
        let length = u16::from_be_bytes([self.byte()?, self.byte()?]).checked_sub(2).ok_or(Stop::Failed)?;
        let segment = (0..length).map(|_| self.byte()).collect();
        self.commit();
        segment
    }

    /// Begins with the data of another scan.
    pub(super) fn begin_scan(&mut self) {
        (self.word, self.left, self.marker, self.insufficient_data) = (0, 0, None, false);
    }

    /// Steps over the segment behind a marker that was passed.
    pub(super) fn skip_segment(&mut self) -> Result<(), Stop> {
        self.next = self.committed;
        let length = usize::from(u16::from_be_bytes([self.byte()?, self.byte()?])).saturating_sub(2);
        self.next = (self.next + length).min(self.data.len());
        self.commit();
        Ok(())
    }
}

// Huffman codes read as libjpeg-turbo reads them: by a lookup of eight bits, then bit by bit. What no code begins with is a zero.

/// Bits of the shortest code that the lookup does not hold.
const LONGER: u32 = LOOKUP_BITS + 1;
/// Bits of the longest code.
const LONGEST: u32 = 16;

/// The codes of one table.
pub(super) struct HuffmanTable {
    /// Bits and symbol of the code that the next bits begin with.
    lookup: [(u32, u8); 1 << LOOKUP_BITS],
    /// For each length, the largest code.
    largest: [i32; 1 + LONGEST as usize],
    /// For each length, what to add to a code to find its symbol.
    shifts: [i32; 1 + LONGEST as usize],
    symbols: [u8; 256],
}

impl HuffmanTable {
    /// The table of `spec`, whose codes fit.
    pub(super) fn new(spec: &HuffmanSpec) -> Self {
        let mut table = Self {
            lookup: [(LONGER, 0); 1 << LOOKUP_BITS],
            largest: [-1; 1 + LONGEST as usize],
            shifts: [0; 1 + LONGEST as usize],
            symbols: spec.symbols,
        };
        let (mut code, mut index) = (0, 0);
        for length in 1..=LONGEST {
            let count = i32::from(spec.counts[length as usize - 1]);
            table.shifts[length as usize] = index - code;
            for symbol in &spec.symbols[index as usize..(index + count) as usize] {
                table.enter(code, length, *symbol);
                code += 1;
            }
            index += count;
            if count > 0 {
                table.largest[length as usize] = code - 1;
            }
            code <<= 1;
        }
        table
    }

    fn enter(&mut self, code: i32, length: u32, symbol: u8) {
        if length <= LOOKUP_BITS {
            let free = LOOKUP_BITS - length;
            let start = (code as usize) << free;
            self.lookup[start..start + (1 << free)].fill((length, symbol));
        }
    }

    /// The next symbol; `FAST` tells whether enough bytes are there.
    pub(super) fn read_symbol<const FAST: bool>(&self, source: &mut BitSource<'_>) -> Result<u8, Stop> {
        if FAST {
            source.fill_fast();
        }
        let mut length = 1;
        if let Some(pattern) = source.peek(LOOKUP_BITS)? {
            let (found, symbol) = self.lookup[pattern];
            length = found;
            if found < LONGER {
                source.take(found)?;
                return Ok(symbol);
            }
        }
        let mut code = source.take(length)? as i32;
        while length <= LONGEST && code > self.largest[length as usize] {
            code = code << 1 | source.take(1)? as i32;
            length += 1;
        }
        if length > LONGEST {
            return Ok(0);
        }
        Ok(self.symbols[(code + self.shifts[length as usize]) as usize & 255])
    }
}
