//! Hue, lightness and saturation in bytes, with the arithmetic of OpenCV 3.4 (modules/imgproc/src/color.cpp), which MXNet
//! carries: floats from 0 to 1 in between, hues in steps of two degrees. OpenCV 4 and 5 differ by one in 0.03 % of the
//! colours on the way there, and not at all on the way back.
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::refuse;

/// Which way colours go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From red, green and blue to hue, lightness and saturation.
    There,
    /// From hue, lightness and saturation to red, green and blue.
    Back,
}

/// Every pixel of `pixels`, which have three channels.
pub fn change(pixels: &[u8], way: Way) -> Result<Vec<u8>> {
    if !pixels.len().is_multiple_of(3) {
        return refuse("whole pixels of 3 channels", format!("{} values", pixels.len()));
    }
    Ok(match way {
        Way::There => dispatch::run(Pixels { pixels, change: to_hls }),
        Way::Back => dispatch::run(Pixels { pixels, change: from_hls }),
    })
}

struct Pixels<'a, F> {
    pixels: &'a [u8],
    change: F,
}

impl<F: Fn([u8; 3]) -> [u8; 3]> Kernel for Pixels<'_, F> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn run(self) -> Vec<u8> {
        self.pixels.as_chunks::<3>().0.iter().flat_map(|pixel| (self.change)(*pixel)).collect()
    }
}

#[inline(always)]
fn to_hls(pixel: [u8; 3]) -> [u8; 3] {
    let [red, green, blue] = pixel.map(|level| f32::from(level) * (1.0 / 255.0));
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let (spread, sum) = (most - least, most + least);
    let lightness = sum * 0.5;
    let (mut hue, mut saturation) = (0.0, 0.0);
    if spread > f32::EPSILON {
        saturation = spread / if lightness < 0.5 { sum } else { 2.0 - sum };
        let unit = 60.0 / spread;
        hue = if most == red {
            (green - blue) * unit
        } else if most == green {
            (blue - red) * unit + 120.0
        } else {
            (red - green) * unit + 240.0
        };
        if hue < 0.0 {
            hue += 360.0;
        }
    }
    [byte(hue * 0.5), byte(lightness * 255.0), byte(saturation * 255.0)]
}

#[inline(always)]
fn from_hls([hue, lightness, saturation]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [lightness; 3];
    }
    let [lightness, saturation] = [lightness, saturation].map(|part| f32::from(part) * (1.0 / 255.0));
    let most =
        if lightness <= 0.5 { lightness * (1.0 + saturation) } else { lightness + saturation - lightness * saturation };
    let least = 2.0 * lightness - most;
    let sixths = f32::from(hue) * (6.0 / 180.0);
    let sixths = if sixths >= 6.0 { sixths - 6.0 } else { sixths };
    let past = sixths - sixths.floor();
    let (falling, rising) = (least + (most - least) * (1.0 - past), least + (most - least) * past);
    let colour = match sixths as usize {
        0 => [most, rising, least],
        1 => [falling, most, least],
        2 => [least, most, rising],
        3 => [least, falling, most],
        4 => [rising, least, most],
        _ => [most, least, falling],
    };
    colour.map(|part| byte(part * 255.0))
}

#[inline(always)]
fn byte(value: f32) -> u8 {
    value.round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::{Way, change};

    #[test]
    fn colours_when_brought_there_then_have_the_known_parts() {
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
            assert_eq!(change(&rgb, Way::There), Ok(hls.to_vec()), "{rgb:?}");
        }
    }

    #[test]
    fn colours_when_brought_back_then_have_the_known_parts() {
        let known: [([u8; 3], [u8; 3]); 4] = [
            ([0, 128, 255], [255, 1, 1]),
            ([180, 128, 255], [255, 1, 1]),
            ([77, 9, 0], [9, 9, 9]),
            ([200, 100, 50], [120, 107, 80]),
        ];
        for (hls, rgb) in known {
            assert_eq!(change(&hls, Way::Back), Ok(rgb.to_vec()), "{hls:?}");
        }
    }

    #[test]
    fn colours_when_cut_then_are_refused() {
        assert!(change(&[0; 4], Way::There).is_err());
    }
}
