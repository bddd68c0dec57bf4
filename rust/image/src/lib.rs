//! Images from bytes to batch memory: JPEG and PNG decoding, geometry, color and collation, without Python or file access.
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
