//! Geometry: where pixels come from. Crops, resizes, flips, turns and small affine maps of images, boxes and points.
pub(crate) mod dispatch;
pub mod fused;
pub mod resize;
pub mod view;
