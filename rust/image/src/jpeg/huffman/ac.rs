//! AC coefficients of a sequential block (T.81 F.2.2.2): up to two of them per lookup, with their values.
use super::{BlockError, Code};
use crate::fault::Result;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::samples::NATURAL_ORDER;
use crate::jpeg::stream::{Bits, extend};

/// Bits of a lookup: more would miss the nearest cache, fewer would resolve less.
const AC_BITS: usize = 10;
/// Lookups that one refill pays for.
const AC_LOOKUPS: usize = 3;
/// Bits that one lookup may consume: the value of the first coefficient may reach beyond what is looked up.
const AC_LONGEST: u8 = 56 / AC_LOOKUPS as u8;
/// A step of this or more: the block ends here.
const END: u8 = 0x40;
/// A step of this: a symbol that the table does not resolve.
const OTHER: u8 = 0x80;
/// Symbol of a run of sixteen zeros.
const ZEROS: u8 = 0xf0;

/// A block in natural order; what lies behind its 64 coefficients takes writes that nobody reads.
pub(in crate::jpeg) type PaddedBlock = [i16; PADDED_BLOCK_LEN];
/// Places that a step may lead to; from 64 on they are all place 64.
pub(in crate::jpeg) const PADDED_BLOCK_LEN: usize = 256;

/// What a lookup finds.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
struct AcEntry {
    /// Bits of all that was found.
    total: u8,
    /// From the previous coefficient to the first found.
    step: u8,
    /// From the previous coefficient to the last found.
    steps: u8,
    /// Bits of the first code alone.
    code: u8,
    /// 64 less the bits of the first value.
    shift: u8,
    /// Second value.
    second: i8,
    /// What to add to the first value where it begins with a zero bit.
    negative: i16,
}

/// A table for the AC coefficients of sequential blocks.
pub(in crate::jpeg) struct AcTable {
    entries: Box<[AcEntry; 1 << AC_BITS]>,
    code: Code,
}

impl AcTable {
    /// Builds the table of `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = Code::new(spec)?;
        Ok(Self { entries: code.lookup(AcEntry::new), code })
    }

    /// Decodes the coefficients behind the DC into `block`, whose first 64 are zero but for the DC. Gives the last one's place in
    /// the order of transmission.
    #[inline(always)]
    pub(in crate::jpeg) fn block(
        &self,
        bits: &mut Bits,
        data: &[u8],
        block: &mut PaddedBlock,
    ) -> Result<usize, BlockError> {
        let mut at = *bits;
        let last = self.coefficients(&mut at, data, block);
        *bits = at;
        last
    }

    #[inline(always)]
    fn coefficients(&self, at: &mut Bits, data: &[u8], block: &mut PaddedBlock) -> Result<usize, BlockError> {
        let mut place = 0;
        loop {
            at.refill(data);
            if self.run(at, &mut place, block) {
                continue;
            }
            let entry = self.look(at);
            if entry.steps < OTHER {
                return end(entry, at, place);
            }
            at.refill(data);
            let is_end;
            (place, is_end) = self.symbol(at, place, block)?;
            if is_end {
                return Ok(place);
            }
        }
    }

    #[inline(always)]
    fn look(&self, at: &Bits) -> &AcEntry {
        &self.entries[(at.word() >> (64 - AC_BITS)) as usize]
    }

    /// The lookups of one refill; false at an entry that needs a closer look.
    #[inline(always)]
    fn run(&self, at: &mut Bits, place: &mut usize, block: &mut PaddedBlock) -> bool {
        for _ in 0..AC_LOOKUPS {
            let entry = self.look(at);
            let total = entry.total;
            let value = entry.first(at.word());
            let last = *place + usize::from(entry.steps);
            block[usize::from(NATURAL_ORDER[last & 255])] = entry.second.into();
            let first = *place + usize::from(entry.step);
            block[usize::from(NATURAL_ORDER[first & 255])] = value;
            if last >= 63 {
                return false;
            }
            at.skip(total.into());
            *place = last;
        }
        true
    }

    /// A symbol that the table does not resolve. Gives its place, and whether the block ends.
    #[inline(always)]
    fn symbol(&self, at: &mut Bits, place: usize, block: &mut PaddedBlock) -> Result<(usize, bool), BlockError> {
        let (symbol, length) = self.code.find(at.peek(16))?;
        at.skip(length);
        let size = u32::from(symbol & 15);
        if size == 0 && symbol != ZEROS {
            return Ok((place, true));
        }
        let place = place + usize::from(symbol >> 4) + 1;
        if place > 63 {
            return Err(BlockError::RunTooLong);
        }
        block[usize::from(NATURAL_ORDER[place])] = extend(at.take(size), size) as i16;
        Ok((place, place == 63))
    }
}

