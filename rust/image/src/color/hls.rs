//! Hue, lightness and saturation in bytes, with the arithmetic of OpenCV 3.4 (modules/imgproc/src/color.cpp), which MXNet
//! carries: floats from 0 to 1 in between, hues in steps of two degrees. It takes four pixels of a row together, and subtracts
//! in another order where fewer are left. OpenCV 4 and 5 differ by one in 0.03 % of the colors on the way there, and not at
//! all on the way back.
use crate::collate::kernels::to_byte;
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::refuse;

/// Which way colors go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From red, green and blue to hue, lightness and saturation.
    There,
    /// From hue, lightness and saturation to red, green and blue.
    Back,
}

/// Every pixel of `pixels`, which have three channels, in rows of `width`; the last `behind` of each are taken one by one.
pub fn change(pixels: &[u8], way: Way, width: usize, behind: usize) -> Result<Vec<u8>> {
    if width == 0 || !pixels.len().is_multiple_of(3 * width) || behind > width {
        let found = format!("{} values, {behind} of {width} pixels behind", pixels.len());
        return refuse("whole rows of pixels of 3 channels", found);
    }
    let mut output = pixels.to_vec();
    match way {
        Way::Back => dispatch::run(Pixels { pixels: &mut output, change: from_hls }),
        Way::There if behind == 0 => dispatch::run(Pixels { pixels: &mut output, change: to_hls::<false> }),
        Way::There => {
            for row in output.chunks_exact_mut(3 * width) {
                let (together, one_by_one) = row.split_at_mut(3 * (width - behind));
                dispatch::run(Pixels { pixels: together, change: to_hls::<false> });
                dispatch::run(Pixels { pixels: one_by_one, change: to_hls::<true> });
            }
        }
    }
    Ok(output)
}

/// Pixels that are taken apart and changed together: three planes of them stay in the nearest cache.
const GROUP: usize = 64;

struct Pixels<'a, F> {
    pixels: &'a mut [u8],
    change: F,
}

impl<F: Fn([f32; 3]) -> [f32; 3]> Kernel for Pixels<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut planes = [[0.0; GROUP]; 3];
        for group in self.pixels.as_chunks_mut::<3>().0.chunks_mut(GROUP) {
            for (place, pixel) in group.iter().enumerate() {
                (0..3).for_each(|channel| planes[channel][place] = f32::from(pixel[channel]));
            }
            let [first, second, third] = &mut planes;
            for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
                [*first, *second, *third] = (self.change)([*first, *second, *third]);
            }
            for (place, pixel) in group.iter_mut().enumerate() {
                (0..3).for_each(|channel| pixel[channel] = to_byte(planes[channel][place]));
            }
        }
    }
}

#[inline(always)]
fn to_hls<const ALONE: bool>(levels: [f32; 3]) -> [f32; 3] {
    let [red, green, blue] = levels.map(|level| level * (1.0 / 255.0));
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let (spread, sum) = (most - least, most + least);
    let lightness = sum * 0.5;
    let rest = if ALONE { 2.0 - most - least } else { 2.0 - sum };
    let saturation = spread / pick(lightness < 0.5, sum, rest);
    let unit = 60.0 / spread;
    let (of_green, of_blue) = ((blue - red) * unit + 120.0, (red - green) * unit + 240.0);
    let hue = pick(most == red, (green - blue) * unit, pick(most == green, of_green, of_blue));
    let hue = pick(hue < 0.0, hue + 360.0, hue);
    let colored = spread > f32::EPSILON;
    [pick(colored, hue * 0.5, 0.0), lightness * 255.0, pick(colored, saturation * 255.0, 0.0)]
}

#[inline(always)]
fn from_hls([hue, lightness, saturation]: [f32; 3]) -> [f32; 3] {
    let (lightness, saturation) = (lightness * (1.0 / 255.0), saturation * (1.0 / 255.0));
    let of_dark = lightness * (1.0 + saturation);
    let most = pick(lightness <= 0.5, of_dark, lightness + saturation - lightness * saturation);
    let least = 2.0 * lightness - most;
    let sixths = hue * (6.0 / 180.0);
    let sixths = pick(sixths >= 6.0, sixths - 6.0, sixths);
    let past = sixths - sixths.floor();
    let (falling, rising) = (least + (most - least) * (1.0 - past), least + (most - least) * past);
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|border| sixths < border);
    let color = [
        pick(one, most, pick(two, falling, pick(four, least, pick(five, rising, most)))),
        pick(one, rising, pick(three, most, pick(four, falling, least))),
        pick(two, least, pick(three, rising, pick(five, most, falling))),
    ];
    color.map(|part| pick(saturation == 0.0, lightness, part) * 255.0)
}

#[inline(always)]
fn pick(first: bool, yes: f32, no: f32) -> f32 {
    if first { yes } else { no }
}

#[cfg(test)]
mod tests {
    use super::{Way, change};

    #[test]
    fn colors_when_brought_there_then_have_the_known_parts() {
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
            assert_eq!(change(&rgb, Way::There, 1, 0), Ok(hls.to_vec()), "{rgb:?}");
        }
    }

    #[test]
    fn colors_when_behind_the_others_then_are_taken_one_by_one() {
        let row = [[150, 148, 158], [156, 137, 134], [177, 188, 118]].concat();
        let alone = [[126, 153, 13], [4, 145, 25], [35, 153, 87]].concat();
        assert_eq!(change(&row, Way::There, 3, 3), Ok(alone.clone()));
        let together = change(&row, Way::There, 3, 0).expect("a row");
        assert_eq!(change(&row, Way::There, 3, 1), Ok([&together[..6], &alone[6..]].concat()));
    }

    #[test]
    fn colors_when_brought_back_then_have_the_known_parts() {
        let known: [([u8; 3], [u8; 3]); 4] = [
            ([0, 128, 255], [255, 1, 1]),
            ([180, 128, 255], [255, 1, 1]),
            ([77, 9, 0], [9, 9, 9]),
            ([200, 100, 50], [120, 107, 80]),
        ];
        for (hls, rgb) in known {
            assert_eq!(change(&hls, Way::Back, 1, 0), Ok(rgb.to_vec()), "{hls:?}");
        }
    }

    #[test]
    fn colors_when_cut_then_are_refused() {
        assert!(change(&[0; 4], Way::There, 1, 0).is_err());
        assert!(change(&[0; 6], Way::There, 4, 0).is_err());
        assert!(change(&[0; 6], Way::There, 1, 2).is_err());
    }
}
