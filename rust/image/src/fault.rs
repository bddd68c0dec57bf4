//! What is wrong with an encoded image or with a request for its pixels, and where.
use std::fmt;

/// The kinds of fault that can be told apart. `as_str` is the word that users see in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageFaultKind {
    /// The data end before the image does.
    Truncated,
    /// A marker is missing, unknown, or stands where none may stand.
    BadMarker,
    /// A quantization, Huffman or palette table breaks its rules or is missing.
    BadTable,
    /// The entropy-coded data hold a code or value that no table explains.
    BadCode,
    /// The image's declared size is zero or otherwise impossible.
    BadDimensions,
    /// A scan's header contradicts the frame or an earlier scan.
    BadScan,
    /// Restart markers are missing or out of order.
    BadRestart,
    /// A PNG chunk is out of place, repeated, or of a forbidden length.
    BadChunk,
    /// A stored checksum differs from the computed one.
    BadChecksum,
    /// A compressed stream is damaged or of the wrong length.
    BadCompression,
    /// The image asks for more pixels or work than the limits allow.
    LimitExceeded,
    /// A legal image of a kind that this crate leaves to another decoder.
    Unsupported,
    /// A window that does not lie within the image.
    BadWindow,
    /// Entry points of another image.
    BadEntryPoints,
    /// Any other argument that makes no sense.
    BadArgument,
}

impl ImageFaultKind {
    /// The word used in reports and errors.
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
        }
    }
}

/// One thing found wrong: its kind, the byte offset in the encoded image where it was seen, what was expected and found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFault {
    /// What is wrong.
    pub kind: ImageFaultKind,
    /// Bytes from the start of the encoded image.
    pub offset: usize,
    /// What a sound image or request would have there; empty where no single value is expected.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl ImageFault {
    /// A fault of `kind` at byte `offset`.
    pub fn new(kind: ImageFaultKind, offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { kind, offset, expected: expected.into(), found: found.into() }
    }

    /// The fault of something at byte `offset` that is more than `limit` of what `what` names.
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

/// The result of everything that can meet a fault.
pub type Result<T, E = ImageFault> = std::result::Result<T, E>;
