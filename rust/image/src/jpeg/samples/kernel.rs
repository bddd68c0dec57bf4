//! The trait of the inner loops, and the choice of its best implementation for this machine.
use super::color::{self, PixelFormat};
use super::idct::{self, Block, Multipliers};
use super::rows;

/// The inner loops of sample processing. The default methods are portable; all kernels produce equal bytes.
///
/// A value of an implementing type proves that this machine supports the instructions of the kernel.
pub trait Kernel: Copy {
    /// Inverse DCT to 8 x 8 samples, accurate algorithm.
    #[inline(always)]
    fn idct_islow(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::idct_islow(block, last, multipliers, out, stride);
    }

    /// Inverse DCT to 8 x 8 samples, fast algorithm.
    #[inline(always)]
    fn idct_ifast(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::idct_ifast(block, last, multipliers, out, stride);
    }

    /// Inverse DCT to 4 x 4 samples.
    #[inline(always)]
    fn idct_4x4(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::idct_4x4(block, last, multipliers, out, stride);
    }

    /// Inverse DCT to 2 x 2 samples.
    #[inline(always)]
    fn idct_2x2(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::idct_2x2(block, last, multipliers, out, stride);
    }

    /// Doubles the width of a row with the triangle filter. `out` has twice the length of `row`.
    #[inline(always)]
    fn triangle_across(self, row: &[u8], out: &mut [u8]) {
        rows::triangle_across(row, out);
    }

    /// Computes one output row of the vertical triangle filter, which doubles the number of rows. The output row lies
    /// between the input rows `near` and `far`, closer to `near`: `(3 near + far + bias) / 4`.
    #[inline(always)]
    fn triangle_down(self, near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
        rows::triangle_down(near, far, bias, out);
    }

    /// Computes one output row of the vertical and horizontal triangle filter, which doubles the number of rows and
    /// columns. The output row lies between the input rows `near` and `far`, closer to `near`. `sums` is scratch memory
    /// with at least two elements more than `near`.
    #[inline(always)]
    fn triangle_both(self, near: &[u8], far: &[u8], sums: &mut [i16], out: &mut [u8]) {
        rows::triangle_both(near, far, sums, out);
    }

    /// Repeats every sample of `row` `times` times.
    #[inline(always)]
    fn repeat_samples(self, row: &[u8], times: usize, out: &mut [u8]) {
        rows::repeat_samples(row, times, out);
    }

    /// Converts Y, Cb and Cr rows of equal length to RGB or BGR pixels.
    #[inline(always)]
    fn ycc_to_rgb(self, planes: [&[u8]; 3], order: PixelFormat, out: &mut [u8]) {
        color::ycc_to_rgb(planes, order, out);
    }

    /// Interleaves three rows of equal length into pixels of three bytes, in the order of the rows.
    #[inline(always)]
    fn interleave(self, planes: [&[u8]; 3], out: &mut [u8]) {
        color::interleave(planes, out);
    }

    /// Converts R, G and B rows of equal length to luma.
    #[inline(always)]
    fn rgb_to_gray(self, planes: [&[u8]; 3], out: &mut [u8]) {
        color::rgb_to_gray(planes, out);
    }
}

/// The portable kernel in plain Rust.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Kernel for Portable {}

/// A computation that is compiled once per kernel.
pub trait Job {
    /// Result of the computation.
    type Output;

    /// Runs the computation. Mark it `#[inline(always)]`, and also the small functions that it calls per block or code,
    /// so that all of it is compiled with the kernel's instructions.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Runs `job` with the best kernel for this machine.
pub fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = super::Avx2::detect() {
        return kernel.run(job);
    }
    job.run(Portable)
}
