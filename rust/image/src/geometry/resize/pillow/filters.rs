//! The filters by name, their reach and their curves, in float64 (Resample.c).
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
    /// J. P. Costella's Magic Kernel Sharp of 2013 (since Pillow 13).
    Mks2013,
    /// The same of 2021 (since Pillow 13).
    Mks2021,
}

impl Filter {
    /// How far the curve reaches from its center.
    pub(super) fn reach(self) -> f64 {
        match self {
            Self::Box => 0.5,
            Self::Bilinear | Self::Hamming => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
            Self::Mks2013 => 2.5,
            Self::Mks2021 => 4.5,
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
            Self::Mks2013 => magic_2013(distance),
            Self::Mks2021 => magic_2021(distance),
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

fn magic_2013(x: f64) -> f64 {
    match x {
        ..0.5 => 17.0 / 16.0 - 7.0 / 4.0 * x * x,
        ..1.5 => (x - 1.0) * (x - 7.0 / 4.0),
        ..2.5 => -(x - 2.5) * (x - 2.5) / 8.0,
        _ => 0.0,
    }
}

fn magic_2021(x: f64) -> f64 {
    match x {
        ..0.5 => 577.0 / 576.0 - 239.0 / 144.0 * x * x,
        ..1.5 => (140.0 * x * x - 379.0 * x + 239.0) / 144.0,
        ..2.5 => -(24.0 * x * x - 113.0 * x + 130.0) / 144.0,
        ..3.5 => (4.0 * x * x - 27.0 * x + 45.0) / 144.0,
        ..4.5 => -(2.0 * x - 9.0) * (2.0 * x - 9.0) / 1152.0,
        _ => 0.0,
    }
}
