//! Inverse DCTs, their dequantization factors, and the zig-zag order.
use super::kernel::Kernel;

/// Quantized coefficients of one block in natural order: rows of increasing vertical frequency.
pub type Block = [i16; 64];

/// Inverse DCT algorithm for blocks of 8 x 8 samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dct {
    /// Accurate integer arithmetic: libjpeg's JDCT_ISLOW, the default of all libraries except TensorFlow.
    Islow,
    /// Fewer multiplications, with factors of 8 bits: libjpeg's JDCT_IFAST. Smaller blocks always use the accurate
    /// algorithm.
    Ifast,
}

/// Scale of the decoded image, given by the number of samples that the inverse DCT produces per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scale {
    /// One sample per block: its mean.
    Eighth,
    /// 2 x 2 samples per block.
    Quarter,
    /// 4 x 4 samples per block.
    Half,
    /// 8 x 8 samples per block.
    Full,
}

impl Scale {
    /// Returns the width and height of a block in samples: 8, 4, 2 or 1.
    #[inline(always)]
    pub const fn edge(self) -> usize {
        match self {
            Self::Eighth => 1,
            Self::Quarter => 2,
            Self::Half => 4,
            Self::Full => 8,
        }
    }

    /// Returns the scale whose blocks are `edge` samples wide and high.
    pub(super) const fn from_edge(edge: usize) -> Option<Self> {
        match edge {
            1 => Some(Self::Eighth),
            2 => Some(Self::Quarter),
            4 => Some(Self::Half),
            8 => Some(Self::Full),
            _ => None,
        }
    }
}

/// Inverse transform of the blocks of one component, including dequantization.
#[derive(Debug, Clone)]
pub struct Transform {
    algorithm: Algorithm,
    multipliers: Multipliers,
}

#[derive(Debug, Clone, Copy)]
enum Algorithm {
    Islow,
    Ifast,
    Half,
    Quarter,
    Eighth,
}

impl Transform {
    /// Creates the transform for blocks of `scale`. `quant` is the quantization table in natural order.
    pub fn new(dct: Dct, scale: Scale, quant: &[u16; 64]) -> Self {
        let algorithm = match (scale, dct) {
            (Scale::Full, Dct::Islow) => Algorithm::Islow,
            (Scale::Full, Dct::Ifast) => Algorithm::Ifast,
            (Scale::Half, _) => Algorithm::Half,
            (Scale::Quarter, _) => Algorithm::Quarter,
            (Scale::Eighth, _) => Algorithm::Eighth,
        };
        let multipliers = match algorithm {
            Algorithm::Ifast => Multipliers::idct_ifast(quant),
            _ => Multipliers::from_steps(quant),
        };
        Self { algorithm, multipliers }
    }

    /// Returns whether the samples depend on coefficients other than DC.
    #[inline(always)]
    pub fn needs_ac(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Eighth)
    }

    /// Transforms `block` and writes its samples to the upper left corner of `out`, whose rows are `stride` bytes
    /// apart.
    ///
    /// All coefficients after the zig-zag index `last` (0 to 63) must be zero; otherwise the output is unspecified.
    ///
    /// # Panics
    /// If the rows of the block do not fit into `out`.
    #[inline(always)]
    pub fn apply<K: Kernel>(&self, kernel: K, block: &Block, last: usize, out: &mut [u8], stride: usize) {
        match self.algorithm {
            Algorithm::Islow => kernel.idct_islow(block, last, &self.multipliers, out, stride),
            Algorithm::Ifast => kernel.idct_ifast(block, last, &self.multipliers, out, stride),
            Algorithm::Half => kernel.idct_4x4(block, last, &self.multipliers, out, stride),
            Algorithm::Quarter => kernel.idct_2x2(block, last, &self.multipliers, out, stride),
            Algorithm::Eighth => out[0] = idct_1x1(block, &self.multipliers),
        }
    }
}

/// Dequantization factors of one block in the form that the inverse transform needs. They have 16 bits as in libjpeg,
/// so products with coefficients keep only their low 16 bits.
#[derive(Debug, Clone)]
#[repr(align(32))]
pub struct Multipliers(pub(super) [i16; 64]);

