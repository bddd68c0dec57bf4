//! From images to batch memory: slots of every element type and layout.
mod bytes;
pub mod half;
pub(crate) mod lanes;
pub mod slot;
pub(crate) mod writer;
