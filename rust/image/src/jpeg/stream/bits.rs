//! A bit reader over bytes without stuffing: the most significant bit first, at least 56 bits after each refill.

/// A place in a bit stream. Copied into registers by the loops that read much.
#[derive(Debug, Clone, Copy)]
pub(in crate::jpeg) struct Bits {
    /// The next bits, left-aligned.
    word: u64,
    /// How many bits of `word` are valid.
    count: u32,
    /// The byte that the next refill begins with.
    next: usize,
}

impl Bits {
    /// Starts at byte `next`.
    #[inline(always)]
    pub(in crate::jpeg) fn new(next: usize) -> Self {
        Self { word: 0, count: 0, next }
    }

    /// Tops up to 56 bits or more. `data` must have eight bytes from the next byte on.
    #[inline(always)]
    pub(in crate::jpeg) fn refill(&mut self, data: &[u8]) {
        let bytes = data[self.next..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.word |= bytes >> self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    /// All valid bits, left-aligned.
    #[inline(always)]
    pub(in crate::jpeg) fn word(&self) -> u64 {
        self.word
    }

    /// The next `count` bits, 1 to 32, as a number.
    #[inline(always)]
    pub(in crate::jpeg) fn peek(&self, count: u32) -> u32 {
        (self.word >> (64 - count)) as u32
    }

    /// Steps over `count` bits, at most as many as are valid.
    #[inline(always)]
    pub(in crate::jpeg) fn skip(&mut self, count: u32) {
        self.word = self.word.wrapping_shl(count);
        self.count = self.count.wrapping_sub(count);
    }

    /// Takes the next bit.
    #[inline(always)]
    pub(in crate::jpeg) fn flag(&mut self) -> bool {
        let bit = self.word >> 63 != 0;
        self.skip(1);
        bit
    }

    /// Takes the next `count` bits, 0 to 32, as a number.
    #[inline(always)]
    pub(in crate::jpeg) fn take(&mut self, count: u32) -> u32 {
        let value = (self.word >> 1 >> (63 - count)) as u32;
        self.skip(count);
        value
    }

    /// How many bits are valid.
    #[inline(always)]
    pub(in crate::jpeg) fn count(&self) -> u32 {
        self.count
    }

    /// The byte that the next refill begins with.
    #[inline(always)]
    pub(in crate::jpeg) fn next_byte(&self) -> usize {
        self.next
    }

    /// Bits consumed since byte zero of the data.
    pub(in crate::jpeg) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }

    /// The same place after `bytes` leading bytes of the data were dropped.
    pub(in crate::jpeg) fn moved(mut self, bytes: usize) -> Self {
        self.next -= bytes;
        self
    }
}

/// The value of `size` bits `bits` behind a code of that size (T.81 F.2.2.1, table F.1): numbers that begin with a zero bit are
/// negative.
#[inline(always)]
pub(in crate::jpeg) fn extend(bits: u32, size: u32) -> i32 {
    let value = bits as i32;
    let is_negative = (value - ((1 << size) >> 1)) >> 31;
    value + (is_negative & (1 - (1 << size)))
}

#[cfg(test)]
mod tests {
    use super::{Bits, extend};

    #[test]
    fn take_when_bits_cross_bytes_then_gives_them_in_order() {
        let data: Vec<u8> = (0..64_u8).map(|byte| byte.wrapping_mul(37)).collect();
        let mut bits = Bits::new(0);
        let mut position = 0;
        for count in (0..=24).chain(0..=7) {
            bits.refill(&data);
            let expected = (position..position + count as usize)
                .fold(0, |value, bit| value << 1 | u32::from(data[bit / 8] >> (7 - bit % 8) & 1));
            assert_eq!(bits.take(count), expected);
            position += count as usize;
            assert_eq!(bits.position(), position);
        }
    }

    #[test]
    fn extend_when_every_pattern_then_follows_table_f_1() {
        assert_eq!((extend(0, 0), extend(0, 1), extend(1, 1)), (0, -1, 1));
        assert_eq!((0..4).map(|bits| extend(bits, 2)).collect::<Vec<_>>(), [-3, -2, 2, 3]);
        assert_eq!((extend(0, 15), extend(0x7fff, 15)), (-32767, 32767));
    }
}
