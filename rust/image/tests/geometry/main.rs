//! Tests of geometry, color and collation against recordings of other libraries and against definitions.
mod collate;
mod color;
mod fused;
mod hostile;
mod rearrange;
mod recordings;
mod resize;
mod warp;
