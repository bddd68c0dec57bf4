//! Small kernels that the passes share: rounding, widening, blending.
use crate::geometry::dispatch::Kernel;

/// Rounds to the nearest byte, ties to even; what lies outside goes to the border, a NaN to 0.
#[inline(always)]
pub(crate) fn to_byte(value: f32) -> u8 {
    // 2^23 has no fraction bits: adding it rounds to an integer, ties to even, which stands in the low bits.
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let held = if above < 255.0 { above } else { 255.0 };
    (held + SHIFT).to_bits() as u8
}

/// The same for 16 bits: to 65,535.
#[inline(always)]
pub(crate) fn to_word(value: f32) -> u16 {
    const SHIFT: f32 = 8_388_608.0;
    let above = if value > 0.0 { value } else { 0.0 };
    let held = if above < 65535.0 { above } else { 65535.0 };
    (held + SHIFT).to_bits() as u16
}

/// Whole numbers as floats.
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

/// Whole numbers or floats as floats, times a factor.
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

/// A row between two rows: `upper + (lower - upper) * weight`.
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
