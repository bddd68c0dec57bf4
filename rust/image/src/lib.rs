//! Image decoding (JPEG and PNG), geometry, color and collation: from encoded bytes to batch memory, without Python or
//! file access.
#![deny(unsafe_code)]

pub mod batch;
pub mod collate;
pub mod color;
mod exif;
pub mod fault;
pub mod geometry;
pub mod jpeg;
pub mod pixels;
pub mod png;

pub use recordmill_memory as memory;