/// Scale factors of Arai, Agui and Nakajima: 1 for frequency 0, otherwise cos(k pi / 16) sqrt 2.
const AAN: [f64; 8] = [
    1.0,
    1.387039845322148,
    1.306562964876377,
    1.175875602419359,
    1.0,
    0.785694958387102,
    0.541196100146197,
    0.275899379282943,
];

impl Multipliers {
    /// Returns the quantization steps as factors, for the accurate algorithm.
    pub(super) fn from_steps(quant: &[u16; 64]) -> Self {
        Self(quant.map(|step| step as i16))
    }

    /// Returns the factors of the fast algorithm: each quantization step multiplied by the scale factors of its row and
    /// column, with 2 fraction bits. The product of the scale factors is first rounded to 14 fraction bits.
    pub(super) fn idct_ifast(quant: &[u16; 64]) -> Self {
        Self(std::array::from_fn(|i| {
            let scale = (AAN[i / 8] * AAN[i % 8] * 16384.0 + 0.5) as i64;
            ((i64::from(quant[i]) * scale + (1 << 11)) >> 12) as i16
        }))
    }
}

/// Natural index (8 x row + column) of the coefficient with zig-zag index `n` (T.81 A.3.6, figure A.6). Zig-zag indices
/// past the block map to index 64, where block buffers have padding for ignored writes.
pub(in crate::jpeg) const NATURAL_ORDER: [u8; 256] = {
    let mut natural = [64; 256];
    let (mut row, mut column) = (0_u8, 0_u8);
    let mut step = 0;
    while step < 64 {
        natural[step] = row * 8 + column;
        let rising = (row + column) % 2 == 0;
        match (rising, row, column) {
            (true, _, 7) => row += 1,
            (true, 0, _) => column += 1,
            (true, ..) => (row, column) = (row - 1, column + 1),
            (false, 7, _) => column += 1,
            (false, _, 0) => row += 1,
            (false, ..) => (row, column) = (row + 1, column - 1),
        }
        step += 1;
    }
    natural
};

// The accurate inverse DCT of 8 x 8 samples.
//
// Loeffler, Ligtenberg and Moschytz (1989): 11 multiplications per row or column. The constants have 13 fraction bits
// and are grouped into sums of two 16-bit products. Columns come first and keep 2 fraction bits; rows follow. The
// result is scaled by 8, because T.81 A.3.3 divides by 4 and has two factors of 1/sqrt 2; the last shift removes this
// factor.

/// Fraction bits of the constants.
pub(super) const CONST_BITS: i32 = 13;
/// Fraction bits of the values between the two passes.
pub(super) const PASS1_BITS: i32 = 2;

/// Sums and differences of sqrt 2 cos(k pi / 16) with 13 fraction bits, grouped by the pair of inputs that they
/// multiply.
pub(super) const EVEN_2: [i16; 2] = [4433 + 6270, 4433];
pub(super) const EVEN_6: [i16; 2] = [4433, 4433 - 15137];
pub(super) const ODD_37: [i16; 2] = [9633 - 16069, 9633];
pub(super) const ODD_15: [i16; 2] = [9633, 9633 - 3196];
pub(super) const ROTATE_71: [i16; 2] = [2446 - 7373, -7373];
pub(super) const ROTATE_17: [i16; 2] = [12299 - 7373, -7373];
pub(super) const ROTATE_53: [i16; 2] = [16819 - 20995, -20995];
pub(super) const ROTATE_35: [i16; 2] = [25172 - 20995, -20995];

/// Eight rows of eight lanes.
type Lanes = [[i16; 8]; 8];

