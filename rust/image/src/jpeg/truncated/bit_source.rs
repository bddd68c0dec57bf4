//! Bit source for truncated files that follows the read-ahead of libjpeg-turbo step by step (jdhuff.c, jdmarker.c).
//!
//! The read-ahead decides which pixels libjpeg-turbo produces at the end of the data. If bytes are missing within an
//! MCU, libjpeg-turbo rereads from the first byte that was unread when the MCU began. If bytes are missing between two
//! MCUs, it inserts an end-of-image marker.
use crate::jpeg::header::marker::EOI;
use crate::jpeg::header::tables::HuffmanSpec;

/// The end-of-image marker, which is read where a truncated file ends.
const EOI_MARKER: [u8; 2] = [0xff, EOI];
/// Minimum number of valid bits after a refill of the 64-bit register.
const FULL: u32 = 57;
/// Number of bits that index a Huffman lookup table.
pub(super) const LOOKUP_BITS: u32 = 8;
/// Largest length in bytes of the body of a marker segment.
pub(super) const MAX_SEGMENT_LEN: usize = u16::MAX as usize - 2;

/// Reason why decoding stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The data ended within an MCU.
    Suspended,
    /// The file cannot be decoded further.
    Failed,
}

/// Reads bytes, bits and markers of a truncated file.
#[derive(Clone)]
pub(super) struct BitSource<'a> {
    data: &'a [u8],
    /// Whether to continue after the end of the data: by rereading, or with an end-of-image marker.
    recover: bool,
    /// Whether `data` is the end-of-image marker that replaces the missing data.
    is_end: bool,
    /// Offset of the first byte to reread.
    committed: usize,
    next: usize,
    word: u64,
    left: u32,
    /// The marker that ended the entropy-coded data of an interval.
    marker: Option<u8>,
    /// Whether zero bits were returned because the interval ended.
    insufficient_data: bool,
}

impl<'a> BitSource<'a> {
    /// Creates a source that starts at byte `start` of `data`.
    pub(super) fn new(data: &'a [u8], start: usize, recover: bool) -> Self {
        let (committed, next) = (start, start);
        Self { data, recover, is_end: false, committed, next, word: 0, left: 0, marker: None, insufficient_data: false }
    }

    /// Returns whether the data of the restart interval is used up, so that its remaining MCUs have only zero
    /// coefficients.
    pub(super) fn insufficient_data(&self) -> bool {
        self.insufficient_data
    }

    /// Returns whether `count` bytes are left and no marker was seen, so that an MCU can be decoded without checking
    /// for the end.
    pub(super) fn has_bytes(&self, count: usize) -> bool {
        self.marker.is_none() && self.data.len() - self.committed >= count
    }

    /// Marks all bytes read so far as consumed.
    pub(super) fn mark_consumed(&mut self) {
        self.committed = self.next;
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.next
    }

    fn next_byte(&mut self) -> Result<u8, StopReason> {
        if self.next == self.data.len() {
            self.rewind_or_end()?;
        }
        self.next += 1;
        Ok(self.data[self.next - 1])
    }

    #[cold]
    fn rewind_or_end(&mut self) -> Result<(), StopReason> {
        if self.committed == self.data.len() {
            if self.is_end || !self.recover {
                return Err(StopReason::Failed);
            }
            (self.data, self.committed, self.is_end) = (&EOI_MARKER, 0, true);
        } else if !self.recover {
            return Err(StopReason::Suspended);
        }
        self.next = self.committed;
        Ok(())
    }

    /// Returns the first byte after a run of 0xff. The number of attempts is limited, because rereading a file without
    /// such a byte would not terminate.
    fn read_after_fill(&mut self) -> Result<u8, StopReason> {
        for _ in 0..2 * self.data.len() + EOI_MARKER.len() {
            let byte = self.next_byte()?;
            if byte != 0xff {
                return Ok(byte);
            }
        }
        Err(StopReason::Failed)
    }

    /// Refills the bit register. At a marker, appends zero bits only if fewer than `needed` bits are valid.
    fn fill_register(&mut self, needed: u32) -> Result<(), StopReason> {
        while self.marker.is_none() && self.left < FULL {
            let mut byte = self.next_byte()?;
            if byte == 0xff {
                match self.read_after_fill()? {
                    0 => byte = 0xff,
                    code => {
                        self.marker = Some(code);
                        break;
                    }
                }
            }
            self.push_byte(byte);
        }
        if self.marker.is_some() && needed > self.left {
            self.insufficient_data = true;
            self.word <<= FULL - self.left;
            self.left = FULL;
        }
        Ok(())
    }

    fn push_byte(&mut self, byte: u8) {
        self.word = self.word << 8 | u64::from(byte);
        self.left += 8;
    }

    /// Returns the next `count` bits without consuming them, or `None` if fewer are valid after a refill.
    pub(super) fn peek(&mut self, count: u32) -> Result<Option<usize>, StopReason> {
        if self.left < count {
            self.fill_register(0)?;
        }
        Ok((self.left >= count).then(|| self.peek_value(count)))
    }

