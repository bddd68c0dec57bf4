//! The accurate inverse DCT of 8 x 8 samples.
//!
//! Loeffler, Ligtenberg and Moschytz (1989): 11 multiplications per row or column, here with constants of 13 fraction bits,
//! grouped into sums of two 16-bit products. Columns first, kept with 2 fraction bits; then rows. The result has a factor
//! of 8 (T.81 A.3.3 divides by 4 with two factors of 1/sqrt 2), which the last shift removes.
use super::transform::Block;
use super::transform::Multipliers;

pub(super) const FRACTION: i32 = 13;
/// Fraction bits between the passes.
pub(super) const BETWEEN: i32 = 2;

/// Sums and differences of sqrt 2 cos(k pi / 16), 13 fraction bits each, by the pair of inputs that they multiply.
pub(super) mod factors {
    pub(in super::super) const EVEN_2: [i16; 2] = [4433 + 6270, 4433];
    pub(in super::super) const EVEN_6: [i16; 2] = [4433, 4433 - 15137];
    pub(in super::super) const ODD_37: [i16; 2] = [9633 - 16069, 9633];
    pub(in super::super) const ODD_15: [i16; 2] = [9633, 9633 - 3196];
    pub(in super::super) const ROTATE_71: [i16; 2] = [2446 - 7373, -7373];
    pub(in super::super) const ROTATE_17: [i16; 2] = [12299 - 7373, -7373];
    pub(in super::super) const ROTATE_53: [i16; 2] = [16819 - 20995, -20995];
    pub(in super::super) const ROTATE_35: [i16; 2] = [25172 - 20995, -20995];
}

/// Rows of eight lanes.
type Lanes = [[i16; 8]; 8];

/// See [`super::Kernel::islow`].
#[inline(always)]
pub(super) fn block(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return flat(level(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let mut rows: Lanes = [[0; 8]; 8];
    for (i, value) in rows.as_flattened_mut().iter_mut().enumerate() {
        *value = block[i].wrapping_mul(multipliers.0[i]);
    }
    let columns = if block[8..].iter().all(|&coefficient| coefficient == 0) {
        [rows[0].map(|value| value << BETWEEN); 8]
    } else {
        pass::<{ FRACTION - BETWEEN }>(&rows)
    };
    let rows = pass::<{ FRACTION + BETWEEN + 3 }>(&transpose(&columns));
    store(&transpose(&rows), out, stride);
}

/// The sample of a block whose only coefficient is `dc`.
#[inline(always)]
pub(super) fn level(dc: i16) -> u8 {
    sample(((i32::from(dc << BETWEEN) + 16) >> 5) as i16)
}

/// A block of equal samples.
#[inline(always)]
pub(super) fn flat(level: u8, edge: usize, out: &mut [u8], stride: usize) {
    for row in 0..edge {
        out[row * stride..row * stride + edge].fill(level);
    }
}

/// Clamps to a signed byte and moves the middle to 128.
#[inline(always)]
pub(super) fn sample(value: i16) -> u8 {
    (value.clamp(-128, 127) + 128) as u8
}

#[inline(always)]
pub(super) fn transpose(rows: &Lanes) -> Lanes {
    std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]))
}

#[inline(always)]
pub(super) fn store(rows: &Lanes, out: &mut [u8], stride: usize) {
    for (i, row) in rows.iter().enumerate() {
        out[i * stride..i * stride + 8].copy_from_slice(&row.map(sample));
    }
}

/// Transforms down the rows, lane by lane; results lose `SHIFT` bits, rounded, and saturate to 16.
#[inline(always)]
fn pass<const SHIFT: i32>(rows: &Lanes) -> Lanes {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let sums = lane_sums(std::array::from_fn(|i| rows[i][lane]));
        for (row, sum) in out.iter_mut().zip(sums) {
            row[lane] = saturated(sum.wrapping_add(1 << (SHIFT - 1)) >> SHIFT);
        }
    }
    out
}

#[inline(always)]
pub(super) fn saturated(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Eight outputs of one lane. Sums of two inputs wrap at 16 bits and all others at 32, as in SIMD registers.
#[inline(always)]
fn lane_sums(v: [i16; 8]) -> [i32; 8] {
    use factors::*;
    let dot = |a: i16, b: i16, f: [i16; 2]| i32::from(a) * i32::from(f[0]) + i32::from(b) * i32::from(f[1]);
    let (add, sub) = (i32::wrapping_add, i32::wrapping_sub);
    let sum = i32::from(v[0].wrapping_add(v[4])) << FRACTION;
    let difference = i32::from(v[0].wrapping_sub(v[4])) << FRACTION;
    let (e2, e6) = (dot(v[2], v[6], EVEN_2), dot(v[2], v[6], EVEN_6));
    let even = [add(sum, e2), add(difference, e6), sub(difference, e6), sub(sum, e2)];
    let (z37, z15) = (v[3].wrapping_add(v[7]), v[1].wrapping_add(v[5]));
    let (z3, z4) = (dot(z37, z15, ODD_37), dot(z37, z15, ODD_15));
    let odd = [
        add(dot(v[1], v[7], ROTATE_17), z4),
        add(dot(v[3], v[5], ROTATE_35), z3),
        add(dot(v[5], v[3], ROTATE_53), z4),
        add(dot(v[7], v[1], ROTATE_71), z3),
    ];
    std::array::from_fn(|i| if i < 4 { add(even[i], odd[i]) } else { sub(even[7 - i], odd[7 - i]) })
}
