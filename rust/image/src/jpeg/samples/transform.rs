//! Which inverse transform a component uses, with its multipliers.
use super::kernel::Kernel;

/// Quantized coefficients of one block, rows of increasing vertical frequency (not zig-zag, not dequantized).
pub type Block = [i16; 64];

/// The inverse DCT of full-size blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dct {
    /// Accurate integers: libjpeg's JDCT_ISLOW, the default everywhere but in TensorFlow.
    Islow,
    /// Fewer multiplications of 8 bits: libjpeg's JDCT_IFAST. Reduced blocks have one form only, which is the accurate one.
    Ifast,
}

/// The size at which blocks come out of the inverse transform.
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
    /// Samples along an edge of a block: 8, 4, 2 or 1.
    #[inline(always)]
    pub const fn edge(self) -> usize {
        match self {
            Self::Eighth => 1,
            Self::Quarter => 2,
            Self::Half => 4,
            Self::Full => 8,
        }
    }

    /// The scale whose blocks have `edge` samples along an edge.
    pub(super) const fn of_edge(edge: usize) -> Option<Self> {
        match edge {
            1 => Some(Self::Eighth),
            2 => Some(Self::Quarter),
            4 => Some(Self::Half),
            8 => Some(Self::Full),
            _ => None,
        }
    }
}

/// The inverse transform of one component's blocks.
#[derive(Debug, Clone)]
pub struct Transform {
    form: Form,
    multipliers: Multipliers,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Islow,
    Ifast,
    Half,
    Quarter,
    Eighth,
}

impl Transform {
    /// The transform for blocks that come out at `scale`, quantized by `quant` (rows of increasing vertical frequency).
    pub fn new(dct: Dct, scale: Scale, quant: &[u16; 64]) -> Self {
        let form = match (scale, dct) {
            (Scale::Full, Dct::Islow) => Form::Islow,
            (Scale::Full, Dct::Ifast) => Form::Ifast,
            (Scale::Half, _) => Form::Half,
            (Scale::Quarter, _) => Form::Quarter,
            (Scale::Eighth, _) => Form::Eighth,
        };
        let multipliers = match form {
            Form::Ifast => Multipliers::ifast(quant),
            _ => Multipliers::plain(quant),
        };
        Self { form, multipliers }
    }

    /// Whether more than the first coefficient makes a difference.
    #[inline(always)]
    pub fn needs_all(&self) -> bool {
        !matches!(self.form, Form::Eighth)
    }

    /// Writes the samples of `block` to the upper left corner of `out`, whose rows lie `stride` bytes apart.
    ///
    /// `last` is the zig-zag position of the last coefficient that may differ from zero, 0 to 63. A block whose later
    /// coefficients are not all zero gives an unspecified picture.
    ///
    /// # Panics
    /// If the block's rows do not fit into `out`.
    #[inline(always)]
    pub fn block<K: Kernel>(&self, kernel: K, block: &Block, last: usize, out: &mut [u8], stride: usize) {
        match self.form {
            Form::Islow => kernel.islow(block, last, &self.multipliers, out, stride),
            Form::Ifast => kernel.ifast(block, last, &self.multipliers, out, stride),
            Form::Half => kernel.half(block, last, &self.multipliers, out, stride),
            Form::Quarter => kernel.quarter(block, last, &self.multipliers, out, stride),
            Form::Eighth => out[0] = super::reduced::mean(block, &self.multipliers),
        }
    }
}

// Dequantization factors, in the form that each inverse transform needs.

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
