//! Random access to gzip and zlib streams, without inflating from the start for each read.
//!
//! References: RFC 1950 (zlib), RFC 1951 (deflate), RFC 1952 (gzip).
mod buffered_input;
mod compressed;
mod cursor;
mod members;
mod saved;
mod seek_points;

pub use compressed::CompressedSource;
pub use seek_points::SeekPoint;

/// Maximum distance of a back-reference in a deflate stream (RFC 1951, section 2).
const WINDOW_BYTES: usize = 32 * 1024;

/// Container format of the deflate data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// One or more gzip members, each with a CRC-32 and a length.
    Gzip,
    /// One zlib stream with an Adler-32 checksum.
    Zlib,
}

impl Container {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
        }
    }
}

/// Limits of decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of decompressed bytes. Reading a longer stream fails at this offset.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: u64::MAX }
    }
}

/// Detects the container from the first bytes of a file: three for gzip, two for zlib.
///
/// The zlib check is weak: about one in a thousand random pairs of bytes passes. A caller with a more reliable test for
/// uncompressed data should try that test first.
pub fn detect(start_bytes: &[u8]) -> Option<Container> {
    match *start_bytes {
        [0x1F, 0x8B, 8, ..] => Some(Container::Gzip),
        [cmf, flg, ..] if members::is_zlib_header(cmf, flg) => Some(Container::Zlib),
        _ => None,
    }
}
