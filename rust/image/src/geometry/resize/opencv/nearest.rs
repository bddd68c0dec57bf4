//! `INTER_NEAREST`: the floor of position times scale in float64.
use super::Axis;
use crate::pixels::Size;

/// Source columns and rows of an output of `size`.
pub(crate) fn nearest(from: Size, size: Size) -> (Vec<usize>, Vec<usize>) {
    let places = |input: usize, output: usize| {
        let scale = Axis::new(input, output).scale;
        (0..output).map(|place| ((place as f64 * scale) as usize).min(input - 1)).collect()
    };
    (places(from.width, size.width), places(from.height, size.height))
}
