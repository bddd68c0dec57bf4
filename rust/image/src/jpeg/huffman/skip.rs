//! Stepping over the AC coefficients of sequential blocks: as many symbols per lookup as fit, no values.
use super::code::{Code, Damage};
use crate::fault;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::bits::Bits;

/// Bits of a lookup.
const BITS: usize = 11;
/// Lookups that one refill pays for, of which each takes at most `LONGEST` bits.
const LOOKUPS: usize = 4;
/// A single symbol with its value may reach beyond the lookup by so much.
const LONGEST: u8 = 14;
/// Steps with this: an end-of-block symbol comes last.
const END: u8 = 0x40;
/// Steps of this: a symbol that the table does not resolve.
const OTHER: u8 = 0x80;
/// Symbol of a run of sixteen zeros.
const ZEROS: u8 = 0xf0;

/// What a lookup finds.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Bits of all symbols and values.
    total: u8,
    /// Coefficients that all symbols step over.
    steps: u8,
    /// The same of the first symbol alone.
    first_total: u8,
    first_step: u8,
}

/// A table that finds the end of a block.
pub(in crate::jpeg) struct SkipTable {
    entries: Box<[Entry; 1 << BITS]>,
    code: Code,
}

impl SkipTable {
    /// Builds the table of `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> fault::Result<Self> {
        let code = Code::new(spec)?;
        Ok(Self { entries: code.lookup(Entry::new), code })
    }

    /// Steps over the coefficients behind the DC.
    #[inline(always)]
    pub(in crate::jpeg) fn block(&self, bits: &mut Bits, data: &[u8]) -> Result<(), Damage> {
        let mut at = *bits;
        let result = self.coefficients(&mut at, data);
        *bits = at;
        result
    }

    #[inline(always)]
    fn coefficients(&self, at: &mut Bits, data: &[u8]) -> Result<(), Damage> {
        let mut place = 0_usize;
        loop {
            at.refill(data);
            let Some(entry) = self.run(at, &mut place) else { continue };
            let is_end = entry.steps & END != 0;
            if is_end && entry.steps < OTHER && place + usize::from(entry.steps - END) < 63 {
                at.skip(entry.total.into());
                return Ok(());
            }
            let step = if entry.steps < OTHER { pass_first(entry, at) } else { self.pass_symbol(at, data)? };
            place += step;
            if step == 0 || place == 63 {
                return Ok(());
            }
            if place > 63 {
                return Err(Damage::Run);
            }
        }
    }

    /// The lookups of one refill; gives the entry that needs a closer look.
    #[inline(always)]
    fn run(&self, at: &mut Bits, place: &mut usize) -> Option<&Entry> {
        for _ in 0..LOOKUPS {
            let entry = &self.entries[(at.word() >> (64 - BITS)) as usize];
            let next = *place + usize::from(entry.steps);
            if next >= 63 {
                return Some(entry);
            }
            at.skip(entry.total.into());
            *place = next;
        }
        None
    }

    /// Passes a symbol that the table does not resolve; gives its step, zero at the end of the block.
    #[inline(always)]
    fn pass_symbol(&self, at: &mut Bits, data: &[u8]) -> Result<usize, Damage> {
        at.refill(data);
        let (symbol, length) = self.code.find(at.peek(16))?;
        at.skip(length + u32::from(symbol & 15));
        Ok(if symbol & 15 == 0 && symbol != ZEROS { 0 } else { usize::from(symbol >> 4) + 1 })
    }
}

/// Passes the first symbol of an entry; gives its step, zero at the end of the block.
#[inline(always)]
fn pass_first(entry: &Entry, at: &mut Bits) -> usize {
    at.skip(entry.first_total.into());
    if entry.first_step == END { 0 } else { entry.first_step.into() }
}

impl Entry {
    /// The symbols that the `BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let mut entry = Self { steps: OTHER, ..Self::default() };
        while usize::from(entry.total) < BITS {
            let (length, symbol) = prefixes[pattern << entry.total & ((1 << BITS) - 1)];
            let used = length + (symbol & 15);
            let is_first = entry.total == 0;
            let fits = if is_first { used <= LONGEST } else { usize::from(entry.total + used) <= BITS };
            let step = step(symbol);
            let steps = if is_first { step } else { entry.steps + step };
            if length == 0 || !fits || (step < END && steps >= END) {
                break;
            }
            entry = match is_first {
                true => Self { total: used, steps, first_total: used, first_step: step },
                false => Self { total: entry.total + used, steps, ..entry },
            };
            if step == END {
                break;
            }
        }
        entry
    }
}

fn step(symbol: u8) -> u8 {
    match symbol {
        ZEROS => 16,
        _ if symbol & 15 == 0 => END,
        _ => (symbol >> 4) + 1,
    }
}
