//! The colour types of PNG and the bit depths that go with them (PNG specification, section 11.2.1).

/// How a stored pixel is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColourType {
    /// One grey sample.
    Grey,
    /// Red, green, blue.
    Rgb,
    /// One index into the palette.
    Palette,
    /// Grey and alpha.
    GreyAlpha,
    /// Red, green, blue, alpha.
    Rgba,
}

impl ColourType {
    /// The colour type that a header's byte names.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Grey,
            2 => Self::Rgb,
            3 => Self::Palette,
            4 => Self::GreyAlpha,
            6 => Self::Rgba,
            _ => return None,
        })
    }

    /// Whether samples of `bits` bits may be stored with this colour type.
    pub(super) fn allows(self, bits: u8) -> bool {
        match self {
            Self::Grey => matches!(bits, 1 | 2 | 4 | 8 | 16),
            Self::Palette => matches!(bits, 1 | 2 | 4 | 8),
            Self::Rgb | Self::GreyAlpha | Self::Rgba => matches!(bits, 8 | 16),
        }
    }

    /// Samples stored per pixel.
    pub fn samples(self) -> usize {
        match self {
            Self::Grey | Self::Palette => 1,
            Self::GreyAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Whether every stored pixel has an alpha sample of its own.
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::GreyAlpha | Self::Rgba)
    }
}
