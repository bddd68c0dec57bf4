//! Hue shift on Pillow's 8-bit HSV circle, as torchvision does on Pillow images (libImaging/Convert.c).
use crate::fault::Result;
use crate::geometry::view::bad_argument;

/// Converts a hue factor (-0.5 to 0.5 of a turn) to steps of Pillow's hue circle: `factor * 255`, truncated, modulo
/// 256.
pub fn hue_steps(factor: f64) -> Result<u8> {
    if !(-0.5..=0.5).contains(&factor) {
        return bad_argument("a hue factor from -0.5 to 0.5", factor.to_string());
    }
    Ok((factor * 255.0) as i32 as u8)
}

/// Shifts the hue of every RGB pixel by `steps` of the 256 steps of Pillow's hue circle. Each pixel is converted to HSV
/// and back.
pub fn shift_hue(pixels: &mut [u8], steps: u8) -> Result<()> {
    let found = pixels.len();
    let (colors, rest) = pixels.as_chunks_mut::<3>();
    if !rest.is_empty() {
        return bad_argument("whole pixels of 3 channels", format!("{found} values"));
    }
    for pixel in colors {
        let [hue, saturation, value] = to_hsv(*pixel);
        *pixel = to_rgb([hue.wrapping_add(steps), saturation, value]);
    }
    Ok(())
}

/// Converts an RGB pixel to HSV, truncated to bytes. The precision of the intermediate values is Pillow's.
pub fn to_hsv(pixel: [u8; 3]) -> [u8; 3] {
    let [red, green, blue] = pixel;
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most == least {
        return [0, 0, most];
    }
    let range = f32::from(most - least);
    let saturation = range / f32::from(most);
    let [from_red, from_green, from_blue] = pixel.map(|value| f32::from(most - value) / range);
    let sixths = if red == most {
        from_blue - from_green
    } else if green == most {
        (2.0 + f64::from(from_red) - f64::from(from_blue)) as f32
    } else {
        (4.0 + f64::from(from_green) - f64::from(from_red)) as f32
    };
    let hue = ((f64::from(sixths) / 6.0 + 1.0) % 1.0) as f32;
    [(f64::from(hue) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, most]
}

/// Converts an HSV pixel to RGB, rounded.
pub fn to_rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [value; 3];
    }
    let turn = f64::from(hue) * 6.0 / 255.0;
    let sixth = turn.floor();
    let past = (turn - sixth) as f32;
    let share = (f64::from(saturation) / 255.0) as f32;
    let level = |lost: f64| (f64::from(value) * (1.0 - lost)).round() as u8;
    let low = level(f64::from(share));
    let falling = level(f64::from(share * past));
    let rising = level(f64::from(share) * (1.0 - f64::from(past)));
    match sixth as u8 % 6 {
        0 => [value, rising, low],
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        _ => [value, low, falling],
    }
}