    /// Consumes the next `count` bits, at most 16.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, StopReason> {
        if self.left < count {
            self.fill_register(count)?;
        }
        let value = self.peek_value(count) as u32;
        self.left -= count;
        Ok(value)
    }

    fn peek_value(&self, count: u32) -> usize {
        (self.word >> (self.left - count)) as usize & ((1 << count) - 1)
    }

    /// Appends six bytes if at most 16 bits are valid. The caller has checked with [`Self::has_bytes`] that enough
    /// bytes are left. A marker is read as zeros.
    pub(super) fn fill_fast(&mut self) {
        if self.left > 16 {
            return;
        }
        for _ in 0..6 {
            match self.data.get(self.next..) {
                Some([0xff, 0, ..]) => {
                    self.push_byte(0xff);
                    self.next += 2;
                }
                Some([0xff, code, ..]) => {
                    self.marker = Some(*code);
                    self.push_byte(0);
                }
                Some([byte, ..]) => {
                    self.push_byte(*byte);
                    self.next += 1;
                }
                _ => self.push_byte(0),
            }
        }
    }

    /// Consumes the next marker.
    pub(super) fn take_marker(&mut self) -> Result<u8, StopReason> {
        let code = self.find_marker()?;
        self.marker = None;
        Ok(code)
    }

    /// Finds the next marker without consuming it.
    fn find_marker(&mut self) -> Result<u8, StopReason> {
        if let Some(code) = self.marker {
            return Ok(code);
        }
        self.next = self.committed;
        loop {
            while self.next_byte()? != 0xff {
                self.mark_consumed();
            }
            let code = self.read_after_fill()?;
            self.mark_consumed();
            if code != 0 {
                self.marker = Some(code);
                return Ok(code);
            }
        }
    }

    /// Consumes restart marker `number`, or resynchronizes as libjpeg's `jpeg_resync_to_restart` does.
    pub(super) fn restart(&mut self, number: u8) -> Result<(), StopReason> {
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

    /// Appends the body of the segment after a consumed marker to `segment`, which has room for [`MAX_SEGMENT_LEN`]
    /// bytes. If bytes are missing, reading continues from the length field again.
    pub(super) fn read_segment(&mut self, segment: &mut Vec<u8>) -> Result<(), StopReason> {
        self.next = self.committed;
        let length =
            u16::from_be_bytes([self.next_byte()?, self.next_byte()?]).checked_sub(2).ok_or(StopReason::Failed)?;
        let result = (0..length).try_for_each(|_| self.next_byte().map(|byte| segment.push(byte)));
        self.mark_consumed();
        result
    }

    /// Resets the state for the data of another scan.
    pub(super) fn begin_scan(&mut self) {
        (self.word, self.left, self.marker, self.insufficient_data) = (0, 0, None, false);
    }

    /// Skips the segment after a consumed marker.
    pub(super) fn skip_segment(&mut self) -> Result<(), StopReason> {
        self.next = self.committed;
        let length = usize::from(u16::from_be_bytes([self.next_byte()?, self.next_byte()?])).saturating_sub(2);
        self.next = (self.next + length).min(self.data.len());
        self.mark_consumed();
        Ok(())
    }
}

/// Shortest code length that the lookup does not resolve.
const UNRESOLVED_LEN: u32 = LOOKUP_BITS + 1;
/// Length of the longest code.
const MAX_CODE_LEN: u32 = 16;

/// The codes of one Huffman table, decoded as in libjpeg-turbo: an eight-bit lookup, then bit by bit. An invalid code
/// decodes to symbol zero.
pub(super) struct HuffmanTable {
    /// For each index, the length and symbol of the code with which its bits begin.
    lookup: [(u32, u8); 1 << LOOKUP_BITS],
    /// For each length, the largest code.
    largest: [i32; 1 + MAX_CODE_LEN as usize],
    /// For each length, the offset from a code to the index of its symbol.
    shifts: [i32; 1 + MAX_CODE_LEN as usize],
    symbols: [u8; 256],
}

impl HuffmanTable {
    /// Builds the table of a valid `spec`.
    pub(super) fn new(spec: &HuffmanSpec) -> Self {
        let mut table = Self {
            lookup: [(UNRESOLVED_LEN, 0); 1 << LOOKUP_BITS],
            largest: [-1; 1 + MAX_CODE_LEN as usize],
            shifts: [0; 1 + MAX_CODE_LEN as usize],
            symbols: spec.symbols,
        };
        let (mut code, mut index) = (0, 0);
        for length in 1..=MAX_CODE_LEN {
            let count = i32::from(spec.counts[length as usize - 1]);
            table.shifts[length as usize] = index - code;
            for symbol in &spec.symbols[index as usize..(index + count) as usize] {
                table.add_code(code, length, *symbol);
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

    fn add_code(&mut self, code: i32, length: u32, symbol: u8) {
        if length <= LOOKUP_BITS {
            let free = LOOKUP_BITS - length;
            let start = (code as usize) << free;
            self.lookup[start..start + (1 << free)].fill((length, symbol));
        }
    }

    /// Decodes the next symbol; `FAST` states that enough bytes are left.
    pub(super) fn read_symbol<const FAST: bool>(&self, source: &mut BitSource<'_>) -> Result<u8, StopReason> {
        if FAST {
            source.fill_fast();
        }
        let mut length = 1;
        if let Some(pattern) = source.peek(LOOKUP_BITS)? {
            let (found, symbol) = self.lookup[pattern];
            length = found;
            if found < UNRESOLVED_LEN {
                source.take(found)?;
                return Ok(symbol);
            }
        }
        let mut code = source.take(length)? as i32;
        while length <= MAX_CODE_LEN && code > self.largest[length as usize] {
            code = code << 1 | source.take(1)? as i32;
            length += 1;
        }
        if length > MAX_CODE_LEN {
            return Ok(0);
        }
        Ok(self.symbols[(code + self.shifts[length as usize]) as usize & 255])
    }
}
