//! Rows of bytes on their way to memory: widened, normalized and stored in one pass.
#[cfg(target_arch = "x86_64")]
use super::planes;
use super::writer::{Encode, Floats};
use crate::geometry::dispatch::{self, Kernel};

/// An interleaved row; mean and factor repeat along it.
pub(super) struct Interleaved<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: &'a [f32],
    pub factor: &'a [f32],
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for Interleaved<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let numbers = self.row.iter().zip(self.mean).zip(self.factor);
        for (to, ((byte, mean), factor)) in self.output.iter_mut().zip(numbers) {
            *to = E::encode((f32::from(*byte) - mean) * factor);
        }
    }
}

/// Bytes of one channel.
pub(super) struct Single<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: f32,
    pub factor: f32,
    pub output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for Single<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, byte) in self.output.iter_mut().zip(self.row) {
            *to = E::encode((f32::from(*byte) - self.mean) * self.factor);
        }
    }
}

/// Pixels of three channels to a row of each plane.
pub(super) struct Planes<'a, E: Encode> {
    pub row: &'a [u8],
    pub mean: [f32; 3],
    pub factor: [f32; 3],
    pub output: [&'a mut [E::Stored]; 3],
}

impl<E: Encode> Kernel for Planes<'_, E> {
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

/// Pixels of three channels to a row of floats of each plane.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
pub(super) fn float_planes(row: &[u8], mean: [f32; 3], factor: [f32; 3], mut output: [&mut [f32]; 3]) {
    #[cfg(target_arch = "x86_64")]
    let done = if dispatch::has_avx2() {
        let output = output.each_mut().map(|plane| &mut **plane);
        // SAFETY: the function needs AVX2 alone, and `has_avx2` has just found it on this machine.
        #[allow(unsafe_code)]
        unsafe {
            planes::bytes(row, mean, factor, output)
        }
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let output = output.map(|plane| &mut plane[done..]);
    dispatch::run(Planes::<Floats> { row: &row[3 * done..], mean, factor, output });
}

/// Pixels of three channels to a row of each plane, as they are.
pub(super) struct Part<'a> {
    pub row: &'a [u8],
    pub output: [&'a mut [u8]; 3],
}

impl Kernel for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([first, second, third], (pixels, _)) = (self.output, self.row.as_chunks::<3>());
        for (((pixel, first), second), third) in pixels.iter().zip(first).zip(second).zip(third) {
            [*first, *second, *third] = *pixel;
        }
    }
}
