//! RGB to HLS and back for 8-bit images, with the arithmetic of OpenCV 3.4 (modules/imgproc/src/color.cpp), which MXNet
//! contains. It computes with floats from 0 to 1 and stores hues in steps of two degrees.
//!
//! OpenCV 3.4 processes four pixels of a row at a time. For the last pixels of a row, which do not fill a group of
//! four, it subtracts in another order. OpenCV 4 and 5 give results that differ by one for 0.03 % of the colors in RGB
//! to HLS. In HLS to RGB, their results are the same.
use crate::collate::kernels::to_byte;
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::bad_argument;
use crate::memory;

/// Direction of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// RGB to HLS.
    RgbToHls,
    /// HLS to RGB.
    HlsToRgb,
}

/// Converts every pixel. `pixels` holds three channels per pixel, in rows of `width` pixels. The last `num_scalar`
/// pixels of each row use the arithmetic of OpenCV's scalar code.
pub fn convert(pixels: &[u8], direction: Direction, width: usize, num_scalar: usize) -> Result<Vec<u8>> {
    let is_whole_rows = width.checked_mul(3).is_some_and(|row| row > 0 && pixels.len().is_multiple_of(row));
    if !is_whole_rows || num_scalar > width {
        let found = format!("{} values, {num_scalar} of {width} pixels in scalar code", pixels.len());
        return bad_argument("whole rows of pixels of 3 channels", found);
    }
    let mut output = memory::copy(pixels)?;
    match direction {
        Direction::HlsToRgb => dispatch::run(ConvertPixels { pixels: &mut output, change: from_hls }),
        Direction::RgbToHls if num_scalar == 0 => {
            dispatch::run(ConvertPixels { pixels: &mut output, change: to_hls::<false> })
        }
        Direction::RgbToHls => {
            for row in output.chunks_exact_mut(3 * width) {
                let (together, one_by_one) = row.split_at_mut(3 * (width - num_scalar));
                dispatch::run(ConvertPixels { pixels: together, change: to_hls::<false> });
                dispatch::run(ConvertPixels { pixels: one_by_one, change: to_hls::<true> });
            }
        }
    }
    Ok(output)
}

/// Number of pixels that are split into planes and processed at a time. Three planes of this length fit into the L1
/// cache.
const GROUP: usize = 64;

struct ConvertPixels<'a, F> {
    pixels: &'a mut [u8],
    change: F,
}

impl<F: Fn([f32; 3]) -> [f32; 3]> Kernel for ConvertPixels<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut planes = [[0.0; GROUP]; 3];
        for group in self.pixels.as_chunks_mut::<3>().0.chunks_mut(GROUP) {
            for (index, pixel) in group.iter().enumerate() {
                (0..3).for_each(|channel| planes[channel][index] = f32::from(pixel[channel]));
            }
            let [first, second, third] = &mut planes;
            for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
                [*first, *second, *third] = (self.change)([*first, *second, *third]);
            }
            for (index, pixel) in group.iter_mut().enumerate() {
                (0..3).for_each(|channel| pixel[channel] = to_byte(planes[channel][index]));
            }
        }
    }
}

#[inline(always)]
fn to_hls<const SCALAR: bool>(levels: [f32; 3]) -> [f32; 3] {
    let [red, green, blue] = levels.map(|level| level * (1.0 / 255.0));
    let (max, min) = (red.max(green).max(blue), red.min(green).min(blue));
    let (spread, sum) = (max - min, max + min);
    let lightness = sum * 0.5;
    let rest = if SCALAR { 2.0 - max - min } else { 2.0 - sum };
    let saturation = spread / select_float(lightness < 0.5, sum, rest);
    let unit = 60.0 / spread;
    let (of_green, of_blue) = ((blue - red) * unit + 120.0, (red - green) * unit + 240.0);
    let hue = select_float(max == red, (green - blue) * unit, select_float(max == green, of_green, of_blue));
    let hue = select_float(hue < 0.0, hue + 360.0, hue);
    let colored = spread > f32::EPSILON;
    [select_float(colored, hue * 0.5, 0.0), lightness * 255.0, select_float(colored, saturation * 255.0, 0.0)]
}

