//! From a JPEG's quantized coefficients to finished pixels: inverse DCT, upsampling, color.
//!
//! A decoder uses the parts in this order.
//!
//! 1. [`Layout::new`] says, for an image size, a [`Scale`] and sampling factors, how many samples a block of each component
//!    yields, how large each component's plane is, and how far it must still be enlarged.
//! 2. [`Transform::new`] per component, with the block edge that the layout gave and the component's quantization table;
//!    [`Transform::block`] turns one block of coefficients into samples of a plane.
//! 3. [`RowConverter::new`] for a window of the image; [`RowConverter::columns`] and [`RowConverter::rows`] say which samples of each
//!    plane the window and each of its rows need (neighbors of fancy upsampling included); [`RowConverter::row`] makes one row
//!    of pixels from them. The planes may be ring buffers: only the rows that `rows` names are asked for.
//!
//! # Equality with libjpeg-turbo
//! All results are libjpeg-turbo's, bit for bit (versions 2.1 to 3.2 agree with each other). Its C code and its x86 SIMD
//! code are equal as long as products and sums fit 16 bits, which holds for what encoders make of pictures. Beyond that,
//! in damaged or made-up files, they differ, and these are the SIMD's results: products with quantization steps and sums of
//! two inputs wrap at 16 bits, columns saturate to 16 bits between the passes, samples clamp. Only the transform to one
//! sample is C everywhere: its product is whole, and its result wraps at 10 bits before it is clamped.
//!
//! The triangle filter ("fancy upsampling") applies to factors of two across, down or both, but not at [`Scale::Eighth`],
//! and across only if a row of the plane has more than two samples. libjpeg-turbo filters planes of half height and full
//! width (4:4:0) since 1.5.1; the original libjpeg repeats their rows.
//!
//! # Kernels
//! The inner loops exist once per [`Kernel`]: [`Portable`] and, on x86-64, [`Avx2`]. Choosing one per block would cost more
//! than it gains, so a decoder writes its whole loop as a [`Job`] and [`run`] compiles that loop once per kernel, with the
//! kernel's instructions enabled in all that is inlined into it. A kernel for another instruction set is one more type with
//! the methods of the trait that gain from it.
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
//!             self.transform.block(kernel, block, 63, rows, 8);
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
