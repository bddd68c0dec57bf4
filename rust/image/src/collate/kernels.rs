//! Small kernels that several passes share: rounding, widening, blending.
use crate::geometry::dispatch::Kernel;

/// Rounds to the nearest byte, ties to even. Values out of range saturate; NaN becomes 0.
#[inline(always)]
pub(crate) fn to_byte(value: f32) -> u8 {
    // Numbers from 2^23 on have no fraction bits: the addition rounds to an integer, ties to even, in the low bits.
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let clamped = if above < 255.0 { above } else { 255.0 };
    (clamped + SHIFT).to_bits() as u8
}

/// Rounds to the nearest 16-bit integer in the same way.
#[inline(always)]
pub(crate) fn to_word(value: f32) -> u16 {
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let clamped = if above < 65535.0 { above } else { 65535.0 };
    (clamped + SHIFT).to_bits() as u16
}

/// Converts values to floats.
pub(crate) struct Widen<'a, T> {
    pub source: &'a [T],
    pub output: &'a mut [f32],
}

impl<T: Copy + Into<f32>> Kernel for Widen<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.source).for_each(|(to, from)| *to = (*from).into());
    }
}

/// Converts values to floats and multiplies them by a factor.
pub(crate) struct Multiply<'a, T> {
    pub source: &'a [T],
    pub factor: f32,
    pub output: &'a mut [f32],
}

impl<T: Copy + Into<f32>> Kernel for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.source).for_each(|(to, from)| *to = (*from).into() * self.factor);
    }
}

/// Interpolates between two rows: `upper + (lower - upper) * weight`.
pub(crate) struct Blend<'a> {
    pub upper: &'a [f32],
    pub lower: &'a [f32],
    pub weight: f32,
    pub output: &'a mut [f32],
}

impl Kernel for Blend<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((output, upper), lower) in self.output.iter_mut().zip(self.upper).zip(self.lower) {
            *output = upper + (lower - upper) * self.weight;
        }
    }
}
