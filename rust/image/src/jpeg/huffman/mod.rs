//! Canonical Huffman codes (T.81 Annex C), and the lookup tables for DC and for progressive AC coefficients.
pub(in crate::jpeg) mod ac;

use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::{BitReader, extend_sign};
use crate::memory::{self, OutOfMemory};
use std::sync::Arc;

/// Reason why a block cannot be decoded. It does not include the position in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) enum BlockError {
    /// No code of the table matches these bits.
    InvalidCode,
    /// A zero run leads past the last coefficient.
    RunTooLong,
}

/// The codes of one Huffman table.
pub(in crate::jpeg) struct HuffmanCode {
    /// For each length, the first 16-bit pattern above all codes of that length.
    limits: [u32; 17],
    /// For each length, the offset from a code to the index of its symbol.
    shifts: [i32; 17],
    symbols: [u8; 256],
    counts: [u8; 16],
}

impl HuffmanCode {
    /// Assigns the codes of `spec`. The code of all ones is reserved, so a table that assigns this code is rejected
    /// with an error.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let mut code = Self { limits: [0; 17], shifts: [0; 17], symbols: spec.symbols, counts: spec.counts };
        let (mut next, mut num_symbols) = (0_u32, 0_i32);
        for length in 1..=16 {
            let count = u32::from(spec.counts[length - 1]);
            code.shifts[length] = num_symbols - next as i32;
            next += count;
            num_symbols += count as i32;
            if count > 0 && next >= 1 << length {
                let found = format!("{count} codes of {length} bits");
                return Err(ImageFault::new(ImageFaultKind::BadTable, spec.offset, "fewer Huffman codes", found));
            }
            code.limits[length] = next << (16 - length);
            next <<= 1;
        }
        Ok(code)
    }

    /// Returns the symbol whose code is a prefix of `pattern`, the next 16 bits, and the length of the code.
    #[cold]
    #[inline(never)]
    pub(in crate::jpeg) fn find_symbol(&self, pattern: u32) -> Result<(u8, u32), BlockError> {
        let length = (1..=16).find(|&length| pattern < self.limits[length]).ok_or(BlockError::InvalidCode)?;
        let index = (pattern >> (16 - length)) as i32 + self.shifts[length];
        Ok((self.symbols[index as usize & 255], length as u32))
    }

    /// Calls `visit` with every code of up to `longest` bits, its length and its symbol.
    fn for_each_code(&self, longest: usize, mut visit: impl FnMut(usize, usize, u8)) {
        let (mut next, mut index) = (0, 0);
        for length in 1..=longest {
            for _ in 0..self.counts[length - 1] {
                visit(next, length, self.symbols[index]);
                (next, index) = (next + 1, index + 1);
            }
            next <<= 1;
        }
    }

    /// Builds a lookup table of `SIZE` entries by calling `entry` for each index. `entry` also receives a list of the
    /// length and symbol of the code with which the bits of every index begin. The length is zero if the code is longer
    /// than an index.
    pub(super) fn build_lookup<T: Copy + Default, const SIZE: usize>(
        &self,
        entry: impl Fn(usize, &[(u8, u8)]) -> T,
    ) -> Result<Box<[T; SIZE]>, OutOfMemory> {
        let prefixes = self.prefixes(SIZE.ilog2() as usize)?;
        let entries = memory::collect((0..SIZE).map(|pattern| entry(pattern, &prefixes)))?;
        Ok(entries.try_into().unwrap_or_else(|_| unreachable!("the vector has SIZE entries")))
    }

    fn prefixes(&self, bits: usize) -> Result<Vec<(u8, u8)>, OutOfMemory> {
        let mut prefixes = memory::filled(1 << bits, (0, 0))?;
        self.for_each_code(bits, |code, length, symbol| {
            let start = code << (bits - length);
            prefixes[start..start + (1 << (bits - length))].fill((length as u8, symbol));
        });
        Ok(prefixes)
    }
}

/// Number of tables of each kind in a cache. Most files of a dataset share their tables, and building one costs as much
/// as decoding many blocks.
const CAPACITY: usize = 16;

/// A cache of lookup tables, each stored with the Huffman table that it was built from.
pub(in crate::jpeg) struct TableCache<T> {
    tables: Vec<(HuffmanSpec, Arc<T>)>,
    /// Index of the table that is replaced next.
    oldest: usize,
}

impl<T> Default for TableCache<T> {
    fn default() -> Self {
        Self { tables: Vec::new(), oldest: 0 }
    }
}

impl<T> TableCache<T> {
    /// Returns the lookup table for the Huffman table `spec`; builds it with `build` if it is not cached.
    pub(in crate::jpeg) fn get(&mut self, spec: &HuffmanSpec, build: fn(&HuffmanSpec) -> Result<T>) -> Result<Arc<T>> {
        if let Some((_, table)) = self.tables.iter().find(|(kept, _)| kept.has_same_codes(spec)) {
            return Ok(table.clone());
        }
        let table = Arc::new(build(spec)?);
        if self.tables.len() < CAPACITY {
            memory::push(&mut self.tables, (spec.clone(), table.clone()))?;
        } else {
            self.tables[self.oldest] = (spec.clone(), table.clone());
            self.oldest = (self.oldest + 1) % CAPACITY;
        }
        Ok(table)
    }
}

