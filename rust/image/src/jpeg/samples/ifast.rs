//! The fast inverse DCT of 8 x 8 samples.
//!
//! Arai, Agui and Nakajima (1988): 5 multiplications per row or column, the other factors folded into dequantization.
//! All in 16 bits; products with constants of 8 fraction bits drop their fraction. Values carry 2 fraction bits throughout.
use super::islow::{sample, store, transpose};
use super::transform::Block;
use super::transform::Multipliers;

/// The constants sqrt 2, 2 cos(pi/8), and differences, 8 fraction bits each.
pub(super) mod factors {
    pub(in super::super) const F1_082: i16 = 277;
    pub(in super::super) const F1_414: i16 = 362;
    pub(in super::super) const F1_847: i16 = 473;
    /// -2.613 is this minus one: 16-bit products cannot hold it whole.
    pub(in super::super) const MINUS_1_613: i16 = -(669 - 256);
}

type Lanes = [[i16; 8]; 8];

/// See [`super::Kernel::ifast`].
#[inline(always)]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return super::islow::flat(level(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let mut rows: Lanes = [[0; 8]; 8];
    for (i, value) in rows.as_flattened_mut().iter_mut().enumerate() {
        *value = block[i].wrapping_mul(multipliers.0[i]);
    }
    let mut rows = pass(&transpose(&pass(&rows)));
    rows.as_flattened_mut().iter_mut().for_each(|value| *value >>= 5);
    store(&transpose(&rows), out, stride);
}

/// The sample of a block whose only coefficient is `dc`.
#[inline(always)]
pub(super) fn level(dc: i16) -> u8 {
    sample(dc >> 5)
}

#[inline(always)]
fn pass(rows: &Lanes) -> Lanes {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let sums = lane_sums(std::array::from_fn(|i| rows[i][lane]));
        for (row, sum) in out.iter_mut().zip(sums) {
            row[lane] = sum;
        }
    }
    out
}

/// The integer part of a product, of which the value may use 14 bits.
#[inline(always)]
fn times(value: i16, factor: i16) -> i16 {
    ((i32::from(value << 2) * i32::from(factor << 6)) >> 16) as i16
}

#[inline(always)]
fn lane_sums(v: [i16; 8]) -> [i16; 8] {
    use factors::*;
    let (add, sub) = (i16::wrapping_add, i16::wrapping_sub);
    let (sum04, difference04) = (add(v[0], v[4]), sub(v[0], v[4]));
    let sum26 = add(v[2], v[6]);
    let difference26 = sub(times(sub(v[2], v[6]), F1_414), sum26);
    let even = [add(sum04, sum26), add(difference04, difference26), sub(difference04, difference26), sub(sum04, sum26)];
    let (sum17, difference17) = (add(v[1], v[7]), sub(v[1], v[7]));
    let (sum53, difference53) = (add(v[5], v[3]), sub(v[5], v[3]));
    let turn = times(add(difference53, difference17), F1_847);
    let o0 = add(sum17, sum53);
    let o1 = sub(add(sub(times(difference53, MINUS_1_613), difference53), turn), o0);
    let o2 = sub(times(sub(sum17, sum53), F1_414), o1);
    let o3 = add(sub(times(difference17, F1_082), turn), o2);
    let odd = [o0, o1, o2, sub(0, o3)];
    std::array::from_fn(|i| if i < 4 { add(even[i], odd[i]) } else { sub(even[7 - i], odd[7 - i]) })
}