#[inline(always)]
fn from_hls([hue, lightness, saturation]: [f32; 3]) -> [f32; 3] {
    let (lightness, saturation) = (lightness * (1.0 / 255.0), saturation * (1.0 / 255.0));
    let of_dark = lightness * (1.0 + saturation);
    let max = select_float(lightness <= 0.5, of_dark, lightness + saturation - lightness * saturation);
    let min = 2.0 * lightness - max;
    let sixths = hue * (6.0 / 180.0);
    let sixths = select_float(sixths >= 6.0, sixths - 6.0, sixths);
    let fraction = sixths - sixths.floor();
    let (falling, rising) = (min + (max - min) * (1.0 - fraction), min + (max - min) * fraction);
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|border| sixths < border);
    let color = [
        select_float(one, max, select_float(two, falling, select_float(four, min, select_float(five, rising, max)))),
        select_float(one, rising, select_float(three, max, select_float(four, falling, min))),
        select_float(two, min, select_float(three, rising, select_float(five, max, falling))),
    ];
    color.map(|part| select_float(saturation == 0.0, lightness, part) * 255.0)
}

#[inline(always)]
fn select_float(first: bool, yes: f32, no: f32) -> f32 {
    if first { yes } else { no }
}

#[cfg(test)]
mod tests {
    use super::{Direction, convert};

    #[test]
    fn rgb_to_hls_gives_known_values() {
        let known: [([u8; 3], [u8; 3]); 8] = [
            ([0, 0, 0], [0, 0, 0]),
            ([255, 255, 255], [0, 255, 0]),
            ([255, 0, 0], [0, 128, 255]),
            ([0, 255, 0], [60, 128, 255]),
            ([0, 0, 255], [120, 128, 255]),
            ([150, 148, 158], [126, 153, 12]),
            ([156, 137, 134], [4, 145, 26]),
            ([177, 188, 118], [35, 153, 88]),
        ];
        for (rgb, hls) in known {
            assert_eq!(convert(&rgb, Direction::RgbToHls, 1, 0), Ok(hls.to_vec()), "{rgb:?}");
        }
    }

    #[test]
    fn width_that_overflows_is_refused() {
        let width = usize::MAX / 3 + 3;
        assert_eq!(width.wrapping_mul(3), 8);
        assert!(convert(&[0; 8], Direction::RgbToHls, width, 1).is_err());
    }

    #[test]
    fn remaining_pixels_of_a_row_use_scalar_arithmetic() {
        let row = [[150, 148, 158], [156, 137, 134], [177, 188, 118]].concat();
        let alone = [[126, 153, 13], [4, 145, 25], [35, 153, 87]].concat();
        assert_eq!(convert(&row, Direction::RgbToHls, 3, 3), Ok(alone.clone()));
        let together = convert(&row, Direction::RgbToHls, 3, 0).expect("a row");
        assert_eq!(convert(&row, Direction::RgbToHls, 3, 1), Ok([&together[..6], &alone[6..]].concat()));
    }

    #[test]
    fn hls_to_rgb_gives_known_values() {
        let known: [([u8; 3], [u8; 3]); 4] = [
            ([0, 128, 255], [255, 1, 1]),
            ([180, 128, 255], [255, 1, 1]),
            ([77, 9, 0], [9, 9, 9]),
            ([200, 100, 50], [120, 107, 80]),
        ];
        for (hls, rgb) in known {
            assert_eq!(convert(&hls, Direction::HlsToRgb, 1, 0), Ok(rgb.to_vec()), "{hls:?}");
        }
    }

    #[test]
    fn partial_rows_and_pixels_are_rejected() {
        assert!(convert(&[0; 4], Direction::RgbToHls, 1, 0).is_err());
        assert!(convert(&[0; 6], Direction::RgbToHls, 4, 0).is_err());
        assert!(convert(&[0; 6], Direction::RgbToHls, 1, 2).is_err());
    }
}
