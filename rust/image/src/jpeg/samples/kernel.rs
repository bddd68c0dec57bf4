//! The inner loops as a trait, and the choice between its implementations.
use super::color::{self, PixelFormat};
use super::idct::{self, Block, Multipliers};
use super::rows;

/// The inner loops, with the portable form of each. All kernels give equal bytes.
///
/// A value of an implementing type is proof that this machine can run it.
pub trait Kernel: Copy {
    /// 8 x 8 samples by the accurate transform.
    #[inline(always)]
    fn islow(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::islow(block, last, multipliers, out, stride);
    }

    /// 8 x 8 samples by the fast transform.
    #[inline(always)]
    fn ifast(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::ifast(block, last, multipliers, out, stride);
    }

    /// 4 x 4 samples.
    #[inline(always)]
    fn half(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::half(block, last, multipliers, out, stride);
    }

    /// 2 x 2 samples.
    #[inline(always)]
    fn quarter(self, block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize) {
        idct::quarter(block, last, multipliers, out, stride);
    }

    /// Doubles a row's width by the triangle filter. `out` has twice the length of `row`.
    #[inline(always)]
    fn triangle_across(self, row: &[u8], out: &mut [u8]) {
        rows::triangle_across(row, out);
    }

    /// One of the two rows that the triangle filter makes of `near`: the one beside `far`. `bias` rounds.
    #[inline(always)]
    fn triangle_down(self, near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
        rows::triangle_down(near, far, bias, out);
    }

    /// Both filters at once: a row of twice the width between `near` and `far`, nearer to `near`. `sums` is scratch.
    #[inline(always)]
    fn triangle_both(self, near: &[u8], far: &[u8], sums: &mut Vec<i16>, out: &mut [u8]) {
        rows::triangle_both(near, far, sums, out);
    }

    /// Repeats every sample of `row` `times` times.
    #[inline(always)]
    fn repeat(self, row: &[u8], times: usize, out: &mut [u8]) {
        rows::repeat(row, times, out);
    }

    /// Y, Cb and Cr rows of equal length to pixels of three bytes.
    #[inline(always)]
    fn ycc_to_rgb(self, planes: [&[u8]; 3], order: PixelFormat, out: &mut [u8]) {
        color::ycc_to_rgb(planes, order, out);
    }

    /// Three rows of equal length to pixels of three bytes; the first plane comes first.
    #[inline(always)]
    fn interleave(self, planes: [&[u8]; 3], out: &mut [u8]) {
        color::interleave(planes, out);
    }

    /// R, G and B rows of equal length to gray.
    #[inline(always)]
    fn rgb_to_gray(self, planes: [&[u8]; 3], out: &mut [u8]) {
        color::rgb_to_gray(planes, out);
    }
}

/// Plain Rust, for every machine.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Kernel for Portable {}

/// Work that is compiled once per kernel.
pub trait Job {
    /// What the work yields.
    type Output;

    /// Does the work. Mark it `#[inline(always)]`, and the small functions that it calls per block or code, so that all of
    /// it may use the kernel's instructions.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Runs `job` with the best kernel of this machine.
pub fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = super::Avx2::detect() {
        return kernel.run(job);
    }
    job.run(Portable)
}
