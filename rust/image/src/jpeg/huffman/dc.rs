//! DC differences (T.81 F.2.2.1): one lookup for the code, the value by shifts.
use super::code::{Code, Damage};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::bits::{Bits, extend};

const BITS: usize = 9;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// Bits of code and value together; zero for codes longer than the lookup.
    total: u8,
    code: u8,
    size: u8,
}

/// A table for DC differences.
pub(in crate::jpeg) struct DcTable {
    entries: [Entry; 1 << BITS],
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
            (0, _) => Entry::default(),
            (length, size) => Entry { total: length + size, code: length, size },
        });
        Ok(Self { entries: *entries, code })
    }

    /// The next difference. Needs 31 valid bits.
    #[inline(always)]
    pub(in crate::jpeg) fn difference(&self, bits: &mut Bits) -> std::result::Result<i32, Damage> {
        let mut entry = self.entries[(bits.word() >> (64 - BITS)) as usize];
        if entry.total == 0 {
            let (size, code) = self.code.find(bits.peek(16))?;
            entry = Entry { total: code as u8 + size, code: code as u8, size };
        }
        let size = u32::from(entry.size & 15);
        let value = (bits.word() << (entry.code & 63) >> 1 >> (63 - size)) as u32;
        bits.skip(entry.total.into());
        Ok(extend(value, size))
    }
}