/// The block ends within `entry`, which is resolved: by an end-of-block symbol, or because its last coefficient is reached.
#[inline(always)]
fn end(entry: &AcEntry, at: &mut Bits, place: usize) -> Result<usize, BlockError> {
    let first = if entry.step < END { place + usize::from(entry.step) } else { place };
    if first >= 63 {
        at.skip(u32::from(entry.code) + (64 - u32::from(entry.shift)));
        return if first == 63 { Ok(63) } else { Err(BlockError::RunTooLong) };
    }
    at.skip(entry.total.into());
    if entry.steps >= END {
        return Ok(first);
    }
    if place + usize::from(entry.steps) > 63 { Err(BlockError::RunTooLong) } else { Ok(63) }
}

impl AcEntry {
    /// What the `AC_BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern];
        let (size, step) = (symbol & 15, step(symbol));
        let total = code + size;
        if code == 0 || symbol == ZEROS || total > AC_LONGEST {
            return Self { step: OTHER, steps: OTHER, ..Self::default() };
        }
        // Of 15 bits, 1 - 2^15 needs the wrapping to come out as what it is.
        let negative = 1_i16.wrapping_sub(1 << size);
        let only = Self { total, step, steps: step, code, shift: 64 - size, second: 0, negative };
        if step == END || usize::from(total) > AC_BITS { only } else { only.with_second(pattern, prefixes) }
    }

    fn with_second(self, pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern << self.total & ((1 << AC_BITS) - 1)];
        let size = symbol & 15;
        let total = self.total + code + size;
        if code == 0 || symbol == ZEROS || size > 7 || usize::from(total) > AC_BITS {
            return self;
        }
        let bits = pattern >> (AC_BITS - usize::from(total)) & ((1 << size) - 1);
        let second = extend(bits as u32, size.into()) as i8;
        Self { total, steps: self.step + step(symbol), second, ..self }
    }

    /// The first value (T.81 F.2.2.1, table F.1), which stands in `word` behind its code.
    #[inline(always)]
    fn first(&self, word: u64) -> i16 {
        let bits = word.wrapping_shl(self.code.into());
        let is_positive = (bits as i64 >> 63) as i16;
        (bits.wrapping_shr(self.shift.into()) as i16).wrapping_add(self.negative & !is_positive)
    }
}

// Stepping over the AC coefficients of sequential blocks: as many symbols per lookup as fit, no values.

/// Bits of a lookup.
const SKIP_BITS: usize = 11;
/// Lookups that one refill pays for, of which each takes at most `SKIP_LONGEST` bits.
const SKIP_LOOKUPS: usize = 4;
/// A single symbol with its value may reach beyond the lookup by so much.
const SKIP_LONGEST: u8 = 14;

/// What a lookup finds.
#[derive(Clone, Copy, Default)]
struct SkipEntry {
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
    entries: Box<[SkipEntry; 1 << SKIP_BITS]>,
    code: Code,
}

impl SkipTable {
    /// Builds the table of `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = Code::new(spec)?;
        Ok(Self { entries: code.lookup(SkipEntry::new), code })
    }

    /// Steps over the coefficients behind the DC.
    #[inline(always)]
    pub(in crate::jpeg) fn block(&self, bits: &mut Bits, data: &[u8]) -> Result<(), BlockError> {
        let mut at = *bits;
        let result = self.coefficients(&mut at, data);
        *bits = at;
        result
    }

    #[inline(always)]
    fn coefficients(&self, at: &mut Bits, data: &[u8]) -> Result<(), BlockError> {
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
                return Err(BlockError::RunTooLong);
            }
        }
    }

    /// The lookups of one refill; gives the entry that needs a closer look.
    #[inline(always)]
    fn run(&self, at: &mut Bits, place: &mut usize) -> Option<&SkipEntry> {
        for _ in 0..SKIP_LOOKUPS {
            let entry = &self.entries[(at.word() >> (64 - SKIP_BITS)) as usize];
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
    fn pass_symbol(&self, at: &mut Bits, data: &[u8]) -> Result<usize, BlockError> {
        at.refill(data);
        let (symbol, length) = self.code.find(at.peek(16))?;
        at.skip(length + u32::from(symbol & 15));
        Ok(if symbol & 15 == 0 && symbol != ZEROS { 0 } else { usize::from(symbol >> 4) + 1 })
    }
}

/// Passes the first symbol of an entry; gives its step, zero at the end of the block.
#[inline(always)]
fn pass_first(entry: &SkipEntry, at: &mut Bits) -> usize {
    at.skip(entry.first_total.into());
    if entry.first_step == END { 0 } else { entry.first_step.into() }
}

impl SkipEntry {
    /// The symbols that the `SKIP_BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let mut entry = Self { steps: OTHER, ..Self::default() };
        while usize::from(entry.total) < SKIP_BITS {
            let (length, symbol) = prefixes[pattern << entry.total & ((1 << SKIP_BITS) - 1)];
            let used = length + (symbol & 15);
            let is_first = entry.total == 0;
            let fits = if is_first { used <= SKIP_LONGEST } else { usize::from(entry.total + used) <= SKIP_BITS };
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
