//! AC coefficients of progressive scans: their first bits (T.81 G.1.2.2) and the bits that follow one by one (G.1.2.3).
use crate::jpeg::huffman::code::Damage;
use crate::jpeg::huffman::symbol::SymbolTable;
use crate::jpeg::samples::Block;
use crate::jpeg::stream::bits::{Bits, extend};
use crate::jpeg::zigzag::NATURAL;

/// Run of a symbol without value that stands for sixteen zeros; smaller ones end the band of this and following blocks.
const ZEROS: u32 = 15;

/// The band of frequencies that a scan holds, and of how many blocks it is known to be empty.
pub(in crate::jpeg) struct Band<'a> {
    pub(in crate::jpeg) table: &'a SymbolTable,
    pub(in crate::jpeg) start: usize,
    pub(in crate::jpeg) end: usize,
    /// The place of the scan's lowest bit.
    pub(in crate::jpeg) low: u32,
    /// Blocks from here on without further new coefficients.
    pub(in crate::jpeg) empty: u32,
}

impl Band<'_> {
    /// Decodes the first bits of a block's band; gives the last place written, zero for none.
    #[inline(always)]
    pub(in crate::jpeg) fn first(&mut self, bits: &mut Bits, data: &[u8], block: &mut Block) -> Result<usize, Damage> {
        if self.empty > 0 {
            self.empty -= 1;
            return Ok(0);
        }
        let (mut next, mut last) = (self.start, 0);
        while next <= self.end {
            bits.refill(data);
            let found = self.table.look(bits);
            if found.total == 0 {
                let symbol = self.table.take(found, bits)?;
                let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
                if size == 0 && run < ZEROS {
                    self.empty = (1 << run) + bits.take(run) - 1;
                    break;
                }
                next += run as usize;
                if size > 0 {
                    put(block, next, self.end, extend(bits.take(size), size) << self.low)?;
                    last = next;
                }
                next += 1;
                continue;
            }
            bits.skip(found.total.into());
            next += usize::from(found.symbol >> 4);
            put(block, next, self.end, i32::from(found.value) << self.low)?;
            last = next;
            next += 1;
        }
        Ok(last)
    }

    /// Decodes one more bit of a block's band; gives the last place newly written, zero for none.
    #[inline(always)]
    pub(in crate::jpeg) fn refine(&mut self, bits: &mut Bits, data: &[u8], block: &mut Block) -> Result<usize, Damage> {
        let (mut next, mut last) = (self.start, 0);
        if self.empty == 0 {
            while next <= self.end {
                bits.refill(data);
                let symbol = self.table.take(self.table.look(bits), bits)?;
                let (run, size) = (u32::from(symbol >> 4), symbol & 15);
                if size == 0 && run < ZEROS {
                    self.empty = (1 << run) + bits.take(run);
                    break;
                }
                if size > 1 {
                    return Err(Damage::Code);
                }
                let is_positive = size == 1 && bits.flag();
                next = self.pass_zeros(bits, data, block, next, run);
                if size == 1 {
                    put(block, next, self.end, if is_positive { 1 << self.low } else { -1 << self.low })?;
                    last = next;
                }
                next += 1;
            }
        }
        if self.empty > 0 {
            self.pass_zeros(bits, data, block, next, u32::MAX);
            self.empty -= 1;
        }
        Ok(last)
    }

    /// Refines what is not zero from place `next` on until `zeros` zeros are passed; gives the place of the zero behind them, or
    /// the one behind the band.
    #[inline(always)]
    fn pass_zeros(&self, bits: &mut Bits, data: &[u8], block: &mut Block, mut next: usize, mut zeros: u32) -> usize {
        while next <= self.end {
            let value = &mut block[usize::from(NATURAL[next & 63])];
            if *value != 0 {
                if bits.count() == 0 {
                    bits.refill(data);
                }
                let bit = 1 << self.low;
                if bits.flag() && *value & bit == 0 {
                    *value = value.wrapping_add(if *value > 0 { bit } else { -bit });
                }
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            next += 1;
        }
        next
    }
}

/// Writes a coefficient, which must lie within the band.
#[inline(always)]
fn put(block: &mut Block, place: usize, end: usize, value: i32) -> Result<(), Damage> {
    if place > end {
        return Err(Damage::Run);
    }
    block[usize::from(NATURAL[place & 63])] = value as i16;
    Ok(())
}
