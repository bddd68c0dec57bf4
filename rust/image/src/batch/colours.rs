//! Colours of one image changed, piece after piece.
use super::moves::{Image, levels};
use super::plan::{Colours, Jitter};
use crate::colour::{channels, enhance, erase, hue, noise};
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// Does to the colours of image number `row` what the pieces say.
pub fn change(image: &mut Image, pieces: &[Colours], row: usize) -> Result<()> {
    if !pieces.is_empty() && !matches!(image.channels, 1 | 3) {
        let found = format!("{} channels", image.channels);
        return Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "grey or RGB for changes of colour", found));
    }
    pieces.iter().try_for_each(|piece| change_once(image, piece, row))
}

fn change_once(image: &mut Image, piece: &Colours, row: usize) -> Result<()> {
    match piece {
        Colours::Jitter(jitters) => jitter(image, &jitters[row]),
        Colours::Grey(chosen) if chosen[row] && image.channels == 3 => channels::grey_in_place(&mut image.pixels),
        Colours::Grey(_) => Ok(()),
        Colours::Shift(_) if image.channels != 3 => {
            Err(ImageFault::new(ImageFaultKind::Unsupported, 0, "three channels to shift", "one"))
        }
        Colours::Shift(offsets) => noise::add_offset(&mut image.pixels, offsets[row]),
        Colours::Paint(windows, fill) => match windows[row] {
            None => Ok(()),
            Some(window) => {
                let fill = levels(fill, image.channels)?;
                erase::erase(&mut image.pixels, image.size, image.channels, window, &fill[..image.channels])
            }
        },
    }
}

fn jitter(image: &mut Image, jitter: &Jitter) -> Result<()> {
    let (pixels, channels) = (&mut image.pixels, image.channels);
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
