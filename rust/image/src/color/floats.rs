//! Color adjustments in float32 as in TensorFlow, on RGB values from 0 to 1 or on bytes that are converted to that
//! range.
use super::hsv;
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::bad_argument;
use crate::memory::{self, OutOfMemory};

/// Number of pixels that are split into planes and processed at a time. Three planes of this length fit into the L1
/// cache.
const GROUP: usize = 64;

/// A color operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// RGB to HSV.
    ToHsv,
    /// HSV to RGB.
    FromHsv,
    /// Multiplies the saturation by a factor.
    ScaleSaturation(f32),
    /// Shifts the hue by a fraction of the hue circle, from -1 to 1.
    ShiftHue(f32),
}

/// A channel value.
pub trait ChannelValue: Copy + Default {
    /// Converts the channel value to a float from 0 to 1.
    fn to_unit_float(self) -> f32;
    /// Converts a float from 0 to 1 to a channel value.
    fn from_unit_float(value: f32) -> Self;
}

impl ChannelValue for f32 {
    #[inline(always)]
    fn to_unit_float(self) -> f32 {
        self
    }

    #[inline(always)]
    fn from_unit_float(value: f32) -> Self {
        value
    }
}

/// Converts as `tf.image.convert_image_dtype` does; the conversion to bytes multiplies by 255.5 and truncates.
impl ChannelValue for u8 {
    #[inline(always)]
    fn to_unit_float(self) -> f32 {
        f32::from(self) * (1.0 / 255.0)
    }

    #[inline(always)]
    fn from_unit_float(value: f32) -> Self {
        (value * 255.5) as i32 as u8
    }
}

/// Applies an operation to every pixel. `pixels` holds three channels per pixel.
pub fn apply_operation<T: ChannelValue>(pixels: &[T], change: Operation) -> Result<Vec<T>> {
    if !pixels.len().is_multiple_of(3) {
        return bad_argument("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    Ok(match change {
        Operation::ToHsv => map_pixels(pixels, hsv::from_rgb)?,
        Operation::FromHsv => map_pixels(pixels, hsv::to_rgb)?,
        Operation::ScaleSaturation(factor) => map_pixels(
            pixels,
            #[inline(always)]
            move |color| hsv::adjust_saturation(color, factor),
        )?,
        Operation::ShiftHue(shift) if shift.abs() <= 1.0 => map_pixels(
            pixels,
            #[inline(always)]
            move |color| hsv::shift_hue(color, shift * 6.0),
        )?,
        Operation::ShiftHue(turn) => return bad_argument("a hue shift from -1 to 1", turn.to_string()),
    })
}

fn map_pixels<T: ChannelValue>(pixels: &[T], change: impl Fn([f32; 3]) -> [f32; 3]) -> Result<Vec<T>, OutOfMemory> {
    dispatch::run(MapPixels { pixels, change })
}

/// Applies a function to all pixels, `GROUP` pixels at a time.
struct MapPixels<'a, T, F> {
    pixels: &'a [T],
    change: F,
}

impl<T: ChannelValue, F: Fn([f32; 3]) -> [f32; 3]> Kernel for MapPixels<'_, T, F> {
    type Output = Result<Vec<T>, OutOfMemory>;

    #[inline(always)]
    fn run(self) -> Result<Vec<T>, OutOfMemory> {
        let mut output = memory::with_capacity(self.pixels.len())?;
        let mut group = [T::default(); 3 * GROUP];
        for pixels in self.pixels.chunks(3 * GROUP) {
            group[..pixels.len()].copy_from_slice(pixels);
            map_group(&mut group, &self.change);
            output.extend_from_slice(&group[..pixels.len()]);
        }
        Ok(output)
    }
}

#[inline(always)]
fn map_group<T: ChannelValue>(group: &mut [T; 3 * GROUP], change: &impl Fn([f32; 3]) -> [f32; 3]) {
    let mut planes = [[0.0; GROUP]; 3];
    for (index, pixel) in group.as_chunks::<3>().0.iter().enumerate() {
        (0..3).for_each(|channel| planes[channel][index] = pixel[channel].to_unit_float());
    }
    let [first, second, third] = &mut planes;
    for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
        [*first, *second, *third] = change([*first, *second, *third]);
    }
    for (index, pixel) in group.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        (0..3).for_each(|channel| pixel[channel] = T::from_unit_float(planes[channel][index]));
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, apply_operation};
    use crate::geometry::dispatch::run_portable;

    const OPERATIONS: [Operation; 4] =
        [Operation::ToHsv, Operation::FromHsv, Operation::ScaleSaturation(1.7), Operation::ShiftHue(-0.4)];

    #[test]
    fn colors_are_equal_with_all_instruction_sets() {
        let odd = [f32::NAN, f32::INFINITY, -0.0, 1e-45, 3e38, -1.0];
        let level = |index: u32| index.wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32;
        let floats: Vec<f32> = odd.into_iter().chain((0..3 * 150).map(level)).collect();
        let bytes: Vec<u8> = (0..3 * 150_u32).map(|index| (index * index / 5) as u8).collect();
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
        for operation in OPERATIONS {
            let narrow = run_portable(|| (apply_operation(&floats, operation), apply_operation(&bytes, operation)));
            assert_eq!(apply_operation(&floats, operation).map(bits), narrow.0.map(bits), "{operation:?}");
            assert_eq!(apply_operation(&bytes, operation), narrow.1, "{operation:?}");
        }
    }

    #[test]
    fn colors_do_not_depend_on_neighbors() {
        let bytes: Vec<u8> = (0..3 * 131).map(|index| (index * 7) as u8).collect();
        for operation in OPERATIONS {
            let parts: Vec<u8> =
                bytes.chunks(3).flat_map(|pixel| apply_operation(pixel, operation).expect("a pixel")).collect();
            assert_eq!(apply_operation(&bytes, operation).as_ref(), Ok(&parts), "{operation:?}");
        }
    }

    #[test]
    fn partial_pixels_and_hue_out_of_range_are_rejected() {
        assert!(apply_operation(&[0.0_f32; 4], Operation::ToHsv).is_err());
        assert!(apply_operation(&[0.0_f32; 3], Operation::ShiftHue(1.5)).is_err());
        assert!(apply_operation(&[0.0_f32; 3], Operation::ShiftHue(f32::NAN)).is_err());
    }
}
