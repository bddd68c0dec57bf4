//! IEEE 754 half precision: float32 to the nearest binary16, ties to even.

/// The bits of the binary16 nearest to `value`. Too large becomes infinity; a NaN stays one, quiet.
///
/// Branches are written as selections, so that loops over it become vector code.
#[inline(always)]
pub fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Adding 2^-1 of the right exponent lets the float adder round a subnormal result to a multiple of 2^-24.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    // The exponent's bias shrinks from 127 to 15; 0xfff and the last kept bit round the 13 lost bits to even.
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add((magnitude >> 13) & 1) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let special = if magnitude > 0x7f80_0000 { 0x7e00 | ((magnitude >> 13) & 0x3ff) } else { 0x7c00 };
    (sign | if magnitude >= 0x4780_0000 { special } else { finite }) as u16
}

/// The float32 with the value of binary16 `half`: always exact.
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
    use super::{from_half, to_half};

    #[test]
    fn every_half_when_widened_and_narrowed_then_comes_back() {
        for half in 0..=u16::MAX {
            let is_nan = half & 0x7fff > 0x7c00;
            let back = to_half(from_half(half));
            assert_eq!(back, if is_nan { half | 0x200 } else { half }, "{half:04x}");
        }
    }

    #[test]
    fn midpoint_when_narrowed_then_goes_to_the_even_neighbour() {
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
    fn value_beyond_the_range_when_narrowed_then_is_infinity_or_zero() {
        assert_eq!(to_half(65519.996), 0x7bff);
        assert_eq!(to_half(65520.0), 0x7c00);
        assert_eq!(to_half(f32::MAX), 0x7c00);
        assert_eq!(to_half(f32::NEG_INFINITY), 0xfc00);
        assert_eq!(to_half(-1e-9), 0x8000);
        assert_eq!(to_half(f32::NAN) & 0x7e00, 0x7e00);
    }
}
