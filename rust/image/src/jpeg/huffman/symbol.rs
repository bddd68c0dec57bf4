//! Symbols of progressive AC scans (T.81 G.1.2): one lookup for the code, and for the value where it is short.
use super::code::{Code, Damage};
use crate::fault::Result;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::bits::{Bits, extend};

/// Bits of a lookup. The tables of progressive scans are small, and often made for one scan only.
const BITS: usize = 9;

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
    entries: Box<[Symbol; 1 << BITS]>,
    code: Code,
}

impl Symbol {
    /// What the `BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (length, symbol) = prefixes[pattern];
        let (size, total) = (symbol & 15, usize::from(length + (symbol & 15)));
        if length == 0 || size == 0 || total > BITS {
            return Self { symbol, code: length, total: 0, value: 0 };
        }
        let bits = pattern >> (BITS - total) & ((1 << size) - 1);
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
        self.entries[(bits.word() >> (64 - BITS)) as usize]
    }

    /// Consumes the code of `found`, the symbol that `look` gave, and gives the symbol. Needs 16 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn take(&self, found: Symbol, bits: &mut Bits) -> std::result::Result<u8, Damage> {
        let (symbol, length) = match found.code {
            0 => self.code.find(bits.peek(16))?,
            length => (found.symbol, length.into()),
        };
        bits.skip(length);
        Ok(symbol)
    }
}
