//! Geometric operations: crop, resize, flip, orientation, padding and affine maps.
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
