//! Grayscale conversion, and channel order.
use crate::fault::Result;
use crate::geometry::view::bad_argument;
use crate::memory;

/// Weights of red, green and blue in units of 1/65,536.
const WEIGHTS: [u32; 3] = [19_595, 38_470, 7_471];

/// Returns the ITU-R 601 luma as in Pillow's conversion to mode `L`: 16 fraction bits, rounded half up.
#[inline(always)]
pub fn luma(red: u8, green: u8, blue: u8) -> u8 {
    weighted_luma([red, green, blue].map(u32::from)) as u8
}

/// Returns the luma of 16-bit samples.
#[inline(always)]
pub fn luma_16(red: u16, green: u16, blue: u16) -> u16 {
    weighted_luma([red, green, blue].map(u32::from)) as u16
}

#[inline(always)]
fn weighted_luma([red, green, blue]: [u32; 3]) -> u32 {
    (WEIGHTS[0] * red + WEIGHTS[1] * green + WEIGHTS[2] * blue + 0x8000) >> 16
}

/// Converts an RGB image to one gray value per pixel.
pub fn to_gray(pixels: &[u8]) -> Result<Vec<u8>> {
    let (colors, rest) = pixels.as_chunks::<3>();
    if !rest.is_empty() {
        return bad_argument("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    Ok(memory::collect(colors.iter().map(|[red, green, blue]| luma(*red, *green, *blue)))?)
}

/// Converts an RGB image to gray with three equal channels.
pub fn gray_in_place(pixels: &mut [u8]) -> Result<()> {
    let found = pixels.len();
    let (colors, rest) = pixels.as_chunks_mut::<3>();
    if !rest.is_empty() {
        return bad_argument("whole pixels of 3 channels", format!("{found} values"));
    }
    colors.iter_mut().for_each(|pixel| *pixel = [luma(pixel[0], pixel[1], pixel[2]); 3]);
    Ok(())
}

/// Converts RGB pixels to four bytes each in `out`. The fourth byte has no meaning.
pub fn pad_colors(pixels: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (colors, rest) = pixels.as_chunks::<3>();
    if !rest.is_empty() {
        return bad_argument("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    memory::resize(out, 4 * colors.len(), 0)?;
    let (groups, last) = pixels.as_chunks::<12>();
    let (padded, padded_last) = out.split_at_mut(16 * groups.len());
    for (group, out) in groups.iter().zip(padded.as_chunks_mut::<16>().0) {
        let word = |at: usize| u32::from_le_bytes([group[at], group[at + 1], group[at + 2], group[at + 3]]);
        let [first, second, third] = [word(0), word(4), word(8)];
        let words = [first, first >> 24 | second << 8, second >> 16 | third << 16, third >> 8];
        let [a, b, c, d] = words.map(|word| word | 0xff00_0000).map(u32::to_le_bytes);
        out[..4].copy_from_slice(&a);
        out[4..8].copy_from_slice(&b);
        out[8..12].copy_from_slice(&c);
        out[12..].copy_from_slice(&d);
    }
    for ([red, green, blue], out) in last.as_chunks::<3>().0.iter().zip(padded_last.as_chunks_mut::<4>().0) {
        *out = [*red, *green, *blue, 0xff];
    }
    Ok(())
}

/// Swaps red and blue, the first and third of three or four channels.
pub fn swap_red_blue<T>(pixels: &mut [T], channels: usize) -> Result<()> {
    if !(channels == 3 || channels == 4) || !pixels.len().is_multiple_of(channels) {
        return bad_argument(
            "whole pixels of 3 or 4 channels",
            format!("{} values, {channels} channels", pixels.len()),
        );
    }
    pixels.chunks_exact_mut(channels).for_each(|pixel| pixel.swap(0, 2));
    Ok(())
}
