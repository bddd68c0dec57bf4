//! Payload codecs: `Example`, `SequenceExample`, `OFRecord` and MXNet's image records.
//!
//! Parsing follows protobuf's merge rules. Serialization gives the canonical encoding: sorted keys and packed lists.
mod column;
mod column_builder;
mod fast_path;
mod feature_stats;
mod irheader;
mod key_cache;
mod key_table;
mod long_string;
mod message;
mod parser;
mod plan;
mod serialize;
mod varint;
mod wire;
mod write;

pub use column::{Column, ColumnSpec, MissingPolicy, ValueCount, Values};
pub use feature_stats::{FeatureCollector, FeatureStats};
pub use long_string::{LongString, MIN_LONG_STRING};
pub use parser::Parser;
pub use plan::Plan;
pub use serialize::{ColumnData, PayloadSource, ValuesRef, serialize, serialize_into};

use crate::error::Fault;
use message::{DiscardSink, FeatureSink};
use wire::ParseResult;

/// Encoding of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// `tf.train.Example`.
    Example,
    /// `tf.train.SequenceExample`: a context and lists of frames.
    SequenceExample,
    /// OneFlow's `OFRecord`.
    OfRecord,
    /// The 24-byte header of MXNet's image records, optional labels, then data.
    IrHeader,
}

/// Kind of the values of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A byte string.
    Bytes,
    /// A 32-bit float.
    Float32,
    /// A 64-bit float.
    Float64,
    /// A signed 32-bit integer.
    Int32,
    /// A signed 64-bit integer.
    Int64,
    /// An unsigned 64-bit integer.
    UInt64,
}

impl ValueKind {
    /// Returns the name used in schemas and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
        }
    }
}

/// Section of a record that contains a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// The features of the whole record; the only section of payloads other than `SequenceExample`.
    Context,
    /// The feature lists of a `SequenceExample`, with one feature per frame.
    Lists,
}

/// Validates `payload` by protobuf's rules.
pub fn validate_payload(kind: PayloadKind, payload: &[u8]) -> Result<(), Fault> {
    Ok(parse_payload(kind, payload, &mut DiscardSink)?)
}

/// Returns whether `payload` is a valid `SequenceExample` with feature lists, which an `Example` does not have.
pub fn has_feature_lists(payload: &[u8]) -> bool {
    message::contains_feature_lists(payload) && validate_payload(PayloadKind::SequenceExample, payload).is_ok()
}

/// Parses `payload` into `sink`.
fn parse_payload<S: FeatureSink>(kind: PayloadKind, payload: &[u8], sink: &mut S) -> ParseResult<()> {
    match kind {
        PayloadKind::Example => message::parse_example(payload, sink),
        PayloadKind::SequenceExample => message::parse_sequence_example(payload, sink),
        PayloadKind::OfRecord => message::parse_ofrecord(payload, sink),
        PayloadKind::IrHeader => irheader::parse_image_record(payload, sink),
    }
}

/// Returns the name of a feature in quotes, as error messages show it.
fn quote_name(name: &[u8]) -> String {
    format!("'{}'", String::from_utf8_lossy(name))
}
