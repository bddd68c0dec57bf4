//! The source positions of each output position and their weights (Resample.c, `precompute_coeffs`), and the filters.
use std::f64::consts::PI;
use std::ops::Range;

use crate::fault::Result;
use crate::geometry::view::{MAX_VALUES, bad_argument};
use crate::memory::{self, OutOfMemory};

/// Number of fraction bits of weights in the 8-bit passes.
pub(super) const PRECISION: u32 = 32 - 8 - 2;

/// The consecutive source positions of one output position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span<'a, W> {
    /// First source position.
    pub start: usize,
    /// Weights of the source positions from `start` on; their sum is 1.
    pub weights: &'a [W],
}

impl<W> Span<'_, W> {
    /// Returns the source position after the span.
    pub fn end(&self) -> usize {
        self.start + self.weights.len()
    }
}

/// The spans of all output positions, with contiguous weights.
#[derive(Debug, Clone)]
pub(super) struct Spans<W> {
    bounds: Vec<SpanBounds>,
    weights: Vec<W>,
}

/// A span: its first source position, the index of its first weight, and its length.
#[derive(Debug, Clone, Copy)]
struct SpanBounds {
    start: usize,
    first: usize,
    count: usize,
}

impl<W> Spans<W> {
    /// Returns the number of output positions.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Returns the span of one output position.
    pub fn get(&self, index: usize) -> Span<'_, W> {
        let SpanBounds { start, first, count } = self.bounds[index];
        Span { start, weights: &self.weights[first..first + count] }
    }

    /// Iterates over all spans in order.
    pub fn iter(&self) -> impl Iterator<Item = Span<'_, W>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the length of the longest span.
    pub fn longest_span(&self) -> usize {
        self.bounds.iter().map(|bound| bound.count).max().unwrap_or(0)
    }

    /// Returns the range from the first to the last source position that any span contains.
    pub fn source_window(&self) -> Range<usize> {
        let start = self.bounds.iter().map(|bound| bound.start).min().unwrap_or(0);
        start..self.bounds.iter().map(|bound| bound.start + bound.count).max().unwrap_or(0)
    }

    /// Keeps only the output positions `part`, and makes the source positions relative to the first one that is used.
    /// Returns the range of source positions that are used.
    pub fn crop(&mut self, part: Range<usize>) -> Range<usize> {
        self.bounds.truncate(part.end);
        self.bounds.drain(..part.start);
        let source_window = self.source_window();
        self.bounds.iter_mut().for_each(|bound| bound.start -= source_window.start);
        source_window
    }

    /// Reverses the output positions.
    pub fn reverse(&mut self) {
        self.bounds.reverse();
    }
}

impl Spans<f64> {
    /// Converts the weights to fixed point with `PRECISION` fraction bits. Halves are rounded away from zero.
    pub fn to_fixed_point(&self) -> Result<Spans<i32>, OutOfMemory> {
        let scale = f64::from(1 << PRECISION);
        let fix = |weight: &f64| (weight * scale + 0.5_f64.copysign(*weight)) as i32;
        Ok(Spans { bounds: memory::copy(&self.bounds)?, weights: memory::collect(self.weights.iter().map(fix))? })
    }
}

/// Computes the spans of `output` positions on an axis of `input` positions.
pub(super) fn compute_spans(input: usize, output: usize, filter: Filter) -> Result<Spans<f64>> {
    let scale = input as f64 / output as f64;
    let filter_scale = scale.max(1.0);
    let reach = filter.radius() * filter_scale;
    let max_weights = reach.ceil() * 2.0 + 1.0;
    let total_weights = output as f64 * max_weights;
    if total_weights > MAX_VALUES as f64 / 256.0 {
        return bad_argument("a resize with fewer weights", format!("{total_weights} weights"));
    }
    let (mut bounds, mut weights) = (memory::with_capacity(output)?, memory::with_capacity(total_weights as usize)?);
    for index in 0..output {
        let center = (index as f64 + 0.5) * scale;
        let start = (center - reach + 0.5).max(0.0) as usize;
        let end = ((center + reach + 0.5) as usize).min(input);
        let first = weights.len();
        let weight = |input: usize| filter.weight_at((input as f64 - center + 0.5) * (1.0 / filter_scale));
        weights.extend((start..end).map(weight));
        normalize_weights(&mut weights[first..]);
        bounds.push(SpanBounds { start, first, count: weights.len() - first });
    }
    Ok(Spans { bounds, weights })
}

