//! The types that levels have: bytes, 16-bit words, and floats where a kernel does not round.

/// A value of an image.
pub trait PixelType: Copy + Default + Into<f32> + Send + Sync + 'static {
    /// Whether values are whole numbers.
    const IS_WHOLE: bool;

    /// The value nearest to `value`, ties to even; what lies outside goes to the border.
    fn nearest(value: f32) -> Self;

    /// What Pillow's bilinear sampling makes of a mixture: cut in bytes; 16 bits go through float32 and are rounded.
    fn mixed(value: f64) -> Self;

    /// The values, if they are floats as they are.
    fn floats(_values: &[Self]) -> Option<&[f32]> {
        None
    }
}

impl PixelType for u8 {
    const IS_WHOLE: bool = true;

    #[inline(always)]
    fn nearest(value: f32) -> Self {
        crate::collate::kernels::to_byte(value)
    }

    #[inline(always)]
    fn mixed(value: f64) -> Self {
        value as Self
    }
}

impl PixelType for u16 {
    const IS_WHOLE: bool = true;

    #[inline(always)]
    fn nearest(value: f32) -> Self {
        crate::collate::kernels::to_word(value)
    }

    #[inline(always)]
    fn mixed(value: f64) -> Self {
        Self::nearest(value as f32)
    }
}

impl PixelType for f32 {
    const IS_WHOLE: bool = false;

    #[inline(always)]
    fn nearest(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn mixed(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn floats(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }
}
