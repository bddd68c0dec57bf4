//! Changes of colors in floats, of red, green and blue from 0 to 1 or of bytes that stand for them, as TensorFlow makes them.
use super::hsv;
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::refuse;

/// Pixels that are taken apart and changed together: three planes of them stay in the nearest cache.
const GROUP: usize = 64;

/// What becomes of every color.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Hue, saturation and value.
    ToHsv,
    /// Red, green and blue of hue, saturation and value.
    FromHsv,
    /// The saturation is multiplied.
    Saturate(f32),
    /// The hue is turned, by -1 to 1 of the circle.
    Turn(f32),
}

/// A value that colors are made of.
pub trait Part: Copy + Default {
    /// As a float from 0 to 1.
    fn widen(self) -> f32;
    /// Back from there.
    fn narrow(value: f32) -> Self;
}

impl Part for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        value
    }
}

/// As `tf.image.convert_image_dtype` brings bytes to floats and back: the brightest level takes half a step more.
impl Part for u8 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from(self) * (1.0 / 255.0)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        (value * 255.5) as i32 as u8
    }
}

/// Every pixel of `pixels`, which have three channels, changed.
pub fn change<T: Part>(pixels: &[T], change: Change) -> Result<Vec<T>> {
    if !pixels.len().is_multiple_of(3) {
        return refuse("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    Ok(match change {
        Change::ToHsv => changed(pixels, hsv::of_color),
        Change::FromHsv => changed(pixels, hsv::to_color),
        Change::Saturate(factor) => changed(
            pixels,
            #[inline(always)]
            move |color| hsv::saturated(color, factor),
        ),
        Change::Turn(turn) if turn.abs() <= 1.0 => changed(
            pixels,
            #[inline(always)]
            move |color| hsv::turned(color, turn * 6.0),
        ),
        Change::Turn(turn) => return refuse("a turn from -1 to 1", turn.to_string()),
    })
}

fn changed<T: Part>(pixels: &[T], change: impl Fn([f32; 3]) -> [f32; 3]) -> Vec<T> {
    dispatch::run(Colors { pixels, change })
}

/// All pixels, a group at a time.
struct Colors<'a, T, F> {
    pixels: &'a [T],
    change: F,
}

impl<T: Part, F: Fn([f32; 3]) -> [f32; 3]> Kernel for Colors<'_, T, F> {
    type Output = Vec<T>;

    #[inline(always)]
    fn run(self) -> Vec<T> {
        let mut output = Vec::with_capacity(self.pixels.len());
        let mut group = [T::default(); 3 * GROUP];
        for pixels in self.pixels.chunks(3 * GROUP) {
            group[..pixels.len()].copy_from_slice(pixels);
            change_group(&mut group, &self.change);
            output.extend_from_slice(&group[..pixels.len()]);
        }
        output
    }
}

#[inline(always)]
fn change_group<T: Part>(group: &mut [T; 3 * GROUP], change: &impl Fn([f32; 3]) -> [f32; 3]) {
    let mut planes = [[0.0; GROUP]; 3];
    for (place, pixel) in group.as_chunks::<3>().0.iter().enumerate() {
        (0..3).for_each(|channel| planes[channel][place] = pixel[channel].widen());
    }
    let [first, second, third] = &mut planes;
    for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
        [*first, *second, *third] = change([*first, *second, *third]);
    }
    for (place, pixel) in group.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        (0..3).for_each(|channel| pixel[channel] = T::narrow(planes[channel][place]));
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, change};
    use crate::geometry::dispatch::portably;

    const CHANGES: [Change; 4] = [Change::ToHsv, Change::FromHsv, Change::Saturate(1.7), Change::Turn(-0.4)];

    #[test]
    fn colors_when_changed_on_all_paths_then_are_equal() {
        let odd = [f32::NAN, f32::INFINITY, -0.0, 1e-45, 3e38, -1.0];
        let level = |place: u32| place.wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32;
        let floats: Vec<f32> = odd.into_iter().chain((0..3 * 150).map(level)).collect();
        let bytes: Vec<u8> = (0..3 * 150_u32).map(|place| (place * place / 5) as u8).collect();
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
        for how in CHANGES {
            let narrow = portably(|| (change(&floats, how), change(&bytes, how)));
            assert_eq!(change(&floats, how).map(bits), narrow.0.map(bits), "{how:?}");
            assert_eq!(change(&bytes, how), narrow.1, "{how:?}");
        }
    }

    #[test]
    fn colors_when_changed_in_parts_then_do_not_depend_on_their_neighbors() {
        let bytes: Vec<u8> = (0..3 * 131).map(|place| (place * 7) as u8).collect();
        for how in CHANGES {
            let parts: Vec<u8> = bytes.chunks(3).flat_map(|pixel| change(pixel, how).expect("a pixel")).collect();
            assert_eq!(change(&bytes, how).as_ref(), Ok(&parts), "{how:?}");
        }
    }

    #[test]
    fn colors_when_cut_or_turned_too_far_then_are_refused() {
        assert!(change(&[0.0_f32; 4], Change::ToHsv).is_err());
        assert!(change(&[0.0_f32; 3], Change::Turn(1.5)).is_err());
        assert!(change(&[0.0_f32; 3], Change::Turn(f32::NAN)).is_err());
    }
}
