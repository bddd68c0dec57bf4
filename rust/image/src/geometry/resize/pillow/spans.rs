//! Which source positions an output position weighs, and with what weights (Resample.c, `precompute_coeffs`).
use std::f64::consts::PI;
use std::ops::Range;

use crate::fault::Result;
use crate::geometry::view::{MAX_VALUES, refuse};

/// Bits after the point of an eight-bit pass's weights.
pub(super) const PRECISION: u32 = 32 - 8 - 2;

/// The source positions of one output position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span<'a, W> {
    /// The first position.
    pub start: usize,
    /// The weight of it and those after it; their sum is 1.
    pub weights: &'a [W],
}

impl<W> Span<'_, W> {
    /// The position behind the last.
    pub fn end(&self) -> usize {
        self.start + self.weights.len()
    }
}

/// The spans of all output positions, their weights side by side in memory.
#[derive(Debug, Clone)]
pub(super) struct Spans<W> {
    places: Vec<Place>,
    weights: Vec<W>,
}

/// Where a span begins in the source and among the weights, and how long it is.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    first: usize,
    count: usize,
}

impl<W> Spans<W> {
    /// The number of output positions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The span of one output position.
    pub fn get(&self, index: usize) -> Span<'_, W> {
        let Place { start, first, count } = self.places[index];
        Span { start, weights: &self.weights[first..first + count] }
    }

    /// All spans in order.
    pub fn iter(&self) -> impl Iterator<Item = Span<'_, W>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The most positions that an output position weighs.
    pub fn longest(&self) -> usize {
        self.places.iter().map(|place| place.count).max().unwrap_or(0)
    }

    /// The source positions that are weighed.
    pub fn source_window(&self) -> Range<usize> {
        let start = self.places.iter().map(|place| place.start).min().unwrap_or(0);
        start..self.places.iter().map(|place| place.start + place.count).max().unwrap_or(0)
    }

    /// Only the output positions of `part` stay; source positions count from the first that is weighed, and these are returned.
    pub fn keep(&mut self, part: Range<usize>) -> Range<usize> {
        self.places.truncate(part.end);
        self.places.drain(..part.start);
        let needs = self.source_window();
        self.places.iter_mut().for_each(|place| place.start -= needs.start);
        needs
    }

    /// The last output position becomes the first.
    pub fn reverse(&mut self) {
        self.places.reverse();
    }
}

impl Spans<f64> {
    /// The weights with `PRECISION` bits after the point, halves away from zero.
    pub fn fixed(&self) -> Spans<i32> {
        let scale = f64::from(1 << PRECISION);
        let fix = |weight: &f64| (weight * scale + 0.5_f64.copysign(*weight)) as i32;
        Spans { places: self.places.clone(), weights: self.weights.iter().map(fix).collect() }
    }
}

/// The spans of `output` positions over `input` positions.
pub(super) fn spans(input: usize, output: usize, filter: Filter) -> Result<Spans<f64>> {
    let scale = input as f64 / output as f64;
    let stretch = scale.max(1.0);
    let reach = filter.reach() * stretch;
    let most = reach.ceil() * 2.0 + 1.0;
    let work = output as f64 * most;
    if work > MAX_VALUES as f64 / 256.0 {
        return refuse("a resize with fewer weights", format!("{work}"));
    }
    let (mut places, mut weights) = (Vec::with_capacity(output), Vec::with_capacity(work as usize));
    for place in 0..output {
        let center = (place as f64 + 0.5) * scale;
        let start = (center - reach + 0.5).max(0.0) as usize;
        let end = ((center + reach + 0.5) as usize).min(input);
        let first = weights.len();
        let weight = |index: usize| filter.at((index as f64 - center + 0.5) * (1.0 / stretch));
        weights.extend((start..end).map(weight));
        normalize(&mut weights[first..]);
        places.push(Place { start, first, count: weights.len() - first });
    }
    Ok(Spans { places, weights })
}

fn normalize(weights: &mut [f64]) {
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum != 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

// Filters: name, support and curve, in float64 (Resample.c).

/// `Image.Resampling`, but for `NEAREST`, which is no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every covered pixel counts the same.
    Box,
    /// A triangle.
    Bilinear,
    /// A sinc under a Hamming window.
    Hamming,
    /// Keys' cubic with a = -0.5.
    Bicubic,
    /// A sinc under a sinc, three pixels wide on each side.
    Lanczos,
    /// J. P. Costella's Magic Kernel Sharp of 2013 (since Pillow 13).
    Mks2013,
    /// The same of 2021 (since Pillow 13).
    Mks2021,
}

impl Filter {
    /// How far the curve reaches from its center.
    pub(super) fn reach(self) -> f64 {
        match self {
            Self::Box => 0.5,
            Self::Bilinear | Self::Hamming => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
            Self::Mks2013 => 2.5,
            Self::Mks2021 => 4.5,
        }
    }

    /// The curve at `x`.
    pub(super) fn at(self, x: f64) -> f64 {
        let distance = x.abs();
        match self {
            Self::Box => f64::from(-0.5 < x && x <= 0.5),
            Self::Bilinear => (1.0 - distance).max(0.0),
            Self::Hamming => hamming(distance),
            Self::Bicubic => cubic(distance),
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
    // The constants are float32 literals in the original.
    let window = f64::from(0.54_f32) + f64::from(0.46_f32) * (distance * PI).cos();
    if distance == 0.0 { 1.0 } else { sinc(distance) * window }
}

fn cubic(distance: f64) -> f64 {
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
