//! Color steps of a batch: operations such as jitter that change the colors of each image. This module parses their
//! parameters (one row of numbers per image) and applies the steps.
use super::pixel_values::PixelValues;
use super::transform::{Image, repeat_for_channels};
use crate::color::{adjust, channels, erase, hue};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::bad_argument;
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};

/// A color step that is applied to every image of a batch, with the parameters of each image.
#[derive(Debug, Clone)]
pub enum ColorStep {
    /// Changes brightness, contrast, saturation and hue.
    JitterFactors(Vec<JitterFactors>),
    /// Converts the images whose flag is set to gray.
    Gray(Vec<bool>),
    /// Adds an offset to each channel.
    ChannelShift(Vec<ChannelShift>),
    /// Fills a window of each image with one value per channel. An image without a window is not changed.
    Paint(Vec<Option<Window>>, Vec<u16>),
}

/// Function that builds a color step from one row of parameters per image and the fill values, which only `paint` uses.
type Build = fn(&mut dyn ExactSizeIterator<Item = &[f64]>, &[u16]) -> Result<ColorStep, OutOfMemory>;

/// For each color step: its name, the number of parameters per image, and the function that builds it.
const STEPS: &[(&str, usize, Build)] = &[
    ("jitter", 8, |rows, _| memory::collect(rows.map(JitterFactors::parse)).map(ColorStep::JitterFactors)),
    ("gray", 1, |rows, _| memory::collect(rows.map(|row| row[0] != 0.0)).map(ColorStep::Gray)),
    ("shift", 3, |rows, _| memory::collect(rows.map(ChannelShift::parse)).map(ColorStep::ChannelShift)),
    ("paint", 4, |rows, fill| Ok(ColorStep::Paint(memory::collect(rows.map(parse_window))?, memory::copy(fill)?))),
];

impl ColorStep {
    /// Builds the color step called `kind`. `numbers` holds the parameters of `count` images one after another.
    ///
    /// # Errors
    /// `BadArgument` if no step has this name or if the number of parameters is wrong; `OutOfMemory`.
    pub fn parse(kind: &str, numbers: &[f64], fill: &[u16], count: usize) -> Result<Self> {
        let Some((_, width, build)) = STEPS.iter().find(|(name, ..)| *name == kind) else {
            let names: Vec<_> = STEPS.iter().map(|(name, ..)| *name).collect();
            return bad_argument(format!("one of the color steps {}", names.join(", ")), format!("{kind:?}"));
        };
        if numbers.len() != width * count {
            let expected = format!("{width} numbers per image for the color step {kind:?}");
            return bad_argument(expected, format!("{} numbers for {count} images", numbers.len()));
        }
        Ok(build(&mut numbers.chunks_exact(*width), fill)?)
    }
}

/// Color jitter of one image: four adjustments and their order. The adjustments have the numbers 0 brightness, 1
/// contrast, 2 saturation and 3 hue.
#[derive(Debug, Clone, Copy)]
pub struct JitterFactors {
    /// Factor of each adjustment; `None` skips the adjustment. The hue factor is a fraction of the hue circle.
    pub factors: [Option<f64>; 4],
    /// Numbers of the adjustments in the order in which they are applied.
    pub order: [usize; 4],
}

impl JitterFactors {
    fn parse(row: &[f64]) -> Self {
        Self {
            factors: std::array::from_fn(|which| Some(row[which]).filter(|factor| !factor.is_nan())),
            order: std::array::from_fn(|index| row[4 + index] as usize),
        }
    }
}

/// Offsets that are added to the channels of one image.
#[derive(Debug, Clone, Copy)]
pub struct ChannelShift {
    /// Offsets of red, green and blue.
    pub color: [f32; 3],
    /// Offset of a gray channel: the mean of the three color offsets.
    pub gray: f32,
}

impl ChannelShift {
    fn parse(row: &[f64]) -> Self {
        let mean = (row[0] + row[1] + row[2]) / 3.0;
        Self { color: std::array::from_fn(|channel| row[channel] as f32), gray: mean as f32 }
    }
}

fn parse_window(row: &[f64]) -> Option<Window> {
    let [x, y, width, height] = std::array::from_fn(|index| row[index] as usize);
    (width > 0).then_some(Window { x, y, width, height })
}

/// Applies `steps` to image number `row` of the batch; float pixels are rounded to bytes first.
pub fn apply_color_steps(image: &mut Image, steps: &[ColorStep], row: usize) -> Result<()> {
    let unsupported =
        |expected: &str, found: String| Err(ImageFault::new(ImageFaultKind::Unsupported, 0, expected, found));
    if !matches!(image.channels, 1 | 3) {
        return unsupported("gray or RGB for color steps", format!("{} channels", image.channels));
    }
    if let PixelValues::Floats(values) = &image.levels {
        image.levels = PixelValues::Bytes(memory::collect(values.iter().map(|value| u8::round_from_f32(*value)))?);
    }
    match &mut image.levels {
        PixelValues::Bytes(pixels) => {
            steps.iter().try_for_each(|step| apply_color_step(pixels, (image.size, image.channels), step, row))
        }
        _ => unsupported("8-bit samples for color steps", "16 bits".into()),
    }
}

fn apply_color_step(pixels: &mut [u8], (size, channels): (Size, usize), step: &ColorStep, row: usize) -> Result<()> {
    match step {
        ColorStep::JitterFactors(jitters) => apply_jitter(pixels, channels, &jitters[row]),
        ColorStep::Gray(chosen) if chosen[row] && channels == 3 => channels::gray_in_place(pixels),
        ColorStep::Gray(_) => Ok(()),
        ColorStep::ChannelShift(shifts) if channels == 3 => adjust::add_offset(pixels, shifts[row].color),
        ColorStep::ChannelShift(shifts) => adjust::add_offset(pixels, [shifts[row].gray]),
        ColorStep::Paint(windows, fill) => match windows[row] {
            None => Ok(()),
            Some(window) => {
                let fill = repeat_for_channels(fill, channels)?.map(|level| level.min(255) as u8);
                erase::erase(pixels, size, channels, window, &fill[..channels])
            }
        },
    }
}

fn apply_jitter(pixels: &mut [u8], channels: usize, jitter: &JitterFactors) -> Result<()> {
    for which in jitter.order {
        let Some(factor) = jitter.factors.get(which).copied().flatten() else { continue };
        match which {
            0 => adjust::brightness(pixels, channels, factor as f32)?,
            1 => adjust::contrast(pixels, channels, factor as f32)?,
            2 => adjust::saturation(pixels, channels, factor as f32)?,
            _ if channels == 3 => hue::shift_hue(pixels, hue::hue_steps(factor)?)?,
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
        assert!(error.expected.contains("jitter, gray, shift, paint") && error.found.contains("sepia"), "{error}");
    }

    #[test]
    fn parse_rejects_wrong_number_of_numbers() {
        assert!(ColorStep::parse("shift", &[0.0; 4], &[], 1).unwrap_err().expected.contains("3 numbers per image"));
        assert!(ColorStep::parse("shift", &[0.0; 6], &[], 2).is_ok());
    }
}
