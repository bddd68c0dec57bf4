//! Structured description of damaged or invalid data, shared by framing, payload codecs and decompression.
use crate::memory::OutOfMemory;
use std::fmt;

/// Kind of a [`Fault`]. `as_str` returns the name that users see in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The data ends inside a frame's header.
    TruncatedHeader,
    /// The data ends inside a frame's payload or footer.
    TruncatedPayload,
    /// The stored checksum of a length differs from the computed one.
    LengthChecksum,
    /// The stored checksum of a payload differs from the computed one.
    PayloadChecksum,
    /// The checksum of a payload in the sidecar index differs from the computed one.
    SidecarChecksum,
    /// A length is forbidden by the format or exceeds the data.
    BadLength,
    /// A frame does not begin with the format's magic word.
    BadMagic,
    /// The parts of a record are not in the order that the format requires.
    BadContinuation,
    /// Padding bytes are not zero.
    BadPadding,
    /// The payload is not a valid message of the expected kind.
    BadPayload,
    /// A feature is missing, or its kind or number of values differs from the requested one.
    FeatureMismatch,
    /// The compressed stream is damaged or truncated.
    BadCompression,
    /// The decompressed data exceeds the caller's limit, or a protobuf message exceeds 2 GiB.
    LimitExceeded,
    /// The payload of a record is longer than the caller's limit.
    RecordTooLong,
    /// There is not enough memory. The data itself may be valid.
    OutOfMemory,
}

impl FaultKind {
    /// Returns the name used in reports and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TruncatedHeader => "truncated_header",
            Self::TruncatedPayload => "truncated_payload",
            Self::LengthChecksum => "length_checksum",
            Self::PayloadChecksum => "payload_checksum",
            Self::SidecarChecksum => "sidecar_checksum",
            Self::BadLength => "bad_length",
            Self::BadMagic => "bad_magic",
            Self::BadContinuation => "bad_continuation",
            Self::BadPadding => "bad_padding",
            Self::BadPayload => "bad_payload",
            Self::FeatureMismatch => "feature_mismatch",
            Self::BadCompression => "bad_compression",
            Self::LimitExceeded => "limit_exceeded",
            Self::RecordTooLong => "record_too_long",
            Self::OutOfMemory => "out_of_memory",
        }
    }
}

/// Damaged or invalid data: the kind of damage, the offset where it was detected, and the expected and actual values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Offset at which the fault was detected: framing counts from the start of the uncompressed shard, payload codecs
    /// from the start of the payload.
    pub offset: u64,
    /// Expected value; empty if there is no single expected value.
    pub expected: String,
    /// Value that was found; empty if `expected` is empty.
    pub found: String,
    /// Description of the fault, without the values and the offset in the other fields.
    pub message: String,
}

impl Fault {
    /// Creates a fault without expected and actual values.
    pub fn new(kind: FaultKind, offset: u64, message: impl Into<String>) -> Self {
        Self { kind, offset, expected: String::new(), found: String::new(), message: message.into() }
    }

    /// Adds the expected and the actual value.
    pub fn with_values(mut self, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
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

impl From<OutOfMemory> for Fault {
    fn from(error: OutOfMemory) -> Self {
        Self::new(FaultKind::OutOfMemory, 0, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_memory_becomes_a_fault_of_that_kind() {
        assert_eq!(Fault::from(OutOfMemory { num_bytes: 1 }).kind, FaultKind::OutOfMemory);
    }
}
