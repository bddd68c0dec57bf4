//! Canonical Huffman codes (T.81 Annex C): assigned from the counts, found by comparing with the limits of each length.
pub(in crate::jpeg) mod ac;

use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::{Bits, extend};
use std::sync::Arc;

/// Why a block cannot be decoded; the stream knows where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) enum BlockError {
    /// No code of the table begins with these bits.
    InvalidCode,
    /// A run leads beyond the last coefficient.
    RunTooLong,
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
    pub(in crate::jpeg) fn find(&self, pattern: u32) -> Result<(u8, u32), BlockError> {
        let length = (1..=16).find(|&length| pattern < self.limits[length]).ok_or(BlockError::InvalidCode)?;
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
    /// EntryPoint of the table that is replaced next.
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
pub(in crate::jpeg) fn require_table<'a, T>(
    tables: &'a [Option<T>; 4],
    number: usize,
    what: &str,
    offset: usize,
) -> Result<&'a T> {
    let table = tables.get(number).and_then(Option::as_ref);
    table.ok_or_else(|| ImageFault::new(ImageFaultKind::BadTable, offset, format!("{what} table {number}"), "none"))
}

// DC differences (T.81 F.2.2.1): one lookup for the code, the value by shifts.

#[derive(Clone, Copy, Default)]
struct DcEntry {
    /// Bits of code and value together; zero for codes longer than the lookup.
    total: u8,
    code: u8,
    size: u8,
}

/// A table for DC differences.
pub(in crate::jpeg) struct DcTable {
    entries: [DcEntry; 1 << LOOKUP_BITS],
    code: Code,
}

impl DcTable {
    /// Builds the table of `spec`, whose symbols are sizes from 0 to 15.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = Code::new(spec)?;
        if let Some(size) = spec.symbols.iter().find(|&&size| size > 15) {
            let found = format!("{size} bits");
            return Err(ImageFault::new(
                ImageFaultKind::BadTable,
                spec.offset,
                "DC differences of up to 15 bits",
                found,
            ));
        }
        let entries = code.lookup(|pattern, prefixes| match prefixes[pattern] {
            (0, _) => DcEntry::default(),
            (length, size) => DcEntry { total: length + size, code: length, size },
        });
        Ok(Self { entries: *entries, code })
    }

    /// The next difference. Needs 31 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn difference(&self, bits: &mut Bits) -> Result<i32, BlockError> {
        let mut entry = self.entries[(bits.word() >> (64 - LOOKUP_BITS)) as usize];
        if entry.total == 0 {
            let (size, code) = self.code.find(bits.peek(16))?;
            entry = DcEntry { total: code as u8 + size, code: code as u8, size };
        }
        let size = u32::from(entry.size & 15);
        let value = (bits.word() << (entry.code & 63) >> 1 >> (63 - size)) as u32;
        bits.skip(entry.total.into());
        Ok(extend(value, size))
    }
}

// Symbols of progressive AC scans (T.81 G.1.2): one lookup for the code, and for the value where it is short.

/// Bits of a lookup. The tables of progressive scans are small, and often made for one scan only.
const LOOKUP_BITS: usize = 9;

/// What a lookup finds.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
pub(in crate::jpeg) struct Symbol {
    /// The symbol: a run in the upper, a size in the lower half.
    pub(in crate::jpeg) symbol: u8,
    /// Bits of the code; zero if it is longer than a lookup.
    code: u8,
    /// Bits of code and value together; zero if the value does not fit into the lookup.
    pub(in crate::jpeg) total: u8,
    /// The value, where it fits.
    pub(in crate::jpeg) value: i16,
}

/// A table for the AC coefficients of progressive scans.
pub(in crate::jpeg) struct SymbolTable {
    entries: Box<[Symbol; 1 << LOOKUP_BITS]>,
    code: Code,
}

impl Symbol {
    /// What the `LOOKUP_BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (length, symbol) = prefixes[pattern];
        let (size, total) = (symbol & 15, usize::from(length + (symbol & 15)));
        if length == 0 || size == 0 || total > LOOKUP_BITS {
            return Self { symbol, code: length, total: 0, value: 0 };
        }
        let bits = pattern >> (LOOKUP_BITS - total) & ((1 << size) - 1);
        Self { symbol, code: length, total: total as u8, value: extend(bits as u32, size.into()) as i16 }
    }
}

impl SymbolTable {
    /// Builds the table of `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = Code::new(spec)?;
        Ok(Self { entries: code.lookup(Symbol::new), code })
    }

    /// What the next bits hold; nothing is consumed. Needs 9 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn look(&self, bits: &Bits) -> Symbol {
        self.entries[(bits.word() >> (64 - LOOKUP_BITS)) as usize]
    }

    /// Consumes the code of `found`, the symbol that `look` gave, and gives the symbol. Needs 16 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn take(&self, found: Symbol, bits: &mut Bits) -> Result<u8, BlockError> {
        let (symbol, length) = match found.code {
            0 => self.code.find(bits.peek(16))?,
            length => (found.symbol, length.into()),
        };
        bits.skip(length);
        Ok(symbol)
    }
}
