//! Colors of one image changed, piece after piece.
use super::levels::Levels;
use super::moves::{Image, levels};
use super::plan::{Colors, Jitter};
use crate::color::{channels, enhance, erase, hue, noise};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::level::Level;
use crate::pixels::Size;

/// Does to the colors of image number `row` what the pieces say; floats are rounded first.
pub fn change(image: &mut Image, pieces: &[Colors], row: usize) -> Result<()> {
    let refuse = |expected: &str, found: String| Err(ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found));
    if !matches!(image.channels, 1 | 3) {
        return refuse("gray or RGB for changes of color", format!("{} channels", image.channels));
    }
    if let Levels::Floats(values) = &image.levels {
        image.levels = Levels::Bytes(values.iter().map(|value| u8::nearest(*value)).collect());
    }
    match &mut image.levels {
        Levels::Bytes(pixels) => {
            pieces.iter().try_for_each(|piece| change_once(pixels, (image.size, image.channels), piece, row))
        }
        _ => refuse("8 bits for changes of color", "16".into()),
    }
}

fn change_once(pixels: &mut [u8], (size, channels): (Size, usize), piece: &Colors, row: usize) -> Result<()> {
    match piece {
        Colors::Jitter(jitters) => jitter(pixels, channels, &jitters[row]),
        Colors::Gray(chosen) if chosen[row] && channels == 3 => channels::gray_in_place(pixels),
        Colors::Gray(_) => Ok(()),
        Colors::Shift(shifts) if channels == 3 => noise::add_offset(pixels, shifts[row].color),
        Colors::Shift(shifts) => noise::add_offset(pixels, [shifts[row].gray]),
        Colors::Paint(windows, fill) => match windows[row] {
            None => Ok(()),
            Some(window) => {
                let fill = levels(fill, channels)?.map(|level| level.min(255) as u8);
                erase::erase(pixels, size, channels, window, &fill[..channels])
            }
        },
    }
}

fn jitter(pixels: &mut [u8], channels: usize, jitter: &Jitter) -> Result<()> {
    for which in jitter.order {
        let Some(factor) = jitter.factors.get(which).copied().flatten() else { continue };
        match which {
            0 => enhance::brightness(pixels, channels, factor as f32)?,
            1 => enhance::contrast(pixels, channels, factor as f32)?,
            2 => enhance::saturation(pixels, channels, factor as f32)?,
            _ if channels == 3 => hue::turn(pixels, hue::steps(factor)?)?,
            _ => {}
        }
    }
    Ok(())
}
