//! Normalization and storage of rows of bytes in one pass.
#[cfg(target_arch = "x86_64")]
use super::planes;
use super::writer::{Encode, Floats};
use crate::geometry::dispatch::{self, Kernel};

/// Normalizes and stores an interleaved row. `mean` and `factor` have one value for each value of the row.
pub(super) struct NormalizeRow<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: &'a [f32],
    pub factor: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for NormalizeRow<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let numbers = self.row.iter().zip(self.mean).zip(self.factor);
        for (to, ((byte, mean), factor)) in self.output.iter_mut().zip(numbers) {
            *to = E::encode((f32::from(*byte) - mean) * factor);
        }
    }
}

/// Normalizes and stores the bytes of one channel.
pub(super) struct NormalizeChannel<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: f32,
    pub factor: f32,
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for NormalizeChannel<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, byte) in self.output.iter_mut().zip(self.row) {
            *to = E::encode((f32::from(*byte) - self.mean) * self.factor);
        }
    }
}

/// Normalizes and stores a row of three-channel pixels in three planes.
pub(super) struct NormalizePlanes<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: [f32; 3],
    pub factor: [f32; 3],
    pub output: [&'a mut [E::Stored]; 3],
}

impl<E: Encode> Kernel for NormalizePlanes<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([first, second, third], (pixels, _)) = (self.output, self.row.as_chunks::<3>());
        let value = |pixel: &[u8; 3], channel: usize| {
            E::encode((f32::from(pixel[channel]) - self.mean[channel]) * self.factor[channel])
        };
        for (((pixel, first), second), third) in pixels.iter().zip(first).zip(second).zip(third) {
            (*first, *second, *third) = (value(pixel, 0), value(pixel, 1), value(pixel, 2));
        }
    }
}

/// Normalizes and stores a row of three-channel pixels as floats in three planes.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
pub(super) fn float_planes(row: &[u8], mean: [f32; 3], factor: [f32; 3], mut output: [&mut [f32]; 3]) {
    #[cfg(target_arch = "x86_64")]
    let done = if dispatch::has_avx2() {
        let output = output.each_mut().map(|plane| &mut **plane);
        // SAFETY: the function needs only AVX2, which `has_avx2` found on this machine.
        #[allow(unsafe_code)]
        unsafe {
            planes::normalize_bytes(row, mean, factor, output)
        }
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let output = output.map(|plane| &mut plane[done..]);
    dispatch::run(NormalizePlanes::<Floats> { row: &row[3 * done..], mean, factor, output });
}

/// Stores a row of three-channel pixels in three planes without normalization.
pub(super) struct CopyPlanes<'a> {
    pub row: &'a [u8],
    pub output: [&'a mut [u8]; 3],
}

impl Kernel for CopyPlanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([first, second, third], (pixels, _)) = (self.output, self.row.as_chunks::<3>());
        for (((pixel, first), second), third) in pixels.iter().zip(first).zip(second).zip(third) {
            [*first, *second, *third] = *pixel;
        }
    }
}
