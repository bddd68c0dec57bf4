//! Whole-file gzip and zlib streams read at any offset, without inflating from the start each time.
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

/// How far back a deflate stream may refer (RFC 1951, section 2).
const WINDOW_BYTES: usize = 32 * 1024;

/// What wraps the deflate data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// One or more gzip members, each with a CRC-32 and a length.
    Gzip,
    /// One zlib stream with an Adler-32.
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

/// How much may come out of a compressed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of decompressed bytes that is delivered.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: u64::MAX }
    }
}

/// The container that the first bytes of a file announce, if any.
///
/// Three bytes tell gzip, two tell zlib. The zlib check is weak (one in about a thousand random pairs of bytes
/// passes), so a caller that knows of a better test for uncompressed data should try that first.
pub fn detect(head: &[u8]) -> Option<Container> {
    match *head {
        [0x1F, 0x8B, 8, ..] => Some(Container::Gzip),
        [cmf, flg, ..] if members::is_zlib_header(cmf, flg) => Some(Container::Zlib),
        _ => None,
    }
}
