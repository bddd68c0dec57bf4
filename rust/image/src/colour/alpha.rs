//! Colours multiplied with alpha and back, as Pillow's modes `RGBa` and `La` (libImaging/Convert.c).
//!
//! Pillow resizes images with alpha in the multiplied form, so that colours of invisible pixels do not bleed.
use crate::fault::Result;
use crate::geometry::view::refuse;

/// Multiplies all channels but the last with the last: `value * alpha / 255`, rounded.
pub fn multiply(pixels: &mut [u8], channels: usize) -> Result<()> {
    for (colours, alpha) in split(pixels, channels)? {
        let scaled = |value: u8| {
            let product = u32::from(value) * u32::from(alpha) + 128;
            (((product >> 8) + product) >> 8) as u8
        };
        colours.iter_mut().for_each(|value| *value = scaled(*value));
    }
    Ok(())
}

/// Divides all channels but the last by the last: `value * 255 / alpha`, cut, at most 255; alpha 0 leaves them alone.
pub fn divide(pixels: &mut [u8], channels: usize) -> Result<()> {
    for (colours, alpha) in split(pixels, channels)? {
        let scaled =
            |value: u8| (u32::from(value) * 255).checked_div(u32::from(alpha)).map_or(value, |v| v.min(255) as u8);
        colours.iter_mut().for_each(|value| *value = scaled(*value));
    }
    Ok(())
}

fn split(pixels: &mut [u8], channels: usize) -> Result<impl Iterator<Item = (&mut [u8], u8)>> {
    if !(channels == 2 || channels == 4) || !pixels.len().is_multiple_of(channels) {
        return refuse("whole pixels of 2 or 4 channels", format!("{} values, {channels} channels", pixels.len()));
    }
    Ok(pixels.chunks_exact_mut(channels).filter_map(|pixel| {
        let (alpha, colours) = pixel.split_last_mut()?;
        Some((colours, *alpha))
    }))
}
