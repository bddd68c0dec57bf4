//! Storage of images in the memory of a batch: output slots of every element type and layout.
mod blend;
mod bytes;
pub mod half;
pub(crate) mod kernels;
#[cfg(target_arch = "x86_64")]
mod planes;
pub mod slot;
pub(crate) mod writer;
