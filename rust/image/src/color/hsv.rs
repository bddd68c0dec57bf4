//! HSV conversions of single colors in float32 without branches, so that loops over them are vectorized.
//!
//! The operations, their order, and the few steps in double precision are TensorFlow's (kernels/image/colorspace_op.h,
//! adjust_saturation_op.cc, adjust_hue_op.cc). Multiplications and additions are rounded separately on every machine.

/// Three channels of a color.
type Color = [f32; 3];

const SIXTHS: f32 = 6.0;

/// Converts RGB to HSV, each from 0 to 1: `tf.image.rgb_to_hsv`. If one channel is NaN, all results are NaN.
#[inline(always)]
pub(super) fn from_rgb([red, green, blue]: Color) -> Color {
    let max = max_or_nan(max_or_nan(red, green), blue);
    let chroma = max - min_or_nan(min_or_nan(red, green), blue);
    let unit = (1.0 / chroma) * (1.0 / SIXTHS);
    let hue_of_green = unit * (blue - red) + 2.0 / SIXTHS;
    let hue_of_blue = unit * (red - green) + 4.0 / SIXTHS;
    let hue = select(red == max, unit * (green - blue), select(green == max, hue_of_green, hue_of_blue));
    let hue = select(chroma > 0.0, hue, 0.0);
    [select(hue < 0.0, hue + 1.0, hue), select(max > 0.0, chroma / max, 0.0), max]
}

/// Converts HSV to RGB: `tf.image.hsv_to_rgb`.
#[inline(always)]
pub(super) fn to_rgb([hue, saturation, value]: Color) -> Color {
    let (sixth, rest) = (hue * SIXTHS, 1.0 - saturation);
    let ramps = [(sixth - 3.0).abs() - 1.0, 2.0 - (sixth - 2.0).abs(), 2.0 - (sixth - 4.0).abs()];
    ramps.map(|ramp| {
        let clamped = select(ramp < 0.0, 0.0, ramp);
        (rest + saturation * select(clamped > 1.0, 1.0, clamped)) * value
    })
}

/// Multiplies the saturation of a color, clamped to 1: `tf.image.adjust_saturation`.
#[inline(always)]
pub(super) fn adjust_saturation([red, green, blue]: Color, factor: f32) -> Color {
    let inner = select(green < blue, blue, green);
    let max = select(red < inner, inner, red);
    let inner = select(blue < green, blue, green);
    let chroma = max - select(inner < red, inner, red);
    let unit = 1.0 / (SIXTHS * chroma);
    // TensorFlow adds these constants in double precision.
    let hue_of_green = (f64::from(unit * (blue - red)) + 2.0 / 6.0) as f32;
    let hue_of_blue = (f64::from(unit * (red - green)) + 4.0 / 6.0) as f32;
    let hue = select(red == max, unit * (green - blue), select(green == max, hue_of_green, hue_of_blue));
    let hue = select(chroma <= 0.0, 0.0, hue);
    let hue = select(hue < 0.0, hue + 1.0, hue);
    let saturation = select(max > 0.0, chroma / max, 0.0) * factor;
    let clamped = select(saturation > 0.0, saturation, 0.0);
    color_of_hue(hue * SIXTHS, select(clamped < 1.0, clamped, 1.0) * max, max)
}

/// Returns the color of a hue in sixths of the circle. A hue that was rounded to a full circle gives gray, as in
/// TensorFlow.
#[inline(always)]
fn color_of_hue(sixth: f32, chroma: f32, value: f32) -> Color {
    let min = value - chroma;
    let within = sixth - 2.0 * (sixth * 0.5).floor();
    let middle = chroma * (1.0 - (within - 1.0).abs());
    let inside = (0.0..SIXTHS).contains(&sixth);
    assign_channels(sixth, [chroma, middle, 0.0]).map(|part| select(inside, part, 0.0) + min)
}

/// Shifts the hue of a color by `sixths` of the circle, from -6 to 6: `tf.image.adjust_hue`.
#[inline(always)]
pub(super) fn shift_hue([red, green, blue]: Color, sixths: f32) -> Color {
    let ([max, middle, min], sixth) = sort_channels([red, green, blue]);
    let share = (middle - min) / (max - min);
    let odd = sixth == 1.0 || sixth == 3.0 || sixth == 5.0;
    let hue = select(max == min, 0.0, sixth + select(odd, 1.0 - share, share)) + sixths;
    let hue = select(hue < 0.0, hue + SIXTHS, hue);
    let hue = select(hue >= SIXTHS, hue - SIXTHS, hue);
    // A hue of 6 plus a shift of 6 needs a second subtraction.
    let hue = select(hue >= SIXTHS, hue - SIXTHS, hue);
    let fraction = hue - hue.floor();
    let halves = hue.floor() * 0.5;
    let share = select(halves == halves.floor(), fraction, 1.0 - fraction);
    assign_channels(hue, [max, min + share * (max - min), min])
}

/// Returns the largest, middle and smallest channel of a color, and its sixth of the circle.
#[inline(always)]
fn sort_channels([red, green, blue]: Color) -> (Color, f32) {
    let (low, high) = (select(red < green, red, green), select(red < green, green, red));
    let (below, above) = (blue < low, blue > high);
    let max = select(below, high, select(above, blue, high));
    let middle = select(below, low, select(above, high, blue));
    let min = select(below, blue, low);
    let if_red_less = select(below, 1.0, select(above, 3.0, 2.0));
    let if_red_more = select(below, 0.0, select(above, 4.0, 5.0));
    ([max, middle, min], select(red < green, if_red_less, if_red_more))
}

/// Assigns the largest, middle and smallest value to channels according to a sixth of the circle; values out of range
/// use the last one.
#[inline(always)]
fn assign_channels(sixth: f32, [max, middle, min]: Color) -> Color {
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|border| sixth < border);
    [
        select(one, max, select(two, middle, select(four, min, select(five, middle, max)))),
        select(one, middle, select(three, max, select(four, middle, min))),
        select(two, min, select(three, middle, select(five, max, middle))),
    ]
}

#[inline(always)]
fn select(first: bool, yes: f32, no: f32) -> f32 {
    if first { yes } else { no }
}

/// Returns the larger number, or NaN if one is NaN.
#[inline(always)]
fn max_or_nan(first: f32, second: f32) -> f32 {
    if first >= second || first.is_nan() { first } else { second }
}

/// Returns the smaller number, or NaN if one is NaN.
#[inline(always)]
fn min_or_nan(first: f32, second: f32) -> f32 {
    if first <= second || first.is_nan() { first } else { second }
}
