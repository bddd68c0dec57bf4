//! Lookup tables for the AC coefficients of sequential blocks (T.81 F.2.2.2): decoding, and skipping without values.
use super::{BlockError, HuffmanCode};
use crate::fault::Result;
use crate::jpeg::header::tables::HuffmanSpec;
use crate::jpeg::samples::NATURAL_ORDER;
use crate::jpeg::stream::{BitReader, extend_sign};

/// Number of bits that index the lookup table. A larger table would exceed the L1 cache; a smaller one would resolve
/// fewer symbols.
const AC_BITS: usize = 10;
/// Number of lookups per refill of the bit reader.
const AC_LOOKUPS: usize = 3;
/// Largest number of bits that one lookup may consume. The value after the first code may extend beyond the `AC_BITS`
/// bits of the table index.
const AC_LONGEST: u8 = 56 / AC_LOOKUPS as u8;
/// Flag in the fields `step` and `steps` of a table entry: the block ends after this entry.
const END_OF_BLOCK: u8 = 0x40;
/// Value of `step` and `steps` in a table entry whose first symbol must be decoded without the lookup table.
const UNRESOLVED: u8 = 0x80;
/// Symbol of a run of sixteen zeros (ZRL).
const ZRL: u8 = 0xf0;

/// A block in natural order, followed by padding that receives ignored writes past coefficient 63.
pub(in crate::jpeg) type PaddedBlock = [i16; PADDED_BLOCK_LEN];
/// Number of zig-zag indices that the distances in table entries can reach. All indices from 64 on map to index 64.
pub(in crate::jpeg) const PADDED_BLOCK_LEN: usize = 256;

/// Entry of the decoding table: up to two coefficients.
#[derive(Clone, Copy, Default)]
#[repr(align(8))]
struct AcEntry {
    /// Number of bits that this entry consumes: its codes, each followed by the bits of its value.
    total: u8,
    /// Distance in zig-zag order from the previous coefficient to the first coefficient of this entry.
    step: u8,
    /// Distance in zig-zag order from the previous coefficient to the last coefficient of this entry.
    steps: u8,
    /// Number of bits of the first code.
    code: u8,
    /// 64 minus the number of bits of the first value.
    shift: u8,
    /// Value of the second coefficient.
    second: i8,
    /// Addend for the first value if its bits begin with zero (T.81 F.2.2.1).
    negative: i16,
}

/// Lookup table that decodes the AC coefficients of sequential blocks.
pub(in crate::jpeg) struct AcTable {
    entries: Box<[AcEntry; 1 << AC_BITS]>,
    code: HuffmanCode,
}

impl AcTable {
    /// Builds the lookup table for the Huffman table `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = HuffmanCode::new(spec)?;
        Ok(Self { entries: code.build_lookup(AcEntry::new)?, code })
    }

    /// Decodes the AC coefficients of a block into `block`, whose first 64 values must be zero except DC. Returns the
    /// zig-zag index of the last coefficient.
    #[inline(always)]
    pub(in crate::jpeg) fn decode_block(
        &self,
        bits: &mut BitReader,
        data: &[u8],
        block: &mut PaddedBlock,
    ) -> Result<usize, BlockError> {
        let mut reader = *bits;
        let last = self.decode_coefficients(&mut reader, data, block);
        *bits = reader;
        last
    }

    #[inline(always)]
    fn decode_coefficients(
        &self,
        reader: &mut BitReader,
        data: &[u8],
        block: &mut PaddedBlock,
    ) -> Result<usize, BlockError> {
        let mut zigzag = 0;
        loop {
            reader.refill(data);
            if self.decode_entries(reader, &mut zigzag, block) {
                continue;
            }
            let entry = self.peek_entry(reader);
            if entry.steps < UNRESOLVED {
                return finish_block(entry, reader, zigzag);
            }
            reader.refill(data);
            let is_end;
            (zigzag, is_end) = self.decode_long_symbol(reader, zigzag, block)?;
            if is_end {
                return Ok(zigzag);
            }
        }
    }

    #[inline(always)]
    fn peek_entry(&self, reader: &BitReader) -> &AcEntry {
        &self.entries[(reader.word() >> (64 - AC_BITS)) as usize]
    }

    /// Performs up to `AC_LOOKUPS` lookups. Returns false at an entry that ends the block or is unresolved.
    #[inline(always)]
    fn decode_entries(&self, reader: &mut BitReader, zigzag: &mut usize, block: &mut PaddedBlock) -> bool {
        for _ in 0..AC_LOOKUPS {
            let entry = self.peek_entry(reader);
            let total = entry.total;
            let value = entry.first_value(reader.word());
            let last = *zigzag + usize::from(entry.steps);
            block[usize::from(NATURAL_ORDER[last & 255])] = entry.second.into();
            let first = *zigzag + usize::from(entry.step);
            block[usize::from(NATURAL_ORDER[first & 255])] = value;
            if last >= 63 {
                return false;
            }
            reader.skip(total.into());
            *zigzag = last;
        }
        true
    }

    /// Decodes a symbol that the table does not resolve. Returns the zig-zag index of its coefficient, and whether the
    /// block ends.
    #[inline(always)]
    fn decode_long_symbol(
        &self,
        reader: &mut BitReader,
        zigzag: usize,
        block: &mut PaddedBlock,
    ) -> Result<(usize, bool), BlockError> {
        let (symbol, length) = self.code.find_symbol(reader.peek(16))?;
        reader.skip(length);
        let size = u32::from(symbol & 15);
        if size == 0 && symbol != ZRL {
            return Ok((zigzag, true));
        }
        let zigzag = zigzag + usize::from(symbol >> 4) + 1;
        if zigzag > 63 {
            return Err(BlockError::RunTooLong);
        }
        block[usize::from(NATURAL_ORDER[zigzag])] = extend_sign(reader.take(size), size) as i16;
        Ok((zigzag, zigzag == 63))
    }
}

