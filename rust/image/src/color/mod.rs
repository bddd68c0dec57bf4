//! Color operations: they change pixel values but do not move pixels.
pub mod adjust;
pub mod channels;
pub mod erase;
pub mod floats;
pub mod hls;
mod hsv;
pub mod hue;
pub mod normalize;
