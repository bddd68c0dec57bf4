//! Pillow's nearest neighbor (Geometry.c, `ImagingScaleAffine`): output centers in float64, the step added up.
use crate::pixels::Size;

/// Source columns and rows of an output of `size`.
pub(crate) fn nearest(from: Size, size: Size) -> (Vec<usize>, Vec<usize>) {
    (places(from.width, size.width), places(from.height, size.height))
}

fn places(input: usize, output: usize) -> Vec<usize> {
    let step = input as f64 / output as f64;
    let mut place = step * 0.5;
    let mut next = || {
        let found = (place as usize).min(input - 1);
        place += step;
        found
    };
    (0..output).map(|_| next()).collect()
}
