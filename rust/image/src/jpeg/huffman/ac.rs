//! AC coefficients of a sequential block (T.81 F.2.2.2): up to two of them per lookup, with their values.
use super::code::{Code, Damage};
use crate::fault;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::stream::bits::{Bits, extend};
use crate::jpeg::zigzag::NATURAL;

/// Bits of a lookup: more would miss the nearest cache, fewer would resolve less.
pub(super) const BITS: usize = 11;
/// Lookups that one refill pays for.
const LOOKUPS: usize = 56 / BITS;
/// A step of this or more: the block ends here.
const END: u8 = 0x40;
/// Steps of this or more: the value behind the code is not in the table.
const VALUE: u8 = 0x80;
/// Steps of this or more: the code is not in the table, or is a run of sixteen zeros.
const CODE: u8 = 0xc0;
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
    /// Bits of the first find alone; of its code alone where the value is not in the table.
    alone: u8,
    /// First value; where it is not in the table, its size.
    first: i16,
    /// Second value.
    second: i16,
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
            if entry.steps < VALUE {
                return end(entry, at, place);
            }
            at.refill(data);
            let is_end;
            (place, is_end) =
                if entry.steps < CODE { value(entry, at, place, block)? } else { self.symbol(at, place, block)? };
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
            let entry = *self.look(at);
            let first = *place + usize::from(entry.step);
            let last = *place + usize::from(entry.steps);
            block[usize::from(NATURAL[last & 255])] = entry.second;
            block[usize::from(NATURAL[first & 255])] = entry.first;
            if last >= 63 {
                return false;
            }
            at.skip(entry.total.into());
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

/// A value whose code the table resolves, and whose size it gives.
#[inline(always)]
fn value(entry: &Entry, at: &mut Bits, place: usize, block: &mut RoomyBlock) -> Result<(usize, bool), Damage> {
    let place = place + usize::from(entry.step);
    if place > 63 {
        return Err(Damage::Run);
    }
    let size = (entry.first as u32) & 15;
    at.skip(entry.alone.into());
    block[usize::from(NATURAL[place])] = extend(at.take(size), size) as i16;
    Ok((place, place == 63))
}

/// The block ends within `entry`, which is resolved: by an end-of-block symbol, or because its last coefficient is reached.
#[inline(always)]
fn end(entry: &Entry, at: &mut Bits, place: usize) -> Result<usize, Damage> {
    let first = if entry.step < END { place + usize::from(entry.step) } else { place };
    if first >= 63 {
        at.skip(entry.alone.into());
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
        let (length, symbol) = prefixes[pattern];
        if length == 0 || symbol == ZEROS {
            return Self { step: CODE, steps: CODE, ..Self::default() };
        }
        let size = symbol & 15;
        let step = step(symbol);
        let used = length + size;
        if usize::from(used) > BITS {
            return Self { total: used, step, steps: VALUE, alone: length, first: size.into(), second: 0 };
        }
        let only = Self { total: used, step, steps: step, alone: used, first: stored(pattern, used, size), second: 0 };
        if step == END { only } else { only.with_second(pattern, prefixes) }
    }

    fn with_second(self, pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (length, symbol) = prefixes[pattern << self.total & ((1 << BITS) - 1)];
        let size = symbol & 15;
        let total = self.total + length + size;
        if length == 0 || symbol == ZEROS || usize::from(total) > BITS {
            return self;
        }
        Self { total, steps: self.step + step(symbol), second: stored(pattern, total, size), ..self }
    }
}

fn step(symbol: u8) -> u8 {
    if symbol & 15 == 0 { END } else { (symbol >> 4) + 1 }
}

/// The value of `size` bits that ends `used` bits into `pattern`.
fn stored(pattern: usize, used: u8, size: u8) -> i16 {
    let bits = pattern >> (BITS - usize::from(used)) & ((1 << size) - 1);
    extend(bits as u32, size.into()) as i16
}
