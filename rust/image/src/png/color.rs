//! The color types of PNG and the bit depths that go with them (PNG specification, section 11.2.1).

/// How a stored pixel is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorType {
    /// One gray sample.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// One index into the palette.
    Palette,
    /// Gray and alpha.
    GrayAlpha,
    /// Red, green, blue, alpha.
    Rgba,
}

impl ColorType {
    /// The color type that a header's byte names.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Gray,
            2 => Self::Rgb,
            3 => Self::Palette,
            4 => Self::GrayAlpha,
            6 => Self::Rgba,
            _ => return None,
        })
    }

    /// Whether samples of `bits` bits may be stored with this color type.
    pub(super) fn allows(self, bits: u8) -> bool {
        match self {
            Self::Gray => matches!(bits, 1 | 2 | 4 | 8 | 16),
            Self::Palette => matches!(bits, 1 | 2 | 4 | 8),
            Self::Rgb | Self::GrayAlpha | Self::Rgba => matches!(bits, 8 | 16),
        }
    }

    /// Samples stored per pixel.
    pub fn samples(self) -> usize {
        match self {
            Self::Gray | Self::Palette => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Whether every stored pixel has an alpha sample of its own.
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }
}
