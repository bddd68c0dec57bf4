//! From images to batch memory: slots of every element type and layout, and mixtures of whole batches.
pub mod half;
pub(crate) mod lanes;
pub mod mix;
pub mod slot;
pub(crate) mod writer;
