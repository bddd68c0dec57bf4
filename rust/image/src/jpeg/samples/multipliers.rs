//! The factors that undo quantization, in the form each inverse transform wants.

/// One factor per coefficient, 16 bits wide as in libjpeg: products with coefficients keep their low 16 bits.
#[derive(Debug, Clone)]
#[repr(align(32))]
pub struct Multipliers(pub(super) [i16; 64]);

/// Arai, Agui and Nakajima's scale factors: 1 for frequency 0, else cos(k pi / 16) sqrt 2.
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
    /// The quantization steps themselves.
    pub(super) fn plain(quant: &[u16; 64]) -> Self {
        Self(quant.map(|step| step as i16))
    }

    /// The steps times both scale factors of their row and column, with 2 fraction bits.
    ///
    /// The product of the scale factors is first rounded to 14 fraction bits.
    pub(super) fn ifast(quant: &[u16; 64]) -> Self {
        Self(std::array::from_fn(|i| {
            let scale = (AAN[i / 8] * AAN[i % 8] * 16384.0 + 0.5) as i64;
            ((i64::from(quant[i]) * scale + (1 << 11)) >> 12) as i16
        }))
    }
}
