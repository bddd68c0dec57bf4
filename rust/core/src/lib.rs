//! Framing, payloads, checksums and inflate of training-record files: buffers in, buffers and integers out.
//!
//! No file access and no Python here: whoever calls brings bytes through [`source::ReadAt`].
#![deny(unsafe_code)]

pub mod cached_file;
pub mod checksum;
pub mod error;
pub mod framing;
pub mod inflate;
pub mod long_string_record;
pub mod payload;
pub mod random;
pub mod records;
pub mod source;
