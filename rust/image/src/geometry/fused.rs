//! Resize, horizontal flip and normalisation in one pass, straight into a batch slot.
use super::resize::two_tap::TwoTap;
use super::view::View;
use crate::collate::slot::Slot;
use crate::collate::writer::RowWriter;
use crate::colour::normalise::Normalise;
use crate::fault::Result;

/// Resizes `source` to the slot's size with the two-tap bilinear kernel, mirrors it when `flip` is set, and normalises.
pub fn two_tap_into(source: View<u8>, flip: bool, normalise: &Normalise, slot: Slot) -> Result<()> {
    slot.expect(slot.size(), source.channels())?;
    let size = slot.size();
    let mut reader = TwoTap::new(source, size, flip);
    let mut writer = RowWriter::new(slot, normalise);
    for y in 0..size.height {
        let (upper, lower, weight) = reader.pair(y);
        writer.write_between(y, upper, lower, weight);
    }
    Ok(())
}
