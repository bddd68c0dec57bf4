//! From images to batch memory: slots of every element type and layout.
mod between;
mod bytes;
pub mod half;
pub(crate) mod lanes;
#[cfg(target_arch = "x86_64")]
mod planes;
pub mod slot;
pub(crate) mod writer;