/// See [`super::Kernel::idct_islow`].
#[inline(always)]
pub(super) fn idct_islow(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(islow_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let mut rows: Lanes = [[0; 8]; 8];
    for (i, value) in rows.as_flattened_mut().iter_mut().enumerate() {
        *value = block[i].wrapping_mul(multipliers.0[i]);
    }
    let columns = if block[8..].iter().all(|&coefficient| coefficient == 0) {
        [rows[0].map(|value| value << PASS1_BITS); 8]
    } else {
        islow_pass::<{ CONST_BITS - PASS1_BITS }>(&rows)
    };
    let rows = islow_pass::<{ CONST_BITS + PASS1_BITS + 3 }>(&transpose(&columns));
    store_block(&transpose(&rows), out, stride);
}

/// Returns the sample of a block whose only nonzero coefficient is `dc`.
#[inline(always)]
pub(super) fn islow_dc_sample(dc: i16) -> u8 {
    to_sample(((i32::from(dc << PASS1_BITS) + 16) >> 5) as i16)
}

/// Sets all samples of a block to `level`.
#[inline(always)]
pub(super) fn fill_block(level: u8, edge: usize, out: &mut [u8], stride: usize) {
    for row in 0..edge {
        out[row * stride..row * stride + edge].fill(level);
    }
}

/// Clamps a value to a signed byte and adds 128.
#[inline(always)]
pub(super) fn to_sample(value: i16) -> u8 {
    (value.clamp(-128, 127) + 128) as u8
}

#[inline(always)]
pub(super) fn transpose(rows: &Lanes) -> Lanes {
    std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]))
}

#[inline(always)]
pub(super) fn store_block(rows: &Lanes, out: &mut [u8], stride: usize) {
    for (i, row) in rows.iter().enumerate() {
        out[i * stride..i * stride + 8].copy_from_slice(&row.map(to_sample));
    }
}

/// Transforms along the rows, lane by lane. Results are shifted right by `SHIFT`, rounded, and saturate to 16 bits.
#[inline(always)]
fn islow_pass<const SHIFT: i32>(rows: &Lanes) -> Lanes {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let sums = islow_column(std::array::from_fn(|i| rows[i][lane]));
        for (row, sum) in out.iter_mut().zip(sums) {
            row[lane] = saturate(sum.wrapping_add(1 << (SHIFT - 1)) >> SHIFT);
        }
    }
    out
}

