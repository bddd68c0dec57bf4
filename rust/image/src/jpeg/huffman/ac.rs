//! AC coefficients of a sequential block (T.81 F.2.2.2): up to two of them per lookup, with their values.
use super::code::{Code, Damage};
use crate::fault;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::bits::{Bits, extend};
use crate::jpeg::zigzag::NATURAL;

/// Bits of a lookup: more would miss the nearest cache, fewer would resolve less.
const BITS: usize = 10;
/// Lookups that one refill pays for.
const LOOKUPS: usize = 3;
/// Bits that one lookup may consume: the value of the first coefficient may reach beyond what is looked up.
const LONGEST: u8 = 56 / LOOKUPS as u8;
/// A step of this or more: the block ends here.
const END: u8 = 0x40;
/// A step of this: a symbol that the table does not resolve.
const OTHER: u8 = 0x80;
/// Symbol of a run of sixteen zeros.
const ZEROS: u8 = 0xf0;

/// A block in natural order; what lies behind its 64 coefficients takes writes that nobody reads.
pub(in crate::jpeg) type RoomyBlock = [i16; ROOM];
/// Places that a step may lead to; from 64 on they are all place 64.
pub(in crate::jpeg) const ROOM: usize = 256;

/// What a lookup finds.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
struct Entry {
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
    entries: Box<[Entry; 1 << BITS]>,
    code: Code,
}

impl AcTable {
    /// Builds the table of `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> fault::Result<Self> {
        let code = Code::new(spec)?;
        Ok(Self { entries: code.lookup(Entry::new), code })
    }

    /// Decodes the coefficients behind the DC into `block`, whose first 64 are zero but for the DC. Gives the last one's place in
    /// the order of transmission.
    #[inline(always)]
    pub(in crate::jpeg) fn block(&self, bits: &mut Bits, data: &[u8], block: &mut RoomyBlock) -> Result<usize, Damage> {
        let mut at = *bits;
        let last = self.coefficients(&mut at, data, block);
        *bits = at;
        last
    }

    #[inline(always)]
    fn coefficients(&self, at: &mut Bits, data: &[u8], block: &mut RoomyBlock) -> Result<usize, Damage> {
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
    fn look(&self, at: &Bits) -> &Entry {
        &self.entries[(at.word() >> (64 - BITS)) as usize]
    }

    /// The lookups of one refill; false at an entry that needs a closer look.
    #[inline(always)]
    fn run(&self, at: &mut Bits, place: &mut usize, block: &mut RoomyBlock) -> bool {
        for _ in 0..LOOKUPS {
            let entry = self.look(at);
            let total = entry.total;
            let value = entry.first(at.word());
            let last = *place + usize::from(entry.steps);
            block[usize::from(NATURAL[last & 255])] = entry.second.into();
            let first = *place + usize::from(entry.step);
            block[usize::from(NATURAL[first & 255])] = value;
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
    fn symbol(&self, at: &mut Bits, place: usize, block: &mut RoomyBlock) -> Result<(usize, bool), Damage> {
        let (symbol, length) = self.code.find(at.peek(16))?;
        at.skip(length);
        let size = u32::from(symbol & 15);
        if size == 0 && symbol != ZEROS {
            return Ok((place, true));
        }
        let place = place + usize::from(symbol >> 4) + 1;
        if place > 63 {
            return Err(Damage::Run);
        }
        block[usize::from(NATURAL[place])] = extend(at.take(size), size) as i16;
        Ok((place, place == 63))
    }
}

/// The block ends within `entry`, which is resolved: by an end-of-block symbol, or because its last coefficient is reached.
#[inline(always)]
fn end(entry: &Entry, at: &mut Bits, place: usize) -> Result<usize, Damage> {
    let first = if entry.step < END { place + usize::from(entry.step) } else { place };
    if first >= 63 {
        at.skip(u32::from(entry.code) + (64 - u32::from(entry.shift)));
        return if first == 63 { Ok(63) } else { Err(Damage::Run) };
    }
    at.skip(entry.total.into());
    if entry.steps >= END {
        return Ok(first);
    }
    if place + usize::from(entry.steps) > 63 { Err(Damage::Run) } else { Ok(63) }
}

impl Entry {
    /// What the `BITS` bits of `pattern` hold, told from the codes that `prefixes` finds.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern];
        let (size, step) = (symbol & 15, step(symbol));
        let total = code + size;
        if code == 0 || symbol == ZEROS || total > LONGEST {
            return Self { step: OTHER, steps: OTHER, ..Self::default() };
        }
        // Of 15 bits, 1 - 2^15 needs the wrapping to come out as what it is.
        let negative = 1_i16.wrapping_sub(1 << size);
        let only = Self { total, step, steps: step, code, shift: 64 - size, second: 0, negative };
        if step == END || usize::from(total) > BITS { only } else { only.with_second(pattern, prefixes) }
    }

    fn with_second(self, pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern << self.total & ((1 << BITS) - 1)];
        let size = symbol & 15;
        let total = self.total + code + size;
        if code == 0 || symbol == ZEROS || size > 7 || usize::from(total) > BITS {
            return self;
        }
        let bits = pattern >> (BITS - usize::from(total)) & ((1 << size) - 1);
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

fn step(symbol: u8) -> u8 {
    if symbol & 15 == 0 { END } else { (symbol >> 4) + 1 }
}
