//! Tests of sample processing: kernels against each other, against formulas, and against libjpeg.
mod images;
mod kernels;
mod libjpeg;
mod transforms;

use super::{Block, Dct, PixelFormat};
use libjpeg::ZIGZAG;

/// SplitMix64 random number generator, so that every run tests the same values.
pub(super) struct RandomNumbers(pub u64);

impl RandomNumbers {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Returns a value of at most `bits` bits with either sign.
    pub(super) fn signed(&mut self, bits: u32) -> i16 {
        let value = (self.next() >> 32) as i64 & ((1 << bits) - 1);
        let value = if self.next().is_multiple_of(2) { value } else { -value };
        value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    /// Returns a block that is zero after zig-zag index `last` and has values of at most `bits` bits up to there.
    pub(super) fn block(&mut self, last: usize, bits: u32) -> Block {
        let mut block = [0; 64];
        for &index in &ZIGZAG[..=last] {
            let bits = 1 + self.below(bits as usize) as u32;
            block[index] = if self.next().is_multiple_of(3) { 0 } else { self.signed(bits) };
        }
        block
    }
}
