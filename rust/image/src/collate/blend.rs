//! Interpolation between two rows of floats, fused with normalization and storage.
use super::kernels::InterpolateRows;
#[cfg(target_arch = "x86_64")]
use super::planes;
use super::writer::Encode;
use crate::geometry::dispatch::{self, Kernel};

/// Two rows to interpolate between, and the weight of the lower row.
#[derive(Clone, Copy)]
pub(super) struct RowPair<'a> {
    pub upper: &'a [f32],
    pub lower: &'a [f32],
    pub weight: f32,
}

/// Interpolates, normalizes and stores an interleaved row. `mean` and `factor` have one value for each value of the
/// row.
pub(super) struct InterpolatedRow<'a, E: Encode> {
    pub pair: RowPair<'a>,
    pub mean: &'a [f32],
    pub factor: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for InterpolatedRow<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let RowPair { upper, lower, weight } = self.pair;
        let rows = upper.iter().zip(lower).zip(self.mean).zip(self.factor);
        for (to, (((upper, lower), mean), factor)) in self.output.iter_mut().zip(rows) {
            *to = E::encode((upper + (lower - upper) * weight - mean) * factor);
        }
    }
}

/// Interpolates and stores a row of three-channel pixels as floats in three planes. `scratch` is used for the pixels
/// that do not fill a vector.
pub(super) fn interpolate_planes(
    pair: RowPair,
    mean: [f32; 3],
    factor: [f32; 3],
    mut output: [&mut [f32]; 3],
    scratch: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    let done = if dispatch::has_avx2() {
        let output = output.each_mut().map(|plane| &mut **plane);
        // SAFETY: the function needs only AVX2, which `has_avx2` found on this machine.
        #[allow(unsafe_code)]
        unsafe {
            planes::interpolate_and_normalize(pair, mean, factor, output)
        }
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let RowPair { upper, lower, weight } = pair;
    let (upper, lower) = (&upper[3 * done..], &lower[3 * done..]);
    dispatch::run(InterpolateRows { upper, lower, weight, output: scratch });
    for (index, pixel) in scratch.as_chunks::<3>().0.iter().take(upper.len() / 3).enumerate() {
        for (channel, plane) in output.iter_mut().enumerate() {
            plane[done + index] = (pixel[channel] - mean[channel]) * factor[channel];
        }
    }
}

/// Converts floats to the element type and stores them.
pub(super) struct StoreFloats<'a, E: Encode> {
    pub row: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for StoreFloats<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.row).for_each(|(to, from)| *to = E::encode(*from));
    }
}