/// Returns table `number`, or an error if it is not defined. `offset` is the byte offset of the scan header that refers
/// to the table.
pub(in crate::jpeg) fn require_table<'a, T>(
    tables: &'a [Option<T>; 4],
    number: usize,
    what: &str,
    offset: usize,
) -> Result<&'a T> {
    let table = tables.get(number).and_then(Option::as_ref);
    table.ok_or_else(|| ImageFault::new(ImageFaultKind::BadTable, offset, format!("{what} table {number}"), "none"))
}

/// Entry of the DC table: the code of a DC difference (T.81 F.2.2.1).
#[derive(Clone, Copy, Default)]
struct DcEntry {
    /// Number of bits of code and value; zero if the code is longer than a table index.
    total: u8,
    code: u8,
    size: u8,
}

/// Lookup table for DC differences.
pub(in crate::jpeg) struct DcTable {
    entries: [DcEntry; 1 << LOOKUP_BITS],
    code: HuffmanCode,
}

impl DcTable {
    /// Builds the lookup table for the Huffman table `spec`, whose symbols must be sizes from 0 to 15.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = HuffmanCode::new(spec)?;
        if let Some(size) = spec.symbols.iter().find(|&&size| size > 15) {
            let found = format!("{size} bits");
            return Err(ImageFault::new(
                ImageFaultKind::BadTable,
                spec.offset,
                "DC differences of up to 15 bits",
                found,
            ));
        }
        let entries = code.build_lookup(|pattern, prefixes| match prefixes[pattern] {
            (0, _) => DcEntry::default(),
            (length, size) => DcEntry { total: length + size, code: length, size },
        })?;
        Ok(Self { entries: *entries, code })
    }

    /// Decodes the next DC difference. `bits` must have 31 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn difference(&self, bits: &mut BitReader) -> Result<i32, BlockError> {
        let mut entry = self.entries[(bits.word() >> (64 - LOOKUP_BITS)) as usize];
        if entry.total == 0 {
            let (size, code) = self.code.find_symbol(bits.peek(16))?;
            entry = DcEntry { total: code as u8 + size, code: code as u8, size };
        }
        let size = u32::from(entry.size & 15);
        let value = (bits.word() << (entry.code & 63) >> 1 >> (63 - size)) as u32;
        bits.skip(entry.total.into());
        Ok(extend_sign(value, size))
    }
}

/// Number of bits that index the lookup tables for DC and for progressive scans. These tables are small because many
/// are used for one scan only.
const LOOKUP_BITS: usize = 9;

/// Entry of the progressive AC table: a symbol (T.81 G.1.2), with its value if both fit into a table index.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
pub(in crate::jpeg) struct Symbol {
    /// The symbol: zero run in the upper half, size in the lower half.
    pub(in crate::jpeg) symbol: u8,
    /// Number of bits of the code; zero if it is longer than a table index.
    code: u8,
    /// Number of bits of code and value; zero if there is no value or if both together do not fit into a table index.
    pub(in crate::jpeg) total: u8,
    /// The value of the coefficient if code and value fit into a table index, otherwise zero.
    pub(in crate::jpeg) value: i16,
}

/// Lookup table for the AC coefficients of progressive scans.
pub(in crate::jpeg) struct SymbolTable {
    entries: Box<[Symbol; 1 << LOOKUP_BITS]>,
    code: HuffmanCode,
}

impl Symbol {
    /// Creates the table entry at index `pattern`. `prefixes` lists, for every index, the length and symbol of the code
    /// with which its bits begin.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (length, symbol) = prefixes[pattern];
        let (size, total) = (symbol & 15, usize::from(length + (symbol & 15)));
        if length == 0 || size == 0 || total > LOOKUP_BITS {
            return Self { symbol, code: length, total: 0, value: 0 };
        }
        let bits = pattern >> (LOOKUP_BITS - total) & ((1 << size) - 1);
        Self { symbol, code: length, total: total as u8, value: extend_sign(bits as u32, size.into()) as i16 }
    }
}

impl SymbolTable {
    /// Builds the lookup table for the Huffman table `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = HuffmanCode::new(spec)?;
        Ok(Self { entries: code.build_lookup(Symbol::new)?, code })
    }

    /// Looks up the next bits without consuming them. `bits` must have 9 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn peek(&self, bits: &BitReader) -> Symbol {
        self.entries[(bits.word() >> (64 - LOOKUP_BITS)) as usize]
    }

    /// Consumes the code of `found`, the result of `peek`, and returns its symbol. `bits` must have 16 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn take(&self, found: Symbol, bits: &mut BitReader) -> Result<u8, BlockError> {
        let (symbol, length) = match found.code {
            0 => self.code.find_symbol(bits.peek(16))?,
            length => (found.symbol, length.into()),
        };
        bits.skip(length);
        Ok(symbol)
    }
}