fn normalize_weights(weights: &mut [f64]) {
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum != 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

/// The filters of `Image.Resampling`, computed in float64 (Resample.c). `NEAREST` is not a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Box filter: equal weights.
    Box,
    /// Triangle filter.
    Bilinear,
    /// Hamming-windowed sinc.
    Hamming,
    /// Keys' cubic with a = -0.5.
    Bicubic,
    /// Lanczos-windowed sinc with a radius of three pixels.
    Lanczos,
    /// Magic Kernel Sharp 2013 of J. P. Costella (since Pillow 13).
    Mks2013,
    /// Magic Kernel Sharp 2021 (since Pillow 13).
    Mks2021,
}

impl Filter {
    /// Returns the radius of the filter.
    pub(super) fn radius(self) -> f64 {
        match self {
            Self::Box => 0.5,
            Self::Bilinear | Self::Hamming => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
            Self::Mks2013 => 2.5,
            Self::Mks2021 => 4.5,
        }
    }

    /// Returns the value of the filter at `x`.
    pub(super) fn weight_at(self, x: f64) -> f64 {
        let distance = x.abs();
        match self {
            Self::Box => f64::from(-0.5 < x && x <= 0.5),
            Self::Bilinear => (1.0 - distance).max(0.0),
            Self::Hamming => hamming(distance),
            Self::Bicubic => cubic_weights(distance),
            Self::Lanczos if (-3.0..3.0).contains(&x) => sinc(x) * sinc(x / 3.0),
            Self::Lanczos => 0.0,
            Self::Mks2013 => magic_2013(distance),
            Self::Mks2021 => magic_2021(distance),
        }
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    (x * PI).sin() / (x * PI)
}

fn hamming(distance: f64) -> f64 {
    if distance >= 1.0 {
        return 0.0;
    }
    // Pillow's constants are float32 literals.
    let window = f64::from(0.54_f32) + f64::from(0.46_f32) * (distance * PI).cos();
    if distance == 0.0 { 1.0 } else { sinc(distance) * window }
}

fn cubic_weights(distance: f64) -> f64 {
    const A: f64 = -0.5;
    match distance {
        ..1.0 => ((A + 2.0) * distance - (A + 3.0)) * distance * distance + 1.0,
        1.0..2.0 => (((distance - 5.0) * distance + 8.0) * distance - 4.0) * A,
        _ => 0.0,
    }
}

fn magic_2013(x: f64) -> f64 {
    match x {
        ..0.5 => 17.0 / 16.0 - 7.0 / 4.0 * x * x,
        ..1.5 => (x - 1.0) * (x - 7.0 / 4.0),
        ..2.5 => -(x - 2.5) * (x - 2.5) / 8.0,
        _ => 0.0,
    }
}

fn magic_2021(x: f64) -> f64 {
    match x {
        ..0.5 => 577.0 / 576.0 - 239.0 / 144.0 * x * x,
        ..1.5 => (140.0 * x * x - 379.0 * x + 239.0) / 144.0,
        ..2.5 => -(24.0 * x * x - 113.0 * x + 130.0) / 144.0,
        ..3.5 => (4.0 * x * x - 27.0 * x + 45.0) / 144.0,
        ..4.5 => -(2.0 * x - 9.0) * (2.0 * x - 9.0) / 1152.0,
        _ => 0.0,
    }
}
