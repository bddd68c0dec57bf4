//! Geometry: where pixels come from. Crops, resizes, flips, turns and small affine maps of images.
pub mod affine;
pub(crate) mod dispatch;
pub mod fused;
pub mod level;
#[cfg(test)]
mod parity;
pub(crate) mod part;
pub mod rearrange;
pub mod resize;
pub mod view;
pub mod warp;
pub mod warp_fixed;