/// Finishes a block that ends within the resolved `entry`, by an end-of-block symbol or at coefficient 63.
#[inline(always)]
fn finish_block(entry: &AcEntry, reader: &mut BitReader, zigzag: usize) -> Result<usize, BlockError> {
    let first = if entry.step < END_OF_BLOCK { zigzag + usize::from(entry.step) } else { zigzag };
    if first >= 63 {
        reader.skip(u32::from(entry.code) + (64 - u32::from(entry.shift)));
        return if first == 63 { Ok(63) } else { Err(BlockError::RunTooLong) };
    }
    reader.skip(entry.total.into());
    if entry.steps >= END_OF_BLOCK {
        return Ok(first);
    }
    if zigzag + usize::from(entry.steps) > 63 { Err(BlockError::RunTooLong) } else { Ok(63) }
}

impl AcEntry {
    /// Creates the table entry at index `pattern`. `prefixes` lists, for every index, the length and symbol of the code
    /// with which its bits begin.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern];
        let (size, step) = (symbol & 15, coefficient_step(symbol));
        let total = code + size;
        if code == 0 || symbol == ZRL || total > AC_LONGEST {
            return Self { step: UNRESOLVED, steps: UNRESOLVED, ..Self::default() };
        }
        // A value of 15 bits needs the addend 1 - 2^15. The shift overflows to -2^15, and the wrapping subtraction
        // gives this addend.
        let negative = 1_i16.wrapping_sub(1 << size);
        let only = Self { total, step, steps: step, code, shift: 64 - size, second: 0, negative };
        if step == END_OF_BLOCK || usize::from(total) > AC_BITS {
            only
        } else {
            only.with_second_coefficient(pattern, prefixes)
        }
    }

    fn with_second_coefficient(self, pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let (code, symbol) = prefixes[pattern << self.total & ((1 << AC_BITS) - 1)];
        let size = symbol & 15;
        let total = self.total + code + size;
        if code == 0 || symbol == ZRL || size > 7 || usize::from(total) > AC_BITS {
            return self;
        }
        let bits = pattern >> (AC_BITS - usize::from(total)) & ((1 << size) - 1);
        let second = extend_sign(bits as u32, size.into()) as i8;
        Self { total, steps: self.step + coefficient_step(symbol), second, ..self }
    }

    /// Returns the value of the first coefficient (T.81 F.2.2.1, table F.1); its bits follow its code in `word`.
    #[inline(always)]
    fn first_value(&self, word: u64) -> i16 {
        let bits = word.wrapping_shl(self.code.into());
        let is_positive = (bits as i64 >> 63) as i16;
        (bits.wrapping_shr(self.shift.into()) as i16).wrapping_add(self.negative & !is_positive)
    }
}

/// Number of bits that index the lookup table for skipping coefficients.
const SKIP_BITS: usize = 11;
/// Number of lookups per refill of the bit reader. Each lookup consumes at most `SKIP_LONGEST` bits.
const SKIP_LOOKUPS: usize = 4;
/// Largest number of bits that one lookup may consume. The value after the first code may extend beyond the `SKIP_BITS`
/// bits of the table index.
const SKIP_LONGEST: u8 = 14;

/// Entry of the table for skipping: as many symbols, each with its value, as fit into a table index.
#[derive(Clone, Copy, Default)]
struct SkipEntry {
    /// Number of bits that this entry skips: its codes, each followed by the bits of its value.
    total: u8,
    /// Number of coefficients that all symbols of the entry cover together.
    steps: u8,
    /// Number of bits of the first code together with its value.
    first_total: u8,
    first_step: u8,
}