#[inline(always)]
pub(super) fn saturate(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Computes the eight outputs of one row or column. Sums of two inputs wrap at 16 bits and all others at 32 bits, as in
/// SIMD registers.
#[inline(always)]
fn islow_column(v: [i16; 8]) -> [i32; 8] {
    let dot = |a: i16, b: i16, f: [i16; 2]| i32::from(a) * i32::from(f[0]) + i32::from(b) * i32::from(f[1]);
    let (add, sub) = (i32::wrapping_add, i32::wrapping_sub);
    let sum = i32::from(v[0].wrapping_add(v[4])) << CONST_BITS;
    let difference = i32::from(v[0].wrapping_sub(v[4])) << CONST_BITS;
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

// Inverse DCTs to 4 x 4, 2 x 2 and 1 x 1 samples.
//
// They evaluate the lower frequencies of the 8-point transform at the sample positions of the smaller block, with the
// higher frequencies folded in. Coefficients that would add only ripple are ignored: row and column 4, and for 2 x 2
// samples all even ones except the first. As in the full-size transform, constants have 13 fraction bits, columns come
// first, and values have 2 fraction bits between the passes.

pub(super) const HALF_26: [i16; 2] = [15137, -6270];
pub(super) const HALF_INNER: [i16; 4] = [8697, -17799, 11893, -1730];
pub(super) const HALF_OUTER: [i16; 4] = [20995, 7373, -4926, -4176];
pub(super) const QUARTER: [i16; 4] = [29692, -10426, 6967, -5906];

#[inline(always)]
fn dequantize(block: &Block, multipliers: &Multipliers, i: usize) -> i16 {
    block[i].wrapping_mul(multipliers.0[i])
}

/// Returns the sum of the odd-frequency inputs (1, 3, 5, 7), each multiplied by its factor. The sum wraps at 32 bits
/// for out-of-range inputs.
#[inline(always)]
fn odd_part(inputs: [i16; 4], factors: [i16; 4]) -> i32 {
    let product = |i: usize| i32::from(inputs[i]) * i32::from(factors[i]);
    (product(0) + product(1)).wrapping_add(product(2) + product(3))
}

#[inline(always)]
fn round_shift(value: i32, shift: i32) -> i32 {
    value.wrapping_add(1 << (shift - 1)) >> shift
}

/// See [`super::Kernel::idct_4x4`].
#[inline(always)]
pub(super) fn idct_4x4(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(islow_dc_sample(dequantize(block, multipliers, 0)), 4, out, stride);
    }
    let input = |row: usize, column: usize| dequantize(block, multipliers, 8 * row + column);
    let flat_columns = block[8..32].iter().chain(&block[40..]).all(|&coefficient| coefficient == 0);
    let mut columns = [[0; 8]; 4];
    for column in 0..8 {
        let sums = half_sums(std::array::from_fn(|row| input(row, column)));
        for (row, sum) in columns.iter_mut().zip(sums) {
            row[column] = if flat_columns {
                input(0, column) << PASS1_BITS
            } else {
                saturate(round_shift(sum, CONST_BITS - PASS1_BITS + 1))
            };
        }
    }
    for (y, row) in columns.into_iter().enumerate() {
        let sums = half_sums(row).map(|sum| to_sample(saturate(round_shift(sum, CONST_BITS + PASS1_BITS + 4))));
        out[y * stride..y * stride + 4].copy_from_slice(&sums);
    }
}

/// Computes the four outputs of one row or column, with one fraction bit more than [`CONST_BITS`].
#[inline(always)]
fn half_sums(v: [i16; 8]) -> [i32; 4] {
    let first = i32::from(v[0]) << (CONST_BITS + 1);
    let second = i32::from(v[2]) * i32::from(HALF_26[0]) + i32::from(v[6]) * i32::from(HALF_26[1]);
    let odds = [v[1], v[3], v[5], v[7]];
    let (inner, outer) = (odd_part(odds, HALF_INNER), odd_part(odds, HALF_OUTER));
    let (sum, difference) = (first.wrapping_add(second), first.wrapping_sub(second));
    [sum.wrapping_add(outer), difference.wrapping_add(inner), difference.wrapping_sub(inner), sum.wrapping_sub(outer)]
}

/// Returns the sample of a 2 x 2 block whose only nonzero coefficient is `dc`.
#[inline(always)]
pub(super) fn quarter_dc_sample(dc: i16) -> u8 {
    let sum = (i32::from(dc) << PASS1_BITS) << (CONST_BITS + 2);
    to_sample(saturate(round_shift(sum, CONST_BITS + PASS1_BITS + 5)))
}

/// See [`super::Kernel::idct_2x2`].
#[inline(always)]
pub(super) fn idct_2x2(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(quarter_dc_sample(dequantize(block, multipliers, 0)), 2, out, stride);
    }
    let column = |column: usize| {
        let input = |row: usize| dequantize(block, multipliers, 8 * row + column);
        let first = i32::from(input(0)) << (CONST_BITS + 2);
        let odd = odd_part([input(1), input(3), input(5), input(7)], QUARTER);
        [first.wrapping_add(odd), first.wrapping_sub(odd)].map(|sum| round_shift(sum, CONST_BITS - PASS1_BITS + 2))
    };
    let columns = [0, 1, 3, 5, 7].map(column);
    for y in 0..2 {
        // As in libjpeg's SIMD code, all columns except the first are saturated to 16 bits between the passes.
        let first = columns[0][y] << (CONST_BITS + 2);
        let odd = odd_part([1, 2, 3, 4].map(|i| saturate(columns[i][y])), QUARTER);
        let sums = [first.wrapping_add(odd), first.wrapping_sub(odd)];
        let samples = sums.map(|sum| to_sample(saturate(round_shift(sum, CONST_BITS + PASS1_BITS + 5))));
        out[y * stride..y * stride + 2].copy_from_slice(&samples);
    }
}

/// Returns the mean of a block as its single sample. libjpeg has only C code for this transform, so the product is not
/// truncated to 16 bits, and the mean wraps at 10 bits.
#[inline(always)]
pub(super) fn idct_1x1(block: &Block, multipliers: &Multipliers) -> u8 {
    let dc = i32::from(block[0]) * i32::from(multipliers.0[0]);
    let mean = (dc + 4) >> 3;
    to_sample(((mean << 22) >> 22) as i16)
}

// The fast inverse DCT of 8 x 8 samples.
//
// Arai, Agui and Nakajima (1988): 5 multiplications per row or column; the other factors are folded into
// dequantization. All arithmetic is in 16 bits. Products with constants of 8 fraction bits are truncated to integers.
// Values have 2 fraction bits throughout.

