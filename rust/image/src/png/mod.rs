//! PNG: chunks, inflated rows, filters, palettes, bit depths and interlace; pixels as stored or as asked for.
//!
//! The rules follow the PNG specification (third edition) and, where that leaves a choice, what libpng does by default;
//! an image whose pixels different readers understand differently is refused.

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
pub use recode::{Recoder, Wanted};
