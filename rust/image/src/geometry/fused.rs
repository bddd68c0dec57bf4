//! Resize, horizontal flip and normalization in one pass, straight into a batch slot.
use super::part::Part;
use super::resize::{Kernel, pillow, resize, resize_f32};
use super::view::View;
use crate::collate::slot::Slot;
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::pixels::Window;

/// Resizes `source` to the slot's size, mirrors it left to right when `flip` is set, and normalizes.
///
/// Kernels of two taps and Pillow's filters go from source rows to the slot; others make an image between.
pub fn resize_into(source: View<u8>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
    let (size, channels) = (slot.size(), source.channels());
    slot.expect(size, channels)?;
    if let Some(part) = Part::new(kernel, source.size(), size, Window::whole(size))? {
        let source = source.crop(part.needs())?;
        return part.write(source, flip, normalize, slot);
    }
    match kernel {
        Kernel::Tensorflow { .. } => {
            let values = resize_f32(source, size, kernel)?;
            slot.write_levels(View::new(&values, size, channels)?, flip, normalize)
        }
        Kernel::Pillow(filter) => {
            let bytes = pillow::resize(source, size, filter, flip)?;
            slot.write(View::new(&bytes, size, channels)?, false, normalize)
        }
        _ => {
            let bytes = resize(source, size, kernel)?;
            slot.write(View::new(&bytes, size, channels)?, flip, normalize)
        }
    }
}
