//! JPEG decoder (ITU T.81) for 8-bit sequential and progressive files. Its pixels are bit-exact with libjpeg-turbo.
mod decoder;
mod entry_points;
mod header;
mod huffman;
mod options;
mod output;
pub mod samples;
mod scan_cursor;
mod scans;
mod sequential;
mod stream;
mod truncated;

pub use decoder::Decoder;
pub use entry_points::EntryPoints;
pub use header::{Coding, ColorModel, Header};
pub use options::{Channels, Limits, Options, Region};
