//! HSV conversions of single colors in float32. They have no branches, so that the compiler vectorizes loops that call
//! them.
//!
//! The operations, their order, and the few steps in double precision are TensorFlow's (kernels/image/colorspace_op.h,
//! adjust_saturation_op.cc, adjust_hue_op.cc). Multiplications and additions are rounded separately on every machine.

/// A color as three channels, either RGB or HSV.
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
    let hue = select_float(red == max, unit * (green - blue), select_float(green == max, hue_of_green, hue_of_blue));
    let hue = select_float(chroma > 0.0, hue, 0.0);
    [select_float(hue < 0.0, hue + 1.0, hue), select_float(max > 0.0, chroma / max, 0.0), max]
}

/// Converts HSV to RGB: `tf.image.hsv_to_rgb`.
#[inline(always)]
pub(super) fn to_rgb([hue, saturation, value]: Color) -> Color {
    let (sixth, rest) = (hue * SIXTHS, 1.0 - saturation);
    let ramps = [(sixth - 3.0).abs() - 1.0, 2.0 - (sixth - 2.0).abs(), 2.0 - (sixth - 4.0).abs()];
    ramps.map(|ramp| {
        let clamped = select_float(ramp < 0.0, 0.0, ramp);
        (rest + saturation * select_float(clamped > 1.0, 1.0, clamped)) * value
    })
}

/// Multiplies the saturation of a color by a factor and clamps the result to 1, as `tf.image.adjust_saturation` does.
#[inline(always)]
pub(super) fn adjust_saturation([red, green, blue]: Color, factor: f32) -> Color {
    let inner = select_float(green < blue, blue, green);
    let max = select_float(red < inner, inner, red);
    let inner = select_float(blue < green, blue, green);
    let chroma = max - select_float(inner < red, inner, red);
    let unit = 1.0 / (SIXTHS * chroma);
    // TensorFlow adds these constants in double precision.
    let hue_of_green = (f64::from(unit * (blue - red)) + 2.0 / 6.0) as f32;
    let hue_of_blue = (f64::from(unit * (red - green)) + 4.0 / 6.0) as f32;
    let hue = select_float(red == max, unit * (green - blue), select_float(green == max, hue_of_green, hue_of_blue));
    let hue = select_float(chroma <= 0.0, 0.0, hue);
    let hue = select_float(hue < 0.0, hue + 1.0, hue);
    let saturation = select_float(max > 0.0, chroma / max, 0.0) * factor;
    let clamped = select_float(saturation > 0.0, saturation, 0.0);
    color_of_hue(hue * SIXTHS, select_float(clamped < 1.0, clamped, 1.0) * max, max)
}

/// Returns the RGB color of a hue, a chroma and a value. `sixth` is the hue in sixths of the hue circle. A hue that was
/// rounded to a full circle (6) gives gray, as in TensorFlow.
#[inline(always)]
fn color_of_hue(sixth: f32, chroma: f32, value: f32) -> Color {
    let min = value - chroma;
    let within = sixth - 2.0 * (sixth * 0.5).floor();
    let middle = chroma * (1.0 - (within - 1.0).abs());
    let inside = (0.0..SIXTHS).contains(&sixth);
    assign_channels(sixth, [chroma, middle, 0.0]).map(|part| select_float(inside, part, 0.0) + min)
}

/// Shifts the hue of a color as `tf.image.adjust_hue` does. `sixths` is the shift in sixths of the hue circle, -6 to 6.
#[inline(always)]
pub(super) fn shift_hue([red, green, blue]: Color, sixths: f32) -> Color {
    let ([max, middle, min], sixth) = sort_channels([red, green, blue]);
    let share = (middle - min) / (max - min);
    let odd = sixth == 1.0 || sixth == 3.0 || sixth == 5.0;
    let hue = select_float(max == min, 0.0, sixth + select_float(odd, 1.0 - share, share)) + sixths;
    let hue = select_float(hue < 0.0, hue + SIXTHS, hue);
    let hue = select_float(hue >= SIXTHS, hue - SIXTHS, hue);
    // A hue of 6 plus a shift of 6 needs a second subtraction.
    let hue = select_float(hue >= SIXTHS, hue - SIXTHS, hue);
    let fraction = hue - hue.floor();
    let halves = hue.floor() * 0.5;
    let share = select_float(halves == halves.floor(), fraction, 1.0 - fraction);
    assign_channels(hue, [max, min + share * (max - min), min])
}

/// Returns the channels of a color in descending order, and the index (0 to 5) of the sixth of the hue circle that
/// contains its hue.
#[inline(always)]
fn sort_channels([red, green, blue]: Color) -> (Color, f32) {
    let (low, high) = (select_float(red < green, red, green), select_float(red < green, green, red));
    let (below, above) = (blue < low, blue > high);
    let max = select_float(below, high, select_float(above, blue, high));
    let middle = select_float(below, low, select_float(above, high, blue));
    let min = select_float(below, blue, low);
    let if_red_less = select_float(below, 1.0, select_float(above, 3.0, 2.0));
    let if_red_more = select_float(below, 0.0, select_float(above, 4.0, 5.0));
    ([max, middle, min], select_float(red < green, if_red_less, if_red_more))
}

/// Assigns the largest, middle and smallest value to red, green and blue, depending on the sixth of the hue circle.
/// Values of `sixth` from 5 on, and NaN, mean the last sixth.
#[inline(always)]
fn assign_channels(sixth: f32, [max, middle, min]: Color) -> Color {
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|border| sixth < border);
    [
        select_float(one, max, select_float(two, middle, select_float(four, min, select_float(five, middle, max)))),
        select_float(one, middle, select_float(three, max, select_float(four, middle, min))),
        select_float(two, min, select_float(three, middle, select_float(five, max, middle))),
    ]
}

#[inline(always)]
fn select_float(first: bool, yes: f32, no: f32) -> f32 {
    if first { yes } else { no }
}

/// Returns the larger of two numbers, or NaN if either is NaN.
#[inline(always)]
fn max_or_nan(first: f32, second: f32) -> f32 {
    if first >= second || first.is_nan() { first } else { second }
}

/// Returns the smaller of two numbers, or NaN if either is NaN.
#[inline(always)]
fn min_or_nan(first: f32, second: f32) -> f32 {
    if first <= second || first.is_nan() { first } else { second }
}
