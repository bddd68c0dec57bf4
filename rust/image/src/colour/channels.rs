//! Grey values and the order of channels.
use crate::fault::Result;
use crate::geometry::view::refuse;

/// ITU-R 601 luma as Pillow's conversion to mode `L` computes it: 16 bits after the point, halves up.
#[inline(always)]
pub fn luma(red: u8, green: u8, blue: u8) -> u8 {
    ((u32::from(red) * 19595 + u32::from(green) * 38470 + u32::from(blue) * 7471 + 0x8000) >> 16) as u8
}

/// One grey value per pixel of an RGB image.
pub fn to_grey(pixels: &[u8]) -> Result<Vec<u8>> {
    let (colours, rest) = pixels.as_chunks::<3>();
    if !rest.is_empty() {
        return refuse("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    Ok(colours.iter().map(|[red, green, blue]| luma(*red, *green, *blue)).collect())
}

/// An RGB image becomes grey and keeps three channels.
pub fn grey_in_place(pixels: &mut [u8]) -> Result<()> {
    let found = pixels.len();
    let (colours, rest) = pixels.as_chunks_mut::<3>();
    if !rest.is_empty() {
        return refuse("whole pixels of 3 channels", format!("{found} values"));
    }
    colours.iter_mut().for_each(|pixel| *pixel = [luma(pixel[0], pixel[1], pixel[2]); 3]);
    Ok(())
}

/// Exchanges red and blue: the first and third of three or four channels.
pub fn swap_red_blue<T>(pixels: &mut [T], channels: usize) -> Result<()> {
    if !(channels == 3 || channels == 4) || !pixels.len().is_multiple_of(channels) {
        return refuse("whole pixels of 3 or 4 channels", format!("{} values, {channels} channels", pixels.len()));
    }
    pixels.chunks_exact_mut(channels).for_each(|pixel| pixel.swap(0, 2));
    Ok(())
}
