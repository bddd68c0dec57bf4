//! Sample types of images: 8-bit and 16-bit integers, and float32.

/// A sample type of an image.
pub trait PixelType: Copy + Default + Into<f32> + Send + Sync + 'static {
    /// Whether samples are integers.
    const IS_INTEGER: bool;

    /// Rounds `value` to the nearest sample, ties to even, and saturates.
    fn round_from_f32(value: f32) -> Self;

    /// Converts an interpolated value as Pillow's bilinear transform does. An 8-bit sample is truncated to an integer.
    /// A 16-bit sample is first converted to float32 and then rounded.
    fn from_interpolated(value: f64) -> Self;

    /// Returns the values unchanged if their type is float32, otherwise `None`.
    fn as_f32_slice(_values: &[Self]) -> Option<&[f32]> {
        None
    }
}

impl PixelType for u8 {
    const IS_INTEGER: bool = true;

    #[inline(always)]
    fn round_from_f32(value: f32) -> Self {
        crate::collate::kernels::to_byte(value)
    }

    #[inline(always)]
    fn from_interpolated(value: f64) -> Self {
        value as Self
    }
}

impl PixelType for u16 {
    const IS_INTEGER: bool = true;

    #[inline(always)]
    fn round_from_f32(value: f32) -> Self {
        crate::collate::kernels::to_16_bits(value)
    }

    #[inline(always)]
    fn from_interpolated(value: f64) -> Self {
        Self::round_from_f32(value as f32)
    }
}

impl PixelType for f32 {
    const IS_INTEGER: bool = false;

    #[inline(always)]
    fn round_from_f32(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn from_interpolated(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn as_f32_slice(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }
}
