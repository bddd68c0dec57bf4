//! Geometry, color and collation against recordings of real libraries and against their own definitions.
mod collate;
mod color;
mod fused;
mod hostile;
mod rearrange;
mod recordings;
mod resize;
mod warp;