/// The constants sqrt 2, 2 cos(pi/8), and their differences, with 8 fraction bits.
pub(super) const F1_082: i16 = 277;
pub(super) const F1_414: i16 = 362;
pub(super) const F1_847: i16 = 473;
/// -1.613 with 8 fraction bits. To multiply by -2.613, the code multiplies by this constant and subtracts the input,
/// because -2.613 exceeds the 16-bit range of factors.
pub(super) const MINUS_1_613: i16 = -(669 - 256);

/// See [`super::Kernel::idct_ifast`].
#[inline(always)]
pub(super) fn idct_ifast(block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    if last == 0 {
        return fill_block(ifast_dc_sample(block[0].wrapping_mul(multipliers.0[0])), 8, out, stride);
    }
    let mut rows: Lanes = [[0; 8]; 8];
    for (i, value) in rows.as_flattened_mut().iter_mut().enumerate() {
        *value = block[i].wrapping_mul(multipliers.0[i]);
    }
    let mut rows = ifast_pass(&transpose(&ifast_pass(&rows)));
    rows.as_flattened_mut().iter_mut().for_each(|value| *value >>= 5);
    store_block(&transpose(&rows), out, stride);
}

/// Returns the sample of a block whose only nonzero coefficient is `dc`.
#[inline(always)]
pub(super) fn ifast_dc_sample(dc: i16) -> u8 {
    to_sample(dc >> 5)
}

#[inline(always)]
fn ifast_pass(rows: &Lanes) -> Lanes {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let sums = ifast_column(std::array::from_fn(|i| rows[i][lane]));
        for (row, sum) in out.iter_mut().zip(sums) {
            row[lane] = sum;
        }
    }
    out
}

/// Returns the integer part of `value * factor`, whose factor has 8 fraction bits. `value` may use 14 bits.
#[inline(always)]
fn multiply_fixed(value: i16, factor: i16) -> i16 {
    ((i32::from(value << 2) * i32::from(factor << 6)) >> 16) as i16
}

#[inline(always)]
fn ifast_column(v: [i16; 8]) -> [i16; 8] {
    let (add, sub) = (i16::wrapping_add, i16::wrapping_sub);
    let (sum04, difference04) = (add(v[0], v[4]), sub(v[0], v[4]));
    let sum26 = add(v[2], v[6]);
    let difference26 = sub(multiply_fixed(sub(v[2], v[6]), F1_414), sum26);
    let even = [add(sum04, sum26), add(difference04, difference26), sub(difference04, difference26), sub(sum04, sum26)];
    let (sum17, difference17) = (add(v[1], v[7]), sub(v[1], v[7]));
    let (sum53, difference53) = (add(v[5], v[3]), sub(v[5], v[3]));
    let z5 = multiply_fixed(add(difference53, difference17), F1_847);
    let o0 = add(sum17, sum53);
    let o1 = sub(add(sub(multiply_fixed(difference53, MINUS_1_613), difference53), z5), o0);
    let o2 = sub(multiply_fixed(sub(sum17, sum53), F1_414), o1);
    let o3 = add(sub(multiply_fixed(difference17, F1_082), z5), o2);
    let odd = [o0, o1, o2, sub(0, o3)];
    std::array::from_fn(|i| if i < 4 { add(even[i], odd[i]) } else { sub(even[7 - i], odd[7 - i]) })
}

#[cfg(test)]
mod tests {
    use super::NATURAL_ORDER;

    #[test]
    fn zigzag_order_visits_each_index_once_along_diagonals() {
        assert_eq!(NATURAL_ORDER[..12], [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25]);
        assert_eq!(NATURAL_ORDER[54..64], [39, 46, 53, 60, 61, 54, 47, 55, 62, 63]);
        let mut shuffle_indices = NATURAL_ORDER[..64].to_vec();
        shuffle_indices.sort_unstable();
        assert_eq!(shuffle_indices, (0..64).collect::<Vec<u8>>());
        assert!(NATURAL_ORDER[64..].iter().all(|&index| index == 64));
    }
}
