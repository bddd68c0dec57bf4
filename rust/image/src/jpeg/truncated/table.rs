//! Huffman codes read as libjpeg-turbo reads them: by a lookup of eight bits, then bit by bit. What no code begins with is a zero.
use super::feed::{Feed, LOOKUP, Stop};
use crate::jpeg::header::tables::HuffmanSpec;

/// Bits of the shortest code that the lookup does not hold.
const LONGER: u32 = LOOKUP + 1;
/// Bits of the longest code.
const LONGEST: u32 = 16;

/// The codes of one table.
pub(super) struct Table {
    /// Bits and symbol of the code that the next bits begin with.
    lookup: [(u32, u8); 1 << LOOKUP],
    /// For each length, the largest code.
    largest: [i32; 1 + LONGEST as usize],
    /// For each length, what to add to a code to find its symbol.
    shifts: [i32; 1 + LONGEST as usize],
    symbols: [u8; 256],
}

impl Table {
    /// The table of `spec`, whose codes fit.
    pub(super) fn new(spec: &HuffmanSpec) -> Self {
        let mut table = Self {
            lookup: [(LONGER, 0); 1 << LOOKUP],
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
        if length <= LOOKUP {
            let free = LOOKUP - length;
            let start = (code as usize) << free;
            self.lookup[start..start + (1 << free)].fill((length, symbol));
        }
    }

    /// The next symbol; `AHEAD` tells whether enough bytes are there.
    pub(super) fn symbol<const AHEAD: bool>(&self, feed: &mut Feed<'_>) -> Result<u8, Stop> {
        if AHEAD {
            feed.fill_ahead();
        }
        let mut length = 1;
        if let Some(pattern) = feed.peek(LOOKUP)? {
            let (found, symbol) = self.lookup[pattern];
            length = found;
            if found < LONGER {
                feed.take(found)?;
                return Ok(symbol);
            }
        }
        let mut code = feed.take(length)? as i32;
        while length <= LONGEST && code > self.largest[length as usize] {
            code = code << 1 | feed.take(1)? as i32;
            length += 1;
        }
        if length > LONGEST {
            return Ok(0);
        }
        Ok(self.symbols[(code + self.shifts[length as usize]) as usize & 255])
    }
}
