//! Canonical Huffman codes (T.81 Annex C): assigned from the counts, found by comparing with the limits of each length.
use std::sync::Arc;

use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::tables::HuffmanSpec;

/// Why a block cannot be decoded; the stream knows where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) enum Damage {
    /// No code of the table begins with these bits.
    Code,
    /// A run leads beyond the last coefficient.
    Run,
}

/// The codes of one table.
pub(in crate::jpeg) struct Code {
    /// For each length, the first 16-bit pattern above all its codes.
    limits: [u32; 17],
    /// For each length, what to add to a code to find its symbol.
    shifts: [i32; 17],
    symbols: [u8; 256],
    counts: [u8; 16],
}

impl Code {
    /// Assigns the codes of `spec`; those of all ones may not be used.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let mut code = Self { limits: [0; 17], shifts: [0; 17], symbols: spec.symbols, counts: spec.counts };
        let (mut next, mut num_symbols) = (0_u32, 0_i32);
        for length in 1..=16 {
            let count = u32::from(spec.counts[length - 1]);
            code.shifts[length] = num_symbols - next as i32;
            next += count;
            num_symbols += count as i32;
            if count > 0 && next >= 1 << length {
                let found = format!("{count} more of {length} bits");
                return Err(ImageFault::new(ImageFaultKind::BadTable, spec.offset, "Huffman codes that fit", found));
            }
            code.limits[length] = next << (16 - length);
            next <<= 1;
        }
        Ok(code)
    }

    /// The symbol whose code begins `pattern`, the next 16 bits, and its length.
    #[cold]
    #[inline(never)]
    pub(in crate::jpeg) fn find(&self, pattern: u32) -> std::result::Result<(u8, u32), Damage> {
        let length = (1..=16).find(|&length| pattern < self.limits[length]).ok_or(Damage::Code)?;
        let index = (pattern >> (16 - length)) as i32 + self.shifts[length];
        Ok((self.symbols[index as usize & 255], length as u32))
    }

    /// Calls `visit` with every code of up to `longest` bits, its length and its symbol.
    fn each(&self, longest: usize, mut visit: impl FnMut(usize, usize, u8)) {
        let (mut next, mut index) = (0, 0);
        for length in 1..=longest {
            for _ in 0..self.counts[length - 1] {
                visit(next, length, self.symbols[index]);
                (next, index) = (next + 1, index + 1);
            }
            next <<= 1;
        }
    }

    /// A lookup table: what `entry` makes of each pattern of as many bits as `SIZE` takes. It is given the pattern and, for all
    /// patterns, the length and symbol of the code that begins them; length zero where none is that short.
    pub(super) fn lookup<T: Copy + Default, const SIZE: usize>(
        &self,
        entry: impl Fn(usize, &[(u8, u8)]) -> T,
    ) -> Box<[T; SIZE]> {
        let prefixes = self.prefixes(SIZE.ilog2() as usize);
        let mut table = Box::new([T::default(); SIZE]);
        for (pattern, place) in table.iter_mut().enumerate() {
            *place = entry(pattern, &prefixes);
        }
        table
    }

    fn prefixes(&self, bits: usize) -> Vec<(u8, u8)> {
        let mut prefixes = vec![(0, 0); 1 << bits];
        self.each(bits, |code, length, symbol| {
            let start = code << (bits - length);
            prefixes[start..start + (1 << (bits - length))].fill((length as u8, symbol));
        });
        prefixes
    }
}

// Cache of lookup tables: most files of a collection share theirs, and building one costs as much as many blocks.

/// Tables of one kind that are kept.
const CAPACITY: usize = 16;

/// Tables of kind `T`, each with the codes that it was built from.
pub(in crate::jpeg) struct Cache<T> {
    tables: Vec<(HuffmanSpec, Arc<T>)>,
    /// Place of the table that is replaced next.
    oldest: usize,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { tables: Vec::new(), oldest: 0 }
    }
}

impl<T> Cache<T> {
    /// The table of `spec`, built by `build` unless it is kept.
    pub(in crate::jpeg) fn get(&mut self, spec: &HuffmanSpec, build: fn(&HuffmanSpec) -> Result<T>) -> Result<Arc<T>> {
        if let Some((_, table)) = self.tables.iter().find(|(kept, _)| kept.same_codes(spec)) {
            return Ok(table.clone());
        }
        let table = Arc::new(build(spec)?);
        if self.tables.len() < CAPACITY {
            self.tables.push((spec.clone(), table.clone()));
        } else {
            self.tables[self.oldest] = (spec.clone(), table.clone());
            self.oldest = (self.oldest + 1) % CAPACITY;
        }
        Ok(table)
    }
}

/// The table number `number` that a scan at `offset` refers to.
pub(in crate::jpeg) fn required<'a, T>(
    tables: &'a [Option<T>; 4],
    number: usize,
    what: &str,
    offset: usize,
) -> Result<&'a T> {
    let table = tables.get(number).and_then(Option::as_ref);
    table.ok_or_else(|| ImageFault::new(ImageFaultKind::BadTable, offset, format!("{what} table {number}"), "none"))
}
