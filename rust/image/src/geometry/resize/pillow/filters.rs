//! The six filters by name, their reach and their curves, in float64 (Resample.c).
use std::f64::consts::PI;

/// `Image.Resampling`, but for `NEAREST`, which is no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every covered pixel counts the same.
    Box,
    /// A triangle.
    Bilinear,
    /// A sinc under a Hamming window.
    Hamming,
    /// Keys' cubic with a = -0.5.
    Bicubic,
    /// A sinc under a sinc, three pixels wide on each side.
    Lanczos,
}

impl Filter {
    /// How far the curve reaches from its centre.
    pub(super) fn reach(self) -> f64 {
        match self {
            Self::Box => 0.5,
            Self::Bilinear | Self::Hamming => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
        }
    }

    /// The curve at `x`.
    pub(super) fn at(self, x: f64) -> f64 {
        let distance = x.abs();
        match self {
            Self::Box => f64::from(-0.5 < x && x <= 0.5),
            Self::Bilinear => (1.0 - distance).max(0.0),
            Self::Hamming => hamming(distance),
            Self::Bicubic => cubic(distance),
            Self::Lanczos if (-3.0..3.0).contains(&x) => sinc(x) * sinc(x / 3.0),
            Self::Lanczos => 0.0,
        }
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    (x * PI).sin() / (x * PI)
}

fn hamming(distance: f64) -> f64 {
    if distance >= 1.0 {
        return 0.0;
    }
    // The constants are float32 literals in the original.
    let window = f64::from(0.54_f32) + f64::from(0.46_f32) * (distance * PI).cos();
    if distance == 0.0 { 1.0 } else { sinc(distance) * window }
}

fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.5;
    match distance {
        ..1.0 => ((A + 2.0) * distance - (A + 3.0)) * distance * distance + 1.0,
        1.0..2.0 => (((distance - 5.0) * distance + 8.0) * distance - 4.0) * A,
        _ => 0.0,
    }
}
