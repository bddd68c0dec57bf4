//! Color noise along the principal components of natural images.
//!
//! A. Krizhevsky, I. Sutskever, G. E. Hinton: ImageNet Classification with Deep Convolutional Neural Networks, 2012,
//! section 4.1: every pixel gets the same offset.
use crate::collate::lanes::to_byte;
use crate::fault::Result;
use crate::geometry::view::refuse;

/// Adds an offset per channel to every pixel, rounded to the nearest byte, ties to even, within 0 to 255.
pub fn add_offset<const CHANNELS: usize>(pixels: &mut [u8], offset: [f32; CHANNELS]) -> Result<()> {
    let found = pixels.len();
    let (colors, rest) = pixels.as_chunks_mut::<CHANNELS>();
    if !rest.is_empty() || offset.iter().any(|value| !value.is_finite()) {
        let expected = format!("whole pixels of {CHANNELS} channels and finite offsets");
        return refuse(expected, format!("{found} values, offsets {offset:?}"));
    }
    let tables = offset.map(|offset| std::array::from_fn::<u8, 256, _>(|value| to_byte(value as f32 + offset)));
    for pixel in colors {
        pixel.iter_mut().zip(&tables).for_each(|(value, table)| *value = table[usize::from(*value)]);
    }
    Ok(())
}
