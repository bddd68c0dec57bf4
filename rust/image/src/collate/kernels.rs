//! Small kernels that several passes share: rounding, widening, blending.
use crate::geometry::dispatch::Kernel;

/// Rounds to the nearest byte, ties to even. Values out of range saturate; NaN becomes 0.
#[inline(always)]
pub(crate) fn to_byte(value: f32) -> u8 {
    // A float32 of 2^23 or more has no fraction bits. Adding 2^23 therefore rounds the value to an integer, ties to
    // even, and puts this integer into the low bits.
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let clamped = if above < 255.0 { above } else { 255.0 };
    (clamped + SHIFT).to_bits() as u8
}

/// Rounds to the nearest 16-bit integer, ties to even. Values out of range saturate; NaN becomes 0.
#[inline(always)]
pub(crate) fn to_16_bits(value: f32) -> u16 {
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let clamped = if above < 65535.0 { above } else { 65535.0 };
    (clamped + SHIFT).to_bits() as u16
}

/// Converts values to floats.
pub(crate) struct ConvertToFloat<'a, T> {
    pub source: &'a [T],
    pub output: &'a mut [f32],
}

impl<T: Copy + Into<f32>> Kernel for ConvertToFloat<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.source).for_each(|(to, from)| *to = (*from).into());
    }
}

/// Converts values to floats and multiplies them by a factor.
pub(crate) struct MultiplyByFactor<'a, T> {
    pub source: &'a [T],
    pub factor: f32,
    pub output: &'a mut [f32],
}

impl<T: Copy + Into<f32>> Kernel for MultiplyByFactor<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.source).for_each(|(to, from)| *to = (*from).into() * self.factor);
    }
}

/// Interpolates between two rows: `upper + (lower - upper) * weight`.
pub(crate) struct InterpolateRows<'a> {
    pub upper: &'a [f32],
    pub lower: &'a [f32],
    pub weight: f32,
    pub output: &'a mut [f32],
}

impl Kernel for InterpolateRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((output, upper), lower) in self.output.iter_mut().zip(self.upper).zip(self.lower) {
            *output = upper + (lower - upper) * self.weight;
        }
    }
}
