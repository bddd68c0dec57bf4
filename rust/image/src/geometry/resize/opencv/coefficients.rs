//! Taps of one axis: the inputs of each output, and their weights with 11 fraction bits.
use crate::memory::{self, OutOfMemory};
use std::f64::consts::PI;

/// The weight 1.0 in fixed point.
pub(super) const ONE: f32 = 2048.0;

/// Input and output length of an axis, and their ratios.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    input: usize,
    output: usize,
    inverse: f64,
    /// Number of input positions per output position.
    pub scale: f64,
}

/// The `K` input positions of one output position, clamped to the image, and their weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taps<const K: usize> {
    pub indices: [usize; K],
    pub weights: [i32; K],
    /// The same weights as floats, before they are rounded to fixed point.
    pub exact: [f32; K],
}

impl Axis {
    pub fn new(input: usize, output: usize) -> Self {
        let inverse = output as f64 / input as f64;
        Self { input, output, inverse, scale: 1.0 / inverse }
    }

    /// Returns the scale if it is an integer.
    pub fn integer_scale(&self) -> Option<usize> {
        let whole = self.scale.round_ties_even();
        ((self.scale - whole).abs() < f64::EPSILON).then_some(whole as usize)
    }

    /// Returns the two taps of the linear kernel for each output position. Pixel centers are at half-integers.
    pub fn linear_taps(&self) -> Result<Vec<Taps<2>>, OutOfMemory> {
        memory::collect((0..self.output).map(|index| self.two_taps(self.input_before_center(index))))
    }

    /// Returns the taps of `INTER_AREA` for an image that grows: constant inside pixels, linear at their borders.
    pub fn area_taps(&self) -> Result<Vec<Taps<2>>, OutOfMemory> {
        let taps = |index: usize| {
            let first = (index as f64 * self.scale).floor();
            let past = ((index + 1) as f64 - (first + 1.0) * self.inverse) as f32;
            self.two_taps((first as i64, if past <= 0.0 { 0.0 } else { past - past.floor() }))
        };
        memory::collect((0..self.output).map(taps))
    }

    /// Returns the four taps of Keys' cubic with a = -0.75.
    pub fn cubic_taps(&self) -> Result<Vec<Taps<4>>, OutOfMemory> {
        memory::collect(
            (0..self.output).map(|index| self.taps_of_curve(self.input_before_center(index), cubic_weights)),
        )
    }

    /// Returns the eight taps of the Lanczos kernel of order 4.
    pub fn lanczos_taps(&self) -> Result<Vec<Taps<8>>, OutOfMemory> {
        memory::collect(
            (0..self.output).map(|index| self.taps_of_curve(self.input_before_center(index), lanczos_weights)),
        )
    }

    /// Returns the last input position that is not after the center of output `index`, and the distance from it to the
    /// center.
    fn input_before_center(&self, index: usize) -> (i64, f32) {
        let position = ((index as f64 + 0.5) * self.scale - 0.5) as f32;
        let first = position.floor();
        (first as i64, position - first)
    }

    fn two_taps(&self, (first, past): (i64, f32)) -> Taps<2> {
        self.taps_of_curve((first, past), |past| [1.0 - past, past])
    }

    fn taps_of_curve<const K: usize>(&self, (first, past): (i64, f32), curve: impl Fn(f32) -> [f32; K]) -> Taps<K> {
        let last = self.input as i64 - 1;
        let indices = std::array::from_fn(|tap| (first - (K as i64 / 2 - 1) + tap as i64).clamp(0, last) as usize);
        let exact = curve(past);
        let weights = exact.map(|weight| (weight * ONE).round_ties_even() as i16 as i32);
        Taps { indices, weights, exact }
    }
}

impl Taps<2> {
    /// Gives all weight to the first tap if both taps are clamped to the same border pixel. OpenCV does this only
    /// horizontally.
    pub fn clamp_at_border(self) -> Self {
        if self.indices[0] == self.indices[1] {
            Self { weights: [ONE as i32, 0], exact: [1.0, 0.0], ..self }
        } else {
            self
        }
    }
}

/// Returns the weights of four consecutive pixels for a position that is `x` (0 to 1) after the second pixel. They are
/// Keys' cubic with a = -0.75.
pub(crate) fn cubic_weights(x: f32) -> [f32; 4] {
    const A: f32 = -0.75;
    let first = ((A * (x + 1.0) - 5.0 * A) * (x + 1.0) + 8.0 * A) * (x + 1.0) - 4.0 * A;
    let second = ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let third = ((A + 2.0) * (1.0 - x) - (A + 3.0)) * (1.0 - x) * (1.0 - x) + 1.0;
    [first, second, third, 1.0 - first - second - third]
}

/// Returns the weights of eight consecutive pixels for a position that is `x` (0 to 1) after the fourth pixel. The
/// weight at distance d is sinc(d) sinc(d / 4), computed with the angle sum formulas. The weights are normalized to sum
/// 1.
pub(crate) fn lanczos_weights(x: f32) -> [f32; 8] {
    const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
    const ROTATIONS: [(f64, f64); 8] =
        [(1.0, 0.0), (-HALF, -HALF), (0.0, 1.0), (HALF, -HALF), (-1.0, 0.0), (HALF, HALF), (0.0, -1.0), (-HALF, HALF)];
    let angle = -f64::from(x + 3.0) * PI * 0.25;
    let (sine, cosine) = (angle.sin(), angle.cos());
    let weight = |tap: usize| {
        let distance = x + 3.0 - tap as f32;
        if distance.abs() < 1e-6 {
            return 1e30;
        }
        let angle = -f64::from(distance) * PI * 0.25;
        ((ROTATIONS[tap].0 * sine + ROTATIONS[tap].1 * cosine) / (angle * angle)) as f32
    };
    let weights: [f32; 8] = std::array::from_fn(weight);
    let sum = weights.iter().fold(0.0_f32, |sum, weight| sum + weight);
    let inverse = 1.0 / sum;
    weights.map(|weight| weight * inverse)
}
