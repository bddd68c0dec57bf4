//! JPEG (ITU T.81): 8-bit sequential and progressive files to pixels, bit for bit as libjpeg-turbo gives them.
mod decoder;
mod entry;
mod header;
mod huffman;
mod mcu;
mod options;
mod picture;
mod planes;
pub mod samples;
mod scans;
mod sequential;
mod stream;
mod truncated;
mod walk;
mod zigzag;

pub use decoder::Decoder;
pub use entry::EntryPoints;
pub use header::{Coding, ColorModel, Header};
pub use options::{Channels, Limits, Options, Wanted};
