//! Pillow's nearest neighbour (Geometry.c): output centres in float64.
//!
//! Eight-bit modes add the step up (`ImagingScaleAffine`), mode `I;16` multiplies it (`ImagingGenericTransform`), which
//! differs where a centre falls on a border between pixels.
use super::Bounds;
use crate::fault::Result;
use crate::pixels::Size;

/// Source columns and rows of an output of `size`.
pub(crate) fn nearest(from: Size, bounds: Bounds, size: Size, deep: bool) -> Result<(Vec<usize>, Vec<usize>)> {
    bounds.check(from)?;
    let places = if deep { multiplied } else { summed };
    let columns = places(from.width, (bounds.left, bounds.right), size.width);
    Ok((columns, places(from.height, (bounds.upper, bounds.lower), size.height)))
}

fn summed(input: usize, from: (f32, f32), output: usize) -> Vec<usize> {
    let step = f64::from(from.1 - from.0) / output as f64;
    let mut place = f64::from(from.0) + step * 0.5;
    let mut next = || {
        let found = (place as usize).min(input - 1);
        place += step;
        found
    };
    (0..output).map(|_| next()).collect()
}

fn multiplied(input: usize, from: (f32, f32), output: usize) -> Vec<usize> {
    let step = f64::from(from.1 - from.0) / output as f64;
    let place = |index: usize| (step * (index as f64 + 0.5) + f64::from(from.0)) as usize;
    (0..output).map(|index| place(index).min(input - 1)).collect()
}
