//! Pillow's nearest neighbour (Geometry.c): output centres in float64.
//!
//! Eight-bit modes add the step up (`ImagingScaleAffine`), mode `I;16` multiplies it (`ImagingGenericTransform`), which
//! differs where a centre falls on a border between pixels.
use crate::pixels::Size;

/// Source columns and rows of an output of `size`.
pub(crate) fn nearest(from: Size, size: Size, deep: bool) -> (Vec<usize>, Vec<usize>) {
    let places = if deep { multiplied } else { summed };
    let columns = places(from.width, size.width);
    (columns, places(from.height, size.height))
}

fn summed(input: usize, output: usize) -> Vec<usize> {
    let step = input as f64 / output as f64;
    let mut place = step * 0.5;
    let mut next = || {
        let found = (place as usize).min(input - 1);
        place += step;
        found
    };
    (0..output).map(|_| next()).collect()
}

fn multiplied(input: usize, output: usize) -> Vec<usize> {
    let step = input as f64 / output as f64;
    let place = |index: usize| (step * (index as f64 + 0.5)) as usize;
    (0..output).map(|index| place(index).min(input - 1)).collect()
}
