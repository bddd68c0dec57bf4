//! Conversion of quantized JPEG coefficients to pixels: inverse DCT, upsampling, and color conversion.
//!
//! A decoder uses this module in the following order.
//!
//! 1. [`Layout::new`] computes, for an image size, a [`Scale`] and sampling factors, the number of samples per block of
//!    each component, the size of each component plane, and how it must be upsampled.
//! 2. [`Transform::new`] is called per component, with the block scale from the layout and the quantization table;
//!    [`Transform::apply`] then transforms one block of coefficients into samples of a plane.
//! 3. [`RowConverter::new`] is called for a window of the image. [`RowConverter::columns`] and [`RowConverter::rows`]
//!    return the samples of each plane that the window and each of its rows need, including the neighbors for fancy
//!    upsampling. [`RowConverter::write_row`] converts them to one row of pixels. The planes may be ring buffers,
//!    because only the rows that `rows` returns are read.
//!
//! # Equality with libjpeg-turbo
//!
//! All results are bit-exact with libjpeg-turbo (versions 2.1 to 3.2 agree with each other). Its C code and its x86
//! SIMD code agree as long as products and sums fit into 16 bits, which holds for the coefficients that encoders
//! produce. For larger values, in damaged or synthetic files, they differ, and this module matches the SIMD code:
//! products with quantization steps and sums of two inputs wrap at 16 bits, columns saturate to 16 bits between the
//! passes, and samples are clamped. Only the transform to one sample is C code in libjpeg-turbo on every machine: its
//! product is not truncated, and its result wraps at 10 bits before it is clamped.
//!
//! The triangle filter ("fancy upsampling") applies to factors of two horizontally, vertically or both, but not at
//! [`Scale::Eighth`], and horizontally only if a row of the plane has more than two samples. libjpeg-turbo filters
//! planes of half height and full width (4:4:0) since 1.5.1; the original libjpeg repeats their rows.
//!
//! # Kernels
//!
//! The inner loops exist once per [`Kernel`]: [`Portable`] and, on x86-64, [`Avx2`]. Dispatching per block would cost
//! more than it gains. A decoder therefore implements its whole loop as a [`Job`], and [`run`] compiles that loop once
//! per kernel, with the kernel's instructions enabled in everything that is inlined into it. To support another
//! instruction set, add a type that implements the methods of the trait that profit from it.
//!
//! ```
//! use recordmill_image::jpeg::samples::{Dct, Job, Kernel, Scale, Transform, run};
//!
//! struct Gray<'a> { transform: &'a Transform, blocks: &'a [[i16; 64]], plane: &'a mut [u8] }
//!
//! impl Job for Gray<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<K: Kernel>(self, kernel: K) {
//!         for (block, rows) in self.blocks.iter().zip(self.plane.chunks_exact_mut(64)) {
//!             self.transform.apply(kernel, block, 63, rows, 8);
//!         }
//!     }
//! }
//!
//! let transform = Transform::new(Dct::Islow, Scale::Full, &[16; 64]);
//! let mut plane = [0; 64];
//! let mut block = [0; 64];
//! block[0] = 8;
//! run(Gray { transform: &transform, blocks: &[block], plane: &mut plane });
//! assert_eq!(plane, [128 + 8 * 16 / 8; 64]);
//! ```
#[cfg(target_arch = "x86_64")]
mod avx2;
mod color;
mod idct;
mod kernel;
mod rows;

#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
pub use color::{CmykConversion, ColorSpace, Conversion, PixelFormat};
pub(in crate::jpeg) use idct::NATURAL_ORDER;
pub use idct::{Block, Dct, Multipliers, Scale, Transform};
pub use kernel::{Job, Kernel, Portable, run};
pub use rows::{Component, Layout, RowConverter, Upsampling};
