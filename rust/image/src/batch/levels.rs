//! Levels of the three types on their way through a plan: which arithmetic each takes.
use crate::collate::slot::Slot;
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::geometry::fused;
use crate::geometry::level::Level;
use crate::geometry::resize::{Kernel, resize, resize_deep, resize_f32};
use crate::geometry::view::View;
use crate::pixels::Size;

/// Values of an image.
pub enum Levels {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Floats(Vec<f32>),
}

/// A type that images are read in.
pub trait Source: Level {
    /// What a level of 8 bits is among these levels.
    const UNIT: u16 = 1;

    /// Values as an image's.
    fn levels(values: Vec<Self>) -> Levels;

    /// An image at another size; TensorFlow's kernels give floats.
    fn resized(view: View<Self>, size: Size, kernel: Kernel) -> Result<Levels> {
        match kernel {
            Kernel::Fast | Kernel::Tensorflow { .. } => Ok(Levels::Floats(resize_f32(view, size, kernel)?)),
            _ => Ok(Self::levels(resize_deep(view, size, kernel)?)),
        }
    }

    /// Writes an image of the slot's size.
    fn write(view: View<Self>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.write_levels(view, flip, normalize)
    }

    /// Resizes an image to the slot's size on the way into it.
    fn resize_into(view: View<Self>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        let (size, channels) = (slot.size(), slot.channels());
        match Self::resized(view, size, kernel)? {
            Levels::Bytes(values) => slot.write_levels(View::new(&values, size, channels)?, flip, normalize),
            Levels::Words(values) => slot.write_levels(View::new(&values, size, channels)?, flip, normalize),
            Levels::Floats(values) => slot.write_levels(View::new(&values, size, channels)?, flip, normalize),
        }
    }
}

impl Source for u8 {
    fn levels(values: Vec<Self>) -> Levels {
        Levels::Bytes(values)
    }

    fn resized(view: View<Self>, size: Size, kernel: Kernel) -> Result<Levels> {
        match kernel {
            Kernel::Fast | Kernel::Tensorflow { .. } => Ok(Levels::Floats(resize_f32(view, size, kernel)?)),
            _ => Ok(Levels::Bytes(resize(view, size, kernel)?)),
        }
    }

    fn write(view: View<Self>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.write(view, flip, normalize)
    }

    fn resize_into(view: View<Self>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        fused::resize_into(view, kernel, flip, normalize, slot)
    }
}

impl Source for u16 {
    const UNIT: u16 = 257;

    fn levels(values: Vec<Self>) -> Levels {
        Levels::Words(values)
    }
}

impl Source for f32 {
    fn levels(values: Vec<Self>) -> Levels {
        Levels::Floats(values)
    }
}
