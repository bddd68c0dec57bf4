//! Geometry: where pixels come from. Crops, resizes, flips, turns and small affine maps of images.
pub(crate) mod dispatch;
pub mod pixel_type;
pub mod rearrange;
pub mod resize;
pub mod resized_part;
#[cfg(test)]
mod vector_tests;
pub mod view;
pub mod warp;
pub mod warp_fixed;
