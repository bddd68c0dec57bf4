//! PNG decoder and encoder.
//!
//! The rules follow the PNG specification (third edition) and, where it leaves a choice, the defaults of libpng. An
//! image that other decoders interpret differently is rejected.

mod channels;
mod chunks;
mod decoder;
mod encoder;
mod header;
mod inflate;
mod layout;
mod options;
mod palette;
mod recode;
mod rows;
mod unfilter;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use header::{ColorType, Header};
pub use options::{Channels, Depth, GrayRule, Limits, Options, Palette, Shape};
pub use recode::{RecodeOptions, Recoder};
