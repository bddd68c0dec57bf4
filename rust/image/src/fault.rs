//! The error type of this crate: what is wrong with an encoded image or with a request for its pixels, and where.
use crate::memory::OutOfMemory;
use std::fmt;

/// The category of an [`ImageFault`]. `as_str` returns the name that reports and errors show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageFaultKind {
    /// The data ends before the image is complete.
    Truncated,
    /// A marker is missing, unknown, or not allowed at this position.
    BadMarker,
    /// A quantization, Huffman or palette table is invalid or missing.
    BadTable,
    /// The entropy-coded data contains an invalid code or value.
    BadCode,
    /// The declared width or height is zero or otherwise invalid.
    BadDimensions,
    /// A scan header contradicts the frame header or an earlier scan.
    BadScan,
    /// A restart marker is missing or out of order.
    BadRestart,
    /// A PNG chunk is misplaced, duplicated, or has an invalid length.
    BadChunk,
    /// A stored checksum differs from the computed checksum.
    BadChecksum,
    /// A compressed stream is damaged or has the wrong length.
    BadCompression,
    /// The image exceeds a limit on pixels, memory or work.
    LimitExceeded,
    /// A valid image that uses a feature this crate does not support.
    Unsupported,
    /// A window that is empty or not within the image.
    BadWindow,
    /// Entry points that are invalid or belong to another file.
    BadEntryPoints,
    /// Any other invalid argument.
    BadArgument,
    /// There is not enough memory. The image may be valid.
    OutOfMemory,
}

impl ImageFaultKind {
    /// Returns the name of this kind in reports and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::BadMarker => "bad_marker",
            Self::BadTable => "bad_table",
            Self::BadCode => "bad_code",
            Self::BadDimensions => "bad_dimensions",
            Self::BadScan => "bad_scan",
            Self::BadRestart => "bad_restart",
            Self::BadChunk => "bad_chunk",
            Self::BadChecksum => "bad_checksum",
            Self::BadCompression => "bad_compression",
            Self::LimitExceeded => "limit_exceeded",
            Self::Unsupported => "unsupported",
            Self::BadWindow => "bad_window",
            Self::BadEntryPoints => "bad_entry_points",
            Self::BadArgument => "bad_argument",
            Self::OutOfMemory => "out_of_memory",
        }
    }
}

/// The error type of this crate: why an image cannot be processed, the byte offset in the encoded image where this was
/// detected, what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFault {
    /// Category of the error.
    pub kind: ImageFaultKind,
    /// Offset in bytes from the start of the encoded image.
    pub offset: usize,
    /// The expected value or property; empty if several are possible.
    pub expected: String,
    /// The value or property that was found instead.
    pub found: String,
}

impl ImageFault {
    /// Creates an error of `kind` at byte `offset`.
    pub fn new(kind: ImageFaultKind, offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { kind, offset, expected: expected.into(), found: found.into() }
    }

    /// Creates a `LimitExceeded` error at byte `offset`: `found` is more than `limit`. `what` is the name of the units
    /// that both count.
    pub fn beyond_limit(offset: usize, limit: impl fmt::Display, what: &str, found: impl Into<String>) -> Self {
        Self::new(ImageFaultKind::LimitExceeded, offset, format!("at most {limit} {what}"), found)
    }
}

impl fmt::Display for ImageFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at byte {}: ", self.kind.as_str(), self.offset)?;
        if self.expected.is_empty() {
            return write!(out, "{}", self.found);
        }
        write!(out, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for ImageFault {}

impl From<OutOfMemory> for ImageFault {
    fn from(error: OutOfMemory) -> Self {
        Self::new(ImageFaultKind::OutOfMemory, 0, "", error.to_string())
    }
}

/// The result type of fallible functions in this crate.
pub type Result<T, E = ImageFault> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_memory_becomes_a_fault_of_that_kind() {
        assert_eq!(ImageFault::from(OutOfMemory { num_bytes: 1 }).kind, ImageFaultKind::OutOfMemory);
    }
}
