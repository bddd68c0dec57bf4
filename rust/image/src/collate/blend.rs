//! Rows of floats between two others on their way to memory: blended, normalized and stored in one pass.
use super::kernels::Blend;
#[cfg(target_arch = "x86_64")]
use super::planes;
use super::writer::Encode;
use crate::geometry::dispatch::{self, Kernel};

/// Two rows and how far the wanted one lies between them.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub upper: &'a [f32],
    pub lower: &'a [f32],
    pub weight: f32,
}

/// An interleaved row on its way to memory; mean and factor repeat along it.
pub(super) struct Row<'a, E: Encode> {
    pub pair: Pair<'a>,
    pub mean: &'a [f32],
    pub factor: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for Row<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Pair { upper, lower, weight } = self.pair;
        let rows = upper.iter().zip(lower).zip(self.mean).zip(self.factor);
        for (to, (((upper, lower), mean), factor)) in self.output.iter_mut().zip(rows) {
            *to = E::encode((upper + (lower - upper) * weight - mean) * factor);
        }
    }
}

/// Pixels of three channels to a row of floats of each plane; `spare` has room for the rest of the row.
pub(super) fn planes_between(
    pair: Pair,
    mean: [f32; 3],
    factor: [f32; 3],
    mut output: [&mut [f32]; 3],
    spare: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    let done = if dispatch::has_avx2() {
        let output = output.each_mut().map(|plane| &mut **plane);
        // SAFETY: the function needs AVX2 alone, and `has_avx2` has just found it on this machine.
        #[allow(unsafe_code)]
        unsafe {
            planes::floats(pair, mean, factor, output)
        }
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let Pair { upper, lower, weight } = pair;
    let (upper, lower) = (&upper[3 * done..], &lower[3 * done..]);
    dispatch::run(Blend { upper, lower, weight, output: spare });
    for (place, pixel) in spare.as_chunks::<3>().0.iter().take(upper.len() / 3).enumerate() {
        for (channel, plane) in output.iter_mut().enumerate() {
            plane[done + place] = (pixel[channel] - mean[channel]) * factor[channel];
        }
    }
}

/// Floats in another type.
pub(super) struct Stored<'a, E: Encode> {
    pub row: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for Stored<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.iter_mut().zip(self.row).for_each(|(to, from)| *to = E::encode(*from));
    }
}
