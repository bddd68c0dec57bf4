//! What is wrong with bytes, and where: one structured fault for framing, payloads and compression.
use std::fmt;

/// The kinds of damage that can be told apart. `as_str` is the word that users see in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The data end inside a frame's header.
    TruncatedHeader,
    /// The data end inside a frame's payload or footer.
    TruncatedPayload,
    /// A stored checksum of a length differs from the computed one.
    LengthChecksum,
    /// A stored checksum of a payload differs from the computed one.
    PayloadChecksum,
    /// A length that the format forbids or that cannot fit into the data.
    BadLength,
    /// The format's magic word is not where a frame must begin.
    BadMagic,
    /// Parts of one record do not follow one another as the format demands.
    BadContinuation,
    /// Padding bytes that are not zero.
    BadPadding,
    /// The payload does not parse as the message that it should be.
    BadPayload,
    /// A feature is missing, or has another kind or count than asked for.
    FeatureMismatch,
    /// The compressed stream is damaged or ends early.
    BadCompression,
    /// The decompressed data or a message grew beyond the limit that the caller set.
    LimitExceeded,
}

impl FaultKind {
    /// The word used in reports and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TruncatedHeader => "truncated_header",
            Self::TruncatedPayload => "truncated_payload",
            Self::LengthChecksum => "length_checksum",
            Self::PayloadChecksum => "payload_checksum",
            Self::BadLength => "bad_length",
            Self::BadMagic => "bad_magic",
            Self::BadContinuation => "bad_continuation",
            Self::BadPadding => "bad_padding",
            Self::BadPayload => "bad_payload",
            Self::FeatureMismatch => "feature_mismatch",
            Self::BadCompression => "bad_compression",
            Self::LimitExceeded => "limit_exceeded",
        }
    }
}

/// One thing found wrong: its kind, the byte offset where it was seen, and what was expected and found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Bytes from the start of the uncompressed shard (framing) or of the payload (payload codecs).
    pub offset: u64,
    /// What a sound file would hold there; empty where no single value is expected.
    pub expected: String,
    /// What was found instead.
    pub found: String,
    /// The fault in words, without expected, found and offset.
    pub message: String,
}

impl Fault {
    /// A fault of `kind` at `offset`, in words.
    pub fn new(kind: FaultKind, offset: u64, message: impl Into<String>) -> Self {
        Self { kind, offset, expected: String::new(), found: String::new(), message: message.into() }
    }

    /// The same fault with what was expected and what was found.
    pub fn values(mut self, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        self.expected = expected.to_string();
        self.found = found.to_string();
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}: {}", self.kind.as_str(), self.offset, self.message)?;
        if !self.found.is_empty() {
            write!(f, " (expected {}, found {})", self.expected, self.found)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
