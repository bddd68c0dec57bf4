//! Which source positions an output position weighs, and with what weights (Resample.c, `precompute_coeffs`).
use super::filters::Filter;
use crate::fault::Result;
use crate::geometry::view::{MAX_VALUES, refuse};

/// Bits after the point of an eight-bit pass's weights.
pub(super) const PRECISION: u32 = 32 - 8 - 2;

/// The source positions of one output position.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// The first position.
    pub start: usize,
    /// The weight of it and those after it; their sum is 1.
    pub weights: Vec<f64>,
}

impl Span {
    /// The position behind the last.
    pub fn end(&self) -> usize {
        self.start + self.weights.len()
    }

    /// The weights with `PRECISION` bits after the point, halves away from zero.
    pub fn fixed(&self) -> impl Iterator<Item = i32> + '_ {
        let scale = f64::from(1 << PRECISION);
        self.weights.iter().map(move |weight| (weight * scale + 0.5_f64.copysign(*weight)) as i32)
    }
}

/// The spans of `output` positions over `input` positions.
pub(super) fn spans(input: usize, output: usize, filter: Filter) -> Result<Vec<Span>> {
    let scale = input as f64 / output as f64;
    let stretch = scale.max(1.0);
    let reach = filter.reach() * stretch;
    let work = output as f64 * (reach.ceil() * 2.0 + 1.0);
    if work > MAX_VALUES as f64 / 256.0 {
        return refuse("a resize with fewer weights", format!("{work}"));
    }
    let span = |place: usize| {
        let centre = (place as f64 + 0.5) * scale;
        let start = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(input);
        let weight = |index: usize| filter.at((index as f64 - centre + 0.5) * (1.0 / stretch));
        Span { start, weights: normal((start..end).map(weight).collect()) }
    };
    Ok((0..output).map(span).collect())
}

fn normal(mut weights: Vec<f64>) -> Vec<f64> {
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum != 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    weights
}
