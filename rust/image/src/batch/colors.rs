//! Color steps of a batch: their names, the numbers that each image brings, and what they do to its pixels.
use super::pixel_values::PixelValues;
use super::transform::{Image, per_channel};
use crate::color::{adjust, channels, erase, hue};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::pixel_type::PixelType;
use crate::pixels::{Size, Window};

/// One step done to the colors of every image, with the numbers of each image.
#[derive(Debug, Clone)]
pub enum ColorStep {
    /// Brightness, contrast, saturation, hue.
    Jitter(Vec<Jitter>),
    /// Whether the image becomes gray.
    Gray(Vec<bool>),
    /// Offsets added to the channels.
    Shift(Vec<Shift>),
    /// A window to fill with one value per channel, if any.
    Paint(Vec<Option<Window>>, Vec<u16>),
}

/// Builds a step from rows of numbers, one row per image, and the levels of its fill.
type Build = fn(&mut dyn Iterator<Item = &[f64]>, &[u16]) -> ColorStep;

/// Name of each step, numbers per image, and the function that builds it.
const STEPS: &[(&str, usize, Build)] = &[
    ("jitter", 8, |rows, _| ColorStep::Jitter(rows.map(Jitter::parse).collect())),
    ("gray", 1, |rows, _| ColorStep::Gray(rows.map(|row| row[0] != 0.0).collect())),
    ("shift", 3, |rows, _| ColorStep::Shift(rows.map(Shift::parse).collect())),
    ("paint", 4, |rows, fill| ColorStep::Paint(rows.map(parse_window).collect(), fill.to_vec())),
];

impl ColorStep {
    /// Builds the step called `kind` for `count` images from the numbers of all of them, one image after the other.
    ///
    /// An error states what was expected.
    pub fn parse(kind: &str, numbers: &[f64], fill: &[u16], count: usize) -> std::result::Result<Self, String> {
        let Some((_, width, build)) = STEPS.iter().find(|(name, ..)| *name == kind) else {
            let names: Vec<_> = STEPS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("color step must be one of {}, got {kind:?}", names.join(", ")));
        };
        if numbers.len() != width * count {
            return Err(format!("color step {kind:?} expects {width} numbers per image, got {} in all", numbers.len()));
        }
        Ok(build(&mut numbers.chunks_exact(*width), fill))
    }
}

/// Factors of one image's color jitter, each if it is used, and their order: 0 brightness, 1 contrast, 2 saturation,
/// 3 hue.
#[derive(Debug, Clone, Copy)]
pub struct Jitter {
    /// The factors; hue in turns.
    pub factors: [Option<f64>; 4],
    /// The order.
    pub order: [usize; 4],
}

impl Jitter {
    fn parse(row: &[f64]) -> Self {
        Self {
            factors: std::array::from_fn(|which| Some(row[which]).filter(|factor| !factor.is_nan())),
            order: std::array::from_fn(|index| row[4 + index] as usize),
        }
    }
}

/// Offsets added to red, green and blue, or to gray.
#[derive(Debug, Clone, Copy)]
pub struct Shift {
    /// Red, green, blue.
    pub color: [f32; 3],
    /// Their mean.
    pub gray: f32,
}

impl Shift {
    fn parse(row: &[f64]) -> Self {
        let mean = (row[0] + row[1] + row[2]) / 3.0;
        Self { color: std::array::from_fn(|channel| row[channel] as f32), gray: mean as f32 }
    }
}

fn parse_window(row: &[f64]) -> Option<Window> {
    let [x, y, width, height] = std::array::from_fn(|index| row[index] as usize);
    (width > 0).then_some(Window { x, y, width, height })
}

/// Applies the steps to the colors of image number `row`; floats are rounded first.
pub fn apply_color_steps(image: &mut Image, steps: &[ColorStep], row: usize) -> Result<()> {
    let unsupported =
        |expected: &str, found: String| Err(ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found));
    if !matches!(image.channels, 1 | 3) {
        return unsupported("gray or RGB for color steps", format!("{} channels", image.channels));
    }
    if let PixelValues::Floats(values) = &image.levels {
        image.levels = PixelValues::Bytes(values.iter().map(|value| u8::nearest(*value)).collect());
    }
    match &mut image.levels {
        PixelValues::Bytes(pixels) => {
            steps.iter().try_for_each(|step| apply(pixels, (image.size, image.channels), step, row))
        }
        _ => unsupported("8-bit samples for color steps", "16 bits".into()),
    }
}

fn apply(pixels: &mut [u8], (size, channels): (Size, usize), step: &ColorStep, row: usize) -> Result<()> {
    match step {
        ColorStep::Jitter(jitters) => jitter(pixels, channels, &jitters[row]),
        ColorStep::Gray(chosen) if chosen[row] && channels == 3 => channels::gray_in_place(pixels),
        ColorStep::Gray(_) => Ok(()),
        ColorStep::Shift(shifts) if channels == 3 => adjust::add_offset(pixels, shifts[row].color),
        ColorStep::Shift(shifts) => adjust::add_offset(pixels, [shifts[row].gray]),
        ColorStep::Paint(windows, fill) => match windows[row] {
            None => Ok(()),
            Some(window) => {
                let fill = per_channel(fill, channels)?.map(|level| level.min(255) as u8);
                erase::erase(pixels, size, channels, window, &fill[..channels])
            }
        },
    }
}

fn jitter(pixels: &mut [u8], channels: usize, jitter: &Jitter) -> Result<()> {
    for which in jitter.order {
        let Some(factor) = jitter.factors.get(which).copied().flatten() else { continue };
        match which {
            0 => adjust::brightness(pixels, channels, factor as f32)?,
            1 => adjust::contrast(pixels, channels, factor as f32)?,
            2 => adjust::saturation(pixels, channels, factor as f32)?,
            _ if channels == 3 => hue::turn(pixels, hue::steps(factor)?)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_rejects_unknown_step() {
        let error = ColorStep::parse("sepia", &[], &[], 0).unwrap_err();
        assert!(error.contains("jitter, gray, shift, paint") && error.contains("sepia"), "{error}");
    }

    #[test]
    fn parse_rejects_wrong_number_of_numbers() {
        assert!(ColorStep::parse("shift", &[0.0; 4], &[], 1).unwrap_err().contains("3 numbers per image"));
        assert!(ColorStep::parse("shift", &[0.0; 6], &[], 2).is_ok());
    }
}
