//! Inverse DCTs to 4 x 4, 2 x 2 and 1 x 1 samples.
//!
//! The lower frequencies of the 8-point transform seen at the smaller block's sample positions, with the higher ones folded
//! in; coefficients that would only add ripple (row and column 4, and for 2 x 2 all even ones but the first) are left out.
//! 13 fraction bits, columns first, 2 fraction bits between the passes, as in the full-size transform.
use super::islow::{BETWEEN, FRACTION, flat, sample, saturated};
use super::transform::Block;
use super::transform::Multipliers;

pub(super) mod factors {
    pub(in super::super) const HALF_26: [i16; 2] = [15137, -6270];
    pub(in super::super) const HALF_INNER: [i16; 4] = [8697, -17799, 11893, -1730];
    pub(in super::super) const HALF_OUTER: [i16; 4] = [20995, 7373, -4926, -4176];
    pub(in super::super) const QUARTER: [i16; 4] = [29692, -10426, 6967, -5906];
}

#[inline(always)]
fn value(block: &Block, multipliers: &Multipliers, i: usize) -> i16 {
    block[i].wrapping_mul(multipliers.0[i])
}

/// The product of odd-frequency inputs 1, 3, 5, 7 with `factors`. Absurd inputs wrap at 32 bits.
#[inline(always)]
fn odd(inputs: [i16; 4], factors: [i16; 4]) -> i32 {
    let product = |i: usize| i32::from(inputs[i]) * i32::from(factors[i]);
    (product(0) + product(1)).wrapping_add(product(2) + product(3))
}

#[inline(always)]
fn rounded(value: i32, shift: i32) -> i32 {
    value.wrapping_add(1 << (shift - 1)) >> shift
}

/// See [`super::Kernel::half`].
#[inline(always)]
pub(super) fn half(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return flat(super::islow::level(value(block, multipliers, 0)), 4, out, stride);
    }
    let input = |row: usize, column: usize| value(block, multipliers, 8 * row + column);
    let flat_columns = block[8..32].iter().chain(&block[40..]).all(|&coefficient| coefficient == 0);
    let mut columns = [[0; 8]; 4];
    for column in 0..8 {
        let sums = half_sums(std::array::from_fn(|row| input(row, column)));
        for (row, sum) in columns.iter_mut().zip(sums) {
            row[column] = if flat_columns {
                input(0, column) << BETWEEN
            } else {
                saturated(rounded(sum, FRACTION - BETWEEN + 1))
            };
        }
    }
    for (y, row) in columns.into_iter().enumerate() {
        let sums = half_sums(row).map(|sum| sample(saturated(rounded(sum, FRACTION + BETWEEN + 4))));
        out[y * stride..y * stride + 4].copy_from_slice(&sums);
    }
}

/// Four outputs of one lane, one fraction bit more than [`FRACTION`].
#[inline(always)]
fn half_sums(v: [i16; 8]) -> [i32; 4] {
    use factors::*;
    let first = i32::from(v[0]) << (FRACTION + 1);
    let second = i32::from(v[2]) * i32::from(HALF_26[0]) + i32::from(v[6]) * i32::from(HALF_26[1]);
    let odds = [v[1], v[3], v[5], v[7]];
    let (inner, outer) = (odd(odds, HALF_INNER), odd(odds, HALF_OUTER));
    let (sum, difference) = (first.wrapping_add(second), first.wrapping_sub(second));
    [sum.wrapping_add(outer), difference.wrapping_add(inner), difference.wrapping_sub(inner), sum.wrapping_sub(outer)]
}

/// The sample of a 2 x 2 block whose only coefficient is `dc`.
#[inline(always)]
pub(super) fn quarter_level(dc: i16) -> u8 {
    let sum = (i32::from(dc) << BETWEEN) << (FRACTION + 2);
    sample(saturated(rounded(sum, FRACTION + BETWEEN + 5)))
}

/// See [`super::Kernel::quarter`].
#[inline(always)]
pub(super) fn quarter(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return flat(quarter_level(value(block, multipliers, 0)), 2, out, stride);
    }
    let column = |column: usize| {
        let input = |row: usize| value(block, multipliers, 8 * row + column);
        let first = i32::from(input(0)) << (FRACTION + 2);
        let odd = odd([input(1), input(3), input(5), input(7)], factors::QUARTER);
        [first.wrapping_add(odd), first.wrapping_sub(odd)].map(|sum| rounded(sum, FRACTION - BETWEEN + 2))
    };
    let columns = [0, 1, 3, 5, 7].map(column);
    for y in 0..2 {
        // The first column is not narrowed to 16 bits between the passes, the others are.
        let first = columns[0][y] << (FRACTION + 2);
        let odd = odd([1, 2, 3, 4].map(|i| saturated(columns[i][y])), factors::QUARTER);
        let sums = [first.wrapping_add(odd), first.wrapping_sub(odd)];
        let samples = sums.map(|sum| sample(saturated(rounded(sum, FRACTION + BETWEEN + 5))));
        out[y * stride..y * stride + 2].copy_from_slice(&samples);
    }
}

/// One sample: the block's mean. libjpeg has no SIMD form of it: the product is whole, and then wraps at 10 bits.
#[inline(always)]
pub(super) fn mean(block: &Block, multipliers: &Multipliers) -> u8 {
    let dc = i32::from(block[0]) * i32::from(multipliers.0[0]);
    let mean = (dc + 4) >> 3;
    sample(((mean << 22) >> 22) as i16)
}
