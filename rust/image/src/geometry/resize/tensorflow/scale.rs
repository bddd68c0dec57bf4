//! `ScaleAndTranslate`: resizes with any kernel, first vertically, then horizontally. With antialiasing, the kernel is
//! widened if the image shrinks.
use super::Method;
use super::horizontal::{AddScaledRow, HorizontalPass, Span};
use crate::fault::Result;
use crate::geometry::dispatch;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{MAX_VALUES, View, bad_argument};
use crate::memory;
use crate::pixels::Size;
use std::f32::consts::PI;

/// Appends `source` resized to `size` to `output`.
pub(super) fn append_resized<T: PixelType>(
    source: View<T>,
    size: Size,
    method: Method,
    antialias: bool,
    output: &mut Vec<f32>,
) -> Result<()> {
    let columns = compute_spans(source.size().width, size.width, method, antialias)?;
    let lines = compute_spans(source.size().height, size.height, method, antialias)?;
    let mut interpolated = memory::filled(source.size().width * source.channels(), 0.0)?;
    let mut rows = HorizontalPass::new(columns, source.size().width, source.channels(), 0.0)?;
    for line in &lines {
        interpolated.fill(0.0);
        for (y, weight) in line.indices.iter().zip(&line.weights) {
            dispatch::run(AddScaledRow { row: source.row(*y as usize), weight: *weight, sums: &mut interpolated });
        }
        output.extend_from_slice(rows.sum_row(&interpolated));
    }
    Ok(())
}

fn compute_spans(input: usize, output: usize, method: Method, antialias: bool) -> Result<Vec<Span>> {
    let scale = output as f32 / input as f32;
    let inverse = (1.0 / f64::from(scale)) as f32;
    let kernel_scale = if antialias { inverse.max(1.0) } else { 1.0 };
    let reach = kernel_radius(method) * kernel_scale;
    if output as f64 * (f64::from(reach) * 2.0 + 1.0) > MAX_VALUES as f64 / 256.0 {
        return bad_argument("a resize with fewer weights", format!("{output} outputs, radius {reach}"));
    }
    let narrow = 1.0 / kernel_scale;
    let last = input as i64 - 1;
    let span = |index: usize| {
        let sample = (index as f32 + 0.5) * inverse;
        let start = ((sample - reach - 0.5).ceil() as i64).clamp(0, last) as usize;
        let end = ((sample + reach - 0.5).floor() as i64).clamp(0, last) as usize + 1;
        let weight = |input: usize| kernel_value(method, ((input as f32 + 0.5 - sample) * narrow).abs());
        let mut weights = memory::collect((start..end).map(weight))?;
        normalize_weights(&mut weights);
        Ok(Span { indices: memory::collect(start as u32..end as u32)?, weights })
    };
    Ok(memory::try_collect((0..output).map(span))?)
}

fn normalize_weights(weights: &mut [f32]) {
    let sum = weights.iter().fold(0.0_f32, |sum, weight| sum + weight);
    let inverse = if sum.abs() < 1000.0 * f32::MIN_POSITIVE { 0.0 } else { 1.0 / sum };
    weights.iter_mut().for_each(|weight| *weight *= inverse);
}

fn kernel_radius(method: Method) -> f32 {
    match method {
        Method::Bilinear | Method::Area => 1.0,
        Method::Bicubic | Method::Mitchell => 2.0,
        Method::Lanczos3 => 3.0,
        Method::Lanczos5 => 5.0,
        Method::Gaussian => 1.5,
    }
}

fn kernel_value(method: Method, x: f32) -> f32 {
    match method {
        Method::Bilinear | Method::Area => (1.0 - x).max(0.0),
        Method::Bicubic => {
            piecewise(x, |x| ((1.5 * x - 2.5) * x) * x + 1.0, |x| ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0)
        }
        Method::Mitchell => piecewise(
            x,
            |x| (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
            |x| (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
        ),
        Method::Lanczos3 => lanczos(x, 3.0),
        Method::Lanczos5 => lanczos(x, 5.0),
        Method::Gaussian => gaussian_weight(x),
    }
}

fn piecewise(x: f32, inner: impl Fn(f32) -> f32, outer: impl Fn(f32) -> f32) -> f32 {
    match x {
        2.0.. => 0.0,
        1.0.. => outer(x),
        _ => inner(x),
    }
}

fn lanczos(x: f32, radius: f32) -> f32 {
    if x > radius {
        return 0.0;
    }
    if x <= 1e-3 {
        return 1.0;
    }
    radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x)
}

fn gaussian_weight(x: f32) -> f32 {
    const SIGMA: f64 = 0.5;
    if x >= 1.5 {
        return 0.0;
    }
    (f64::from(-x * x) / (2.0 * SIGMA * SIGMA)).exp() as f32
}
