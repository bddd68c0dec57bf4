//! IEEE 754 half precision: conversion from float32 to binary16, and back.
use crate::geometry::dispatch::{self, Kernel};

/// Converts to the nearest binary16, ties to even, and returns its bits. Values out of range become infinity; a NaN
/// becomes a quiet NaN.
///
/// Both sides of each branch are computed and one is selected, so that loops over this function are vectorized.
#[inline(always)]
pub fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Adding 0.5 makes the float addition round a subnormal result to a multiple of 2^-24.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    // The exponent bias changes from 127 to 15. Adding 0xfff and the last kept bit rounds to nearest, ties to even,
    // before 13 bits are dropped.
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add((magnitude >> 13) & 1) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let special = if magnitude > 0x7f80_0000 { 0x7e00 | ((magnitude >> 13) & 0x3ff) } else { 0x7c00 };
    (sign | if magnitude >= 0x4780_0000 { special } else { finite }) as u16
}

/// Converts a row to the nearest binary16 values.
pub fn round_row_to_half(row: &[f32], output: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if dispatch::has_f16c() {
        // SAFETY: `round_row_to_half_f16c` needs only AVX and F16C, which `has_f16c` found on this machine.
        #[allow(unsafe_code)]
        return unsafe { round_row_to_half_f16c(row, output) };
    }
    dispatch::run(RoundRowToHalf { row, output });
}

struct RoundRowToHalf<'a> {
    row: &'a [f32],
    output: &'a mut [u16],
}

impl Kernel for RoundRowToHalf<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.row).for_each(|(to, from)| *to = to_half(*from));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,f16c")]
fn round_row_to_half_f16c(row: &[f32], output: &mut [u16]) {
    use std::arch::x86_64::*;
    let ((blocks, rest), (stores, last)) = (row.as_chunks::<8>(), output.as_chunks_mut::<8>());
    for (values, store) in blocks.iter().zip(stores) {
        let [a, b, c, d, e, f, g, h] = *values;
        let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_setr_ps(a, b, c, d, e, f, g, h));
        for (store, word) in
            store.as_chunks_mut::<4>().0.iter_mut().zip([_mm_cvtsi128_si64(halves), _mm_extract_epi64::<1>(halves)])
        {
            *store = std::array::from_fn(|lane| (word >> (16 * lane)) as u16);
        }
    }
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = to_half(*from));
}

/// Converts binary16 to float32, which is always exact.
pub fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let bits = match magnitude {
        0x7c00.. => 0x7f80_0000 | ((magnitude & 0x3ff) << 13),
        0x0400.. => (magnitude << 13) + 0x3800_0000,
        _ => (magnitude as f32 * f32::from_bits(0x3380_0000)).to_bits(),
    };
    f32::from_bits(sign | bits)
}

#[cfg(test)]
mod tests {
    use super::{from_half, round_row_to_half, to_half};
    use crate::geometry::dispatch::run_portable;

    #[test]
    fn every_half_round_trips_through_float() {
        for half in 0..=u16::MAX {
            let is_nan = half & 0x7fff > 0x7c00;
            let back = to_half(from_half(half));
            assert_eq!(back, if is_nan { half | 0x200 } else { half }, "{half:04x}");
        }
    }

    #[test]
    fn midpoint_rounds_to_even_half() {
        for half in (0..0x7bfd_u16).filter(|half| half & 1 == 0) {
            let middle = |a: u16, b: u16| (from_half(a) + from_half(b)) / 2.0;
            let above = middle(half, half + 1);
            assert_eq!(to_half(above), half);
            assert_eq!(to_half(f32::from_bits(above.to_bits() + 1)), half + 1);
            assert_eq!(to_half(middle(half + 1, half + 2)), half + 2);
            assert_eq!(to_half(f32::from_bits(middle(half + 1, half + 2).to_bits() - 1)), half + 1);
        }
    }

    #[test]
    fn narrowing_beyond_range_gives_infinity_or_zero() {
        assert_eq!(to_half(65519.996), 0x7bff);
        assert_eq!(to_half(65520.0), 0x7c00);
        assert_eq!(to_half(f32::MAX), 0x7c00);
        assert_eq!(to_half(f32::NEG_INFINITY), 0xfc00);
        assert_eq!(to_half(-1e-9), 0x8000);
        assert_eq!(to_half(f32::NAN) & 0x7e00, 0x7e00);
    }

    #[test]
    fn narrowing_is_equal_with_all_instruction_sets() {
        let special = [f32::NAN, -f32::NAN, f32::INFINITY, -0.0, 1e-45, 6e-8, 65504.0, 65519.0, 65520.0, -1e9];
        let row: Vec<f32> = special.into_iter().chain((0..99_991).map(|step| f32::from_bits(step * 42_953))).collect();
        let halves = || {
            let mut output = vec![0; row.len()];
            round_row_to_half(&row, &mut output);
            output
        };
        assert!(halves() == run_portable(halves));
    }
}
