//! Framing, payload codecs, checksums and decompression of training-record files.
//!
//! This crate accesses neither files nor Python. Callers provide bytes through [`source::ReadAt`].
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

pub use recordmill_memory as memory;
