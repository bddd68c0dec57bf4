//! Hue, saturation and value as floats, one color at a time and without branches, so that loops over them become vectors.
//!
//! The arithmetic, its order and its few steps in double precision are TensorFlow's (kernels/image/colorspace_op.h,
//! adjust_saturation_op.cc, adjust_hue_op.cc). Multiplications and additions are rounded separately everywhere.

/// Red, green and blue, or what stands for them.
type Color = [f32; 3];

const SIXTHS: f32 = 6.0;

/// Hue, saturation and value from 0 to 1: `tf.image.rgb_to_hsv`. A part that is no number makes all three so.
#[inline(always)]
pub(super) fn of_color([red, green, blue]: Color) -> Color {
    let most = larger(larger(red, green), blue);
    let spread = most - smaller(smaller(red, green), blue);
    let unit = (1.0 / spread) * (1.0 / SIXTHS);
    let of_green = unit * (blue - red) + 2.0 / SIXTHS;
    let of_blue = unit * (red - green) + 4.0 / SIXTHS;
    let hue = pick(red == most, unit * (green - blue), pick(green == most, of_green, of_blue));
    let hue = pick(spread > 0.0, hue, 0.0);
    [pick(hue < 0.0, hue + 1.0, hue), pick(most > 0.0, spread / most, 0.0), most]
}

/// Red, green and blue of hue, saturation and value: `tf.image.hsv_to_rgb`.
#[inline(always)]
pub(super) fn to_color([hue, saturation, value]: Color) -> Color {
    let (sixth, rest) = (hue * SIXTHS, 1.0 - saturation);
    let ramps = [(sixth - 3.0).abs() - 1.0, 2.0 - (sixth - 2.0).abs(), 2.0 - (sixth - 4.0).abs()];
    ramps.map(|ramp| {
        let held = pick(ramp < 0.0, 0.0, ramp);
        (rest + saturation * pick(held > 1.0, 1.0, held)) * value
    })
}

/// A color whose saturation is multiplied, at most to the full: `tf.image.adjust_saturation`.
#[inline(always)]
pub(super) fn saturated([red, green, blue]: Color, factor: f32) -> Color {
    let inner = pick(green < blue, blue, green);
    let most = pick(red < inner, inner, red);
    let inner = pick(blue < green, blue, green);
    let spread = most - pick(inner < red, inner, red);
    let unit = 1.0 / (SIXTHS * spread);
    // A third is added in double precision there.
    let of_green = (f64::from(unit * (blue - red)) + 2.0 / 6.0) as f32;
    let of_blue = (f64::from(unit * (red - green)) + 4.0 / 6.0) as f32;
    let hue = pick(red == most, unit * (green - blue), pick(green == most, of_green, of_blue));
    let hue = pick(spread <= 0.0, 0.0, hue);
    let hue = pick(hue < 0.0, hue + 1.0, hue);
    let saturation = pick(most > 0.0, spread / most, 0.0) * factor;
    let held = pick(saturation > 0.0, saturation, 0.0);
    mixed(hue * SIXTHS, pick(held < 1.0, held, 1.0) * most, most)
}

/// The color in a sixth of the circle; a hue that is a whole turn by rounding is none, and gray.
#[inline(always)]
fn mixed(sixth: f32, chroma: f32, value: f32) -> Color {
    let least = value - chroma;
    let within = sixth - 2.0 * (sixth * 0.5).floor();
    let middle = chroma * (1.0 - (within - 1.0).abs());
    let inside = (0.0..SIXTHS).contains(&sixth);
    placed(sixth, [chroma, middle, 0.0]).map(|part| pick(inside, part, 0.0) + least)
}

/// A color turned on the circle, by `sixths` of it from -6 to 6: `tf.image.adjust_hue`.
#[inline(always)]
pub(super) fn turned([red, green, blue]: Color, sixths: f32) -> Color {
    let ([most, middle, least], sixth) = ordered([red, green, blue]);
    let share = (middle - least) / (most - least);
    let odd = sixth == 1.0 || sixth == 3.0 || sixth == 5.0;
    let hue = pick(most == least, 0.0, sixth + pick(odd, 1.0 - share, share)) + sixths;
    let hue = pick(hue < 0.0, hue + SIXTHS, hue);
    let hue = pick(hue >= SIXTHS, hue - SIXTHS, hue);
    // From 12, which is a whole turn behind a hue of 6.
    let hue = pick(hue >= SIXTHS, hue - SIXTHS, hue);
    let past = hue - hue.floor();
    let halves = hue.floor() * 0.5;
    let share = pick(halves == halves.floor(), past, 1.0 - past);
    placed(hue, [most, least + share * (most - least), least])
}

/// The largest, middle and smallest part of a color and its sixth of the circle.
#[inline(always)]
fn ordered([red, green, blue]: Color) -> (Color, f32) {
    let (low, high) = (pick(red < green, red, green), pick(red < green, green, red));
    let (below, above) = (blue < low, blue > high);
    let most = pick(below, high, pick(above, blue, high));
    let middle = pick(below, low, pick(above, high, blue));
    let least = pick(below, blue, low);
    let if_red_less = pick(below, 1.0, pick(above, 3.0, 2.0));
    let if_red_more = pick(below, 0.0, pick(above, 4.0, 5.0));
    ([most, middle, least], pick(red < green, if_red_less, if_red_more))
}

/// The largest, middle and smallest part where a sixth of the circle has them; those of the last where there is none.
#[inline(always)]
fn placed(sixth: f32, [most, middle, least]: Color) -> Color {
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|border| sixth < border);
    [
        pick(one, most, pick(two, middle, pick(four, least, pick(five, middle, most)))),
        pick(one, middle, pick(three, most, pick(four, middle, least))),
        pick(two, least, pick(three, middle, pick(five, most, middle))),
    ]
}

#[inline(always)]
fn pick(first: bool, yes: f32, no: f32) -> f32 {
    if first { yes } else { no }
}

/// The larger number, or the one that is none.
#[inline(always)]
fn larger(first: f32, second: f32) -> f32 {
    if first >= second || first.is_nan() { first } else { second }
}

/// The smaller number, or the one that is none.
#[inline(always)]
fn smaller(first: f32, second: f32) -> f32 {
    if first <= second || first.is_nan() { first } else { second }
}
