//! The element types of batch memory.
use crate::collate::slot::SlotValues;

/// A type that batch memory can be made of.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// One image's memory.
    fn slot(values: &mut [Self]) -> SlotValues<'_>;
}

impl Element for u8 {
    fn slot(values: &mut [Self]) -> SlotValues<'_> {
        SlotValues::U8(values)
    }
}

/// The bits of binary16.
impl Element for u16 {
    fn slot(values: &mut [Self]) -> SlotValues<'_> {
        SlotValues::F16(values)
    }
}

impl Element for f32 {
    fn slot(values: &mut [Self]) -> SlotValues<'_> {
        SlotValues::F32(values)
    }
}
