//! Pixel values of 8 bits, 16 bits and float32, with the functions that resize and write each type.
use crate::collate::slot::Slot;
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::resize::{Kernel, resize, resize_f32, resize_high_depth};
use crate::geometry::resized_part;
use crate::geometry::view::View;
use crate::pixels::Size;

/// All pixel values of an image.
pub enum PixelValues {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Floats(Vec<f32>),
}

/// A type of decoded pixels.
pub trait SourcePixel: PixelType {
    /// The value of this type that corresponds to the 8-bit value 1.
    const UNIT: u16 = 1;

    /// Wraps the values of an image in the `PixelValues` variant of this type.
    fn wrap(values: Vec<Self>) -> PixelValues;

    /// Resizes an image. Kernels that do not round return floats.
    fn resized(view: View<Self>, size: Size, kernel: Kernel) -> Result<PixelValues> {
        match kernel {
            Kernel::Fast | Kernel::Tensorflow { .. } => Ok(PixelValues::Floats(resize_f32(view, size, kernel)?)),
            _ => Ok(Self::wrap(resize_high_depth(view, size, kernel)?)),
        }
    }

    /// Normalizes an image and writes it to the output slot `slot`, which must have the size of the image.
    fn write_to_slot(view: View<Self>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.write_image(view, flip, normalize)
    }

    /// Resizes an image to the size of the output slot `slot`, normalizes it and writes it to the slot.
    fn resize_into(view: View<Self>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        let (size, channels) = (slot.size(), slot.channels());
        match Self::resized(view, size, kernel)? {
            PixelValues::Bytes(values) => slot.write_image(View::new(&values, size, channels)?, flip, normalize),
            PixelValues::Words(values) => slot.write_image(View::new(&values, size, channels)?, flip, normalize),
            PixelValues::Floats(values) => slot.write_image(View::new(&values, size, channels)?, flip, normalize),
        }
    }
}

impl SourcePixel for u8 {
    fn wrap(values: Vec<Self>) -> PixelValues {
        PixelValues::Bytes(values)
    }

    fn resized(view: View<Self>, size: Size, kernel: Kernel) -> Result<PixelValues> {
        match kernel {
            Kernel::Fast | Kernel::Tensorflow { .. } => Ok(PixelValues::Floats(resize_f32(view, size, kernel)?)),
            _ => Ok(PixelValues::Bytes(resize(view, size, kernel)?)),
        }
    }

    fn write_to_slot(view: View<Self>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.write_u8_image(view, flip, normalize)
    }

    fn resize_into(view: View<Self>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        resized_part::resize_into(view, kernel, flip, normalize, slot)
    }
}

impl SourcePixel for u16 {
    const UNIT: u16 = 257;

    fn wrap(values: Vec<Self>) -> PixelValues {
        PixelValues::Words(values)
    }
}

impl SourcePixel for f32 {
    fn wrap(values: Vec<Self>) -> PixelValues {
        PixelValues::Floats(values)
    }
}