/// Lookup table that skips the AC coefficients of sequential blocks.
pub(in crate::jpeg) struct SkipTable {
    entries: Box<[SkipEntry; 1 << SKIP_BITS]>,
    code: HuffmanCode,
}

impl SkipTable {
    /// Builds the lookup table for the Huffman table `spec`.
    pub(in crate::jpeg) fn new(spec: &HuffmanSpec) -> Result<Self> {
        let code = HuffmanCode::new(spec)?;
        Ok(Self { entries: code.build_lookup(SkipEntry::new)?, code })
    }

    /// Skips the AC coefficients of a block.
    #[inline(always)]
    pub(in crate::jpeg) fn skip_block(&self, bits: &mut BitReader, data: &[u8]) -> Result<(), BlockError> {
        let mut reader = *bits;
        let result = self.skip_coefficients(&mut reader, data);
        *bits = reader;
        result
    }

    #[inline(always)]
    fn skip_coefficients(&self, reader: &mut BitReader, data: &[u8]) -> Result<(), BlockError> {
        let mut zigzag = 0_usize;
        loop {
            reader.refill(data);
            let Some(entry) = self.skip_entries(reader, &mut zigzag) else { continue };
            let is_end = entry.steps & END_OF_BLOCK != 0;
            if is_end && entry.steps < UNRESOLVED && zigzag + usize::from(entry.steps - END_OF_BLOCK) < 63 {
                reader.skip(entry.total.into());
                return Ok(());
            }
            let step = if entry.steps < UNRESOLVED {
                skip_first_symbol(entry, reader)
            } else {
                self.skip_long_symbol(reader, data)?
            };
            zigzag += step;
            if step == 0 || zigzag == 63 {
                return Ok(());
            }
            if zigzag > 63 {
                return Err(BlockError::RunTooLong);
            }
        }
    }

    /// Performs up to `SKIP_LOOKUPS` lookups. Stops at an entry that may end the block or is unresolved, and returns
    /// this entry.
    #[inline(always)]
    fn skip_entries(&self, reader: &mut BitReader, zigzag: &mut usize) -> Option<&SkipEntry> {
        for _ in 0..SKIP_LOOKUPS {
            let entry = &self.entries[(reader.word() >> (64 - SKIP_BITS)) as usize];
            let next = *zigzag + usize::from(entry.steps);
            if next >= 63 {
                return Some(entry);
            }
            reader.skip(entry.total.into());
            *zigzag = next;
        }
        None
    }

    /// Skips a symbol that the table does not resolve. Returns the number of coefficients that it covers, or zero at
    /// the end of the block.
    #[inline(always)]
    fn skip_long_symbol(&self, reader: &mut BitReader, data: &[u8]) -> Result<usize, BlockError> {
        reader.refill(data);
        let (symbol, length) = self.code.find_symbol(reader.peek(16))?;
        reader.skip(length + u32::from(symbol & 15));
        Ok(if symbol & 15 == 0 && symbol != ZRL { 0 } else { usize::from(symbol >> 4) + 1 })
    }
}

/// Skips the first symbol of an entry. Returns the number of coefficients that it covers, or zero at the end of the
/// block.
#[inline(always)]
fn skip_first_symbol(entry: &SkipEntry, reader: &mut BitReader) -> usize {
    reader.skip(entry.first_total.into());
    if entry.first_step == END_OF_BLOCK { 0 } else { entry.first_step.into() }
}

impl SkipEntry {
    /// Creates the table entry at index `pattern`. `prefixes` lists, for every index, the length and symbol of the code
    /// with which its bits begin.
    fn new(pattern: usize, prefixes: &[(u8, u8)]) -> Self {
        let mut entry = Self { steps: UNRESOLVED, ..Self::default() };
        while usize::from(entry.total) < SKIP_BITS {
            let (length, symbol) = prefixes[pattern << entry.total & ((1 << SKIP_BITS) - 1)];
            let used = length + (symbol & 15);
            let is_first = entry.total == 0;
            let fits = if is_first { used <= SKIP_LONGEST } else { usize::from(entry.total + used) <= SKIP_BITS };
            let step = coefficient_step(symbol);
            let steps = if is_first { step } else { entry.steps + step };
            if length == 0 || !fits || (step < END_OF_BLOCK && steps >= END_OF_BLOCK) {
                break;
            }
            entry = match is_first {
                true => Self { total: used, steps, first_total: used, first_step: step },
                false => Self { total: entry.total + used, steps, ..entry },
            };
            if step == END_OF_BLOCK {
                break;
            }
        }
        entry
    }
}

fn coefficient_step(symbol: u8) -> u8 {
    match symbol {
        ZRL => 16,
        _ if symbol & 15 == 0 => END_OF_BLOCK,
        _ => (symbol >> 4) + 1,
    }
}
