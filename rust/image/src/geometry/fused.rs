//! Resize, horizontal flip and normalisation in one pass, straight into a batch slot.
use super::resize::two_tap::TwoTap;
use super::resize::{Kernel, resize, resize_f32};
use super::resize::{opencv, pillow};
use super::view::View;
use crate::collate::slot::Slot;
use crate::collate::writer::RowWriter;
use crate::colour::normalise::Normalise;
use crate::fault::Result;
use crate::geometry::resize::tensorflow::Method;

/// Resizes `source` to the slot's size, mirrors it left to right when `flip` is set, and normalises.
///
/// The two-tap kernel and Pillow's filters go from source rows to the slot; others make an image between.
pub fn resize_into(source: View<u8>, kernel: Kernel, flip: bool, normalise: &Normalise, slot: Slot) -> Result<()> {
    let (size, channels) = (slot.size(), source.channels());
    slot.expect(size, channels)?;
    match kernel {
        Kernel::Fast | Kernel::Tensorflow { method: Method::Bilinear, antialias: false } => {
            two_tap_into(source, flip, normalise, slot);
            Ok(())
        }
        Kernel::Tensorflow { .. } => {
            let values = resize_f32(source, size, kernel)?;
            slot.write_levels(View::new(&values, size, channels)?, flip, normalise)
        }
        Kernel::Pillow(filter) => {
            if let Some(mut reader) = pillow::reader(source, size, filter, flip)? {
                write_rows(|y, row| reader.read(y, row), normalise, slot);
                return Ok(());
            }
            let bytes = pillow::resize(source, size, filter, flip)?;
            slot.write(View::new(&bytes, size, channels)?, false, normalise)
        }
        Kernel::Opencv(interpolation) => {
            if let Some(mut reader) = opencv::reader(source, size, interpolation, flip)? {
                write_rows(|y, row| reader.read(y, row), normalise, slot);
                return Ok(());
            }
            let bytes = resize(source, size, kernel)?;
            slot.write(View::new(&bytes, size, channels)?, flip, normalise)
        }
        Kernel::Nearest(_) => {
            let bytes = resize(source, size, kernel)?;
            slot.write(View::new(&bytes, size, channels)?, flip, normalise)
        }
    }
}

fn two_tap_into(source: View<u8>, flip: bool, normalise: &Normalise, slot: Slot) {
    let size = slot.size();
    let mut reader = TwoTap::new(source, size, flip);
    let mut writer = RowWriter::new(slot, normalise);
    for y in 0..size.height {
        let (upper, lower, weight) = reader.pair(y);
        writer.write_between(y, upper, lower, weight);
    }
}

fn write_rows(mut read: impl FnMut(usize, &mut [u8]), normalise: &Normalise, slot: Slot) {
    let size = slot.size();
    let length = size.width * slot.channels();
    let mut bytes = vec![0; length];
    let mut writer = RowWriter::new(slot, normalise);
    for y in 0..size.height {
        read(y, &mut bytes);
        writer.write_bytes(y, &bytes);
    }
}
