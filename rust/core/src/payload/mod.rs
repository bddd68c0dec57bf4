//! Bytes of one record to features and back: `Example`, `SequenceExample`, `OFRecord` and the image record header.
//!
//! Reading follows protobuf's own merge rules; writing yields the one canonical form (sorted keys, packed lists).
mod column;
mod column_builder;
mod fast;
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

pub use column::{Column, ColumnSpec, Layout, Missing, Values};
pub use feature_stats::{FeatureCollector, FeatureStats};
pub use long_string::{LongString, MIN_LONG_STRING};
pub use parser::Parser;
pub use plan::Plan;
pub use serialize::{ColumnData, PayloadSource, ValuesRef, serialize, serialize_into};

use crate::error::Fault;
use message::{Discard, Sink};
use wire::Wire;

/// What a record's payload is.
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

/// What one value of a feature is.
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
    /// The word used in schemas and errors.
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

/// Where in a record a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// Among the features of the record as a whole; the only section outside `SequenceExample`.
    Context,
    /// Among the feature lists of a `SequenceExample`: one feature per frame.
    Lists,
}

/// Whether `payload` is a sound message of `kind`, as protobuf judges it; the fault says what is wrong where.
pub fn check(kind: PayloadKind, payload: &[u8]) -> Result<(), Fault> {
    Ok(walk(kind, payload, &mut Discard)?)
}

/// Whether `payload` is a sound `SequenceExample` with feature lists; an `Example` has none.
pub fn has_feature_lists(payload: &[u8]) -> bool {
    message::holds_feature_lists(payload) && check(PayloadKind::SequenceExample, payload).is_ok()
}

/// Brings everything that `payload` holds to `sink`.
fn walk<S: Sink>(kind: PayloadKind, payload: &[u8], sink: &mut S) -> Wire<()> {
    match kind {
        PayloadKind::Example => message::example(payload, sink),
        PayloadKind::SequenceExample => message::sequence_example(payload, sink),
        PayloadKind::OfRecord => message::ofrecord(payload, sink),
        PayloadKind::IrHeader => irheader::walk(payload, sink),
    }
}

/// A feature's name as faults print it.
fn quoted(name: &[u8]) -> String {
    format!("'{}'", String::from_utf8_lossy(name))
}
