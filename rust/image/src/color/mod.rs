//! Color: what changes values and leaves pixels where they are.
pub mod adjust;
pub mod channels;
pub mod erase;
pub mod floats;
pub mod hls;
mod hsv;
pub mod hue;
pub mod normalize;
