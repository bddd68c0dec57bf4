//! The element types of batch memory.
use super::plan::Finish;
use crate::collate::slot::SlotValues;

/// A type that batch memory can be made of.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// One image's memory.
    fn slot<'v>(values: &'v mut [Self], finish: &Finish) -> SlotValues<'v>;
}

impl Element for u8 {
    fn slot<'v>(values: &'v mut [Self], _: &Finish) -> SlotValues<'v> {
        SlotValues::U8(values)
    }
}

/// Whole numbers, or the bits of binary16.
impl Element for u16 {
    fn slot<'v>(values: &'v mut [Self], finish: &Finish) -> SlotValues<'v> {
        if finish.halves { SlotValues::F16(values) } else { SlotValues::U16(values) }
    }
}

impl Element for f32 {
    fn slot<'v>(values: &'v mut [Self], _: &Finish) -> SlotValues<'v> {
        SlotValues::F32(values)
    }
}
