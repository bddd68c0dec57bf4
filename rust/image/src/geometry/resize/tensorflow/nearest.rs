//! `ResizeNearestNeighbor` with `half_pixel_centers`: the floor of the output's center, scaled, in float32.
use crate::pixels::Size;

/// Source columns and rows of an output of `size`.
pub(crate) fn nearest(from: Size, size: Size) -> (Vec<usize>, Vec<usize>) {
    let places = |input: usize, output: usize| {
        let scale = input as f32 / output as f32;
        (0..output).map(|place| (((place as f32 + 0.5) * scale) as usize).min(input - 1)).collect()
    };
    (places(from.width, size.width), places(from.height, size.height))
}
