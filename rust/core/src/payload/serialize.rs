//! Serialization of columns to payloads: the columns to write, and their validation.
use std::cmp::Ordering;

use super::message::MessageDialect;
use super::plan::supports_kind;
use super::{PayloadKind, Section, ValueKind, irheader, quote_name, write};
use crate::error::{Fault, FaultKind};
use crate::memory;
use crate::records::{RecordSink, RowBuffer};
use crate::source::SourceError;
use std::ops::Range;

/// A source of byte strings that are not in memory, such as files.
pub trait PayloadSource: Sync {
    /// Appends the string with the given index to `out`.
    fn append_string(&self, index: usize, out: &mut Vec<u8>) -> Result<(), SourceError>;
}

/// Borrowed values of one kind: like [`super::Values`], or strings that are not in memory.
#[derive(Clone, Copy)]
pub enum ValuesRef<'a> {
    /// Byte strings: string `i` is `data[splits[i]..splits[i + 1]]`.
    Bytes {
        /// All strings, back to back.
        data: &'a [u8],
        /// Offset in `data` of the start of each string, and of the end of the last one.
        splits: &'a [i64],
    },
    /// Byte strings that are read from their source while they are written.
    External {
        /// Start of each string in the concatenation of all strings, and the end of the last one.
        splits: &'a [i64],
        /// Source of the strings.
        source: &'a dyn PayloadSource,
    },
    /// 32-bit floats.
    Float32(&'a [f32]),
    /// 64-bit floats.
    Float64(&'a [f64]),
    /// Signed 32-bit integers.
    Int32(&'a [i32]),
    /// Signed 64-bit integers.
    Int64(&'a [i64]),
    /// Unsigned 64-bit integers.
    UInt64(&'a [u64]),
}

impl ValuesRef<'_> {
    /// Returns the total length of byte strings; 0 for other values.
    fn num_bytes(&self) -> usize {
        match self {
            Self::Bytes { data, .. } => data.len(),
            Self::External { splits, .. } => splits.last().map_or(0, |&end| end.max(0) as usize),
            _ => 0,
        }
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Bytes { .. } | Self::External { .. } => ValueKind::Bytes,
            Self::Float32(_) => ValueKind::Float32,
            Self::Float64(_) => ValueKind::Float64,
            Self::Int32(_) => ValueKind::Int32,
            Self::Int64(_) => ValueKind::Int64,
            Self::UInt64(_) => ValueKind::UInt64,
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes { splits, .. } | Self::External { splits, .. } => splits.len().saturating_sub(1),
            Self::Float32(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::UInt64(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One feature of many records to write.
///
/// A context feature has either `fixed` values per record or `row_splits` into the values. A feature list has
/// `row_splits`, which count frames, and either `fixed` values per frame or `frame_splits` into the values.
#[derive(Clone, Copy)]
pub struct ColumnData<'a> {
    /// Key of the feature.
    pub name: &'a [u8],
    /// Section for the key.
    pub section: Section,
    /// All values, in the order of records and frames, including those of records where the feature is not written.
    pub values: ValuesRef<'a>,
    /// Number of values per record (context) or per frame (lists).
    pub fixed: Option<usize>,
    /// Start of each record and end of the last one, counted in values (context) or frames (lists).
    pub row_splits: Option<&'a [i64]>,
    /// Start of each frame and end of the last one, counted in values (lists).
    pub frame_splits: Option<&'a [i64]>,
    /// One byte per record, which is 0 if the feature is not written to that record. None if it is written to all
    /// records.
    pub present: Option<&'a [u8]>,
    /// Image records only: whether the label is a number in the header (flag 0) instead of a vector after the header.
    pub scalar: bool,
}

impl ColumnData<'_> {
    /// Returns whether the feature is written to record `record`.
    pub(super) fn is_present(&self, record: usize) -> bool {
        self.present.is_none_or(|present| present[record] != 0)
    }

    /// Returns the range of the values (context) or frames (lists) of record `record`.
    pub(super) fn row_range(&self, record: usize) -> Range<usize> {
        range_in_splits(self.row_splits, self.fixed, record)
    }

    /// Returns the range of the values of frame `frame`.
    pub(super) fn frame_range(&self, frame: usize) -> Range<usize> {
        range_in_splits(self.frame_splits, self.fixed, frame)
    }

    /// Returns a fault whose message starts with the name of the feature.
    pub(super) fn feature_fault(&self, what: &str) -> Fault {
        Fault::new(FaultKind::FeatureMismatch, 0, format!("feature {} {what}", quote_name(self.name)))
    }
}

fn range_in_splits(splits: Option<&[i64]>, fixed: Option<usize>, position: usize) -> Range<usize> {
    match splits {
        Some(splits) => splits[position] as usize..splits[position + 1] as usize,
        None => position * fixed.unwrap_or(0)..(position + 1) * fixed.unwrap_or(0),
    }
}

/// Serializes `num_records` payloads of `kind`; returns the concatenated payloads and their row splits.
///
/// The result is protobuf's deterministic encoding: entries sorted by key, key before value, numbers packed.
pub fn serialize(kind: PayloadKind, num_records: usize, columns: &[ColumnData]) -> Result<(Vec<u8>, Vec<i64>), Fault> {
    let mut rows = RowBuffer::new(Vec::new());
    match serialize_into(kind, num_records, columns, &mut rows) {
        Ok(()) => Ok((rows.data, rows.splits)),
        Err(SourceError::Fault(fault)) => Err(fault),
        Err(other) => Err(Fault::new(FaultKind::BadPayload, 0, other.to_string())),
    }
}

/// Like [`serialize`], but writes to a sink. If this fails, the sink may contain some of the records.
pub fn serialize_into(
    kind: PayloadKind,
    num_records: usize,
    columns: &[ColumnData],
    sink: &mut impl RecordSink,
) -> Result<(), SourceError> {
    for column in columns {
        check_section_and_kind(kind, column)?;
        check_arrays(num_records, column)?;
    }
    let mut sorted: Vec<&ColumnData> = memory::collect(columns.iter())?;
    // Equal names are rejected below, so the sort need not be stable. A stable sort would allocate memory.
    sorted.sort_unstable_by(|a, b| a.section.cmp(&b.section).then_with(|| compare_keys(a.name, b.name)));
    for pair in sorted.windows(2) {
        if (pair[0].section, pair[0].name) == (pair[1].section, pair[1].name) {
            return Err(pair[1].feature_fault("is given twice").into());
        }
    }
    memory::reserve(sink.buffer(), columns.iter().map(|column| column.values.num_bytes()).sum())?;
    match MessageDialect::of_payload(kind) {
        Some(dialect) => write::write_messages(sink, kind, dialect, num_records, &sorted),
        None => irheader::write_image_records(sink, num_records, &sorted),
    }
}

/// Appends the byte string with the given index; does nothing if the values are not byte strings.
pub(super) fn append_string(values: &ValuesRef, index: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
    match values {
        ValuesRef::Bytes { data, splits } => {
            Ok(memory::extend_from_slice(out, &data[splits[index] as usize..splits[index + 1] as usize])?)
        }
        ValuesRef::External { splits, source } => {
            let end = out.len() + (splits[index + 1] - splits[index]) as usize;
            source.append_string(index, out)?;
            if out.len() == end {
                Ok(())
            } else {
                Err(SourceError::Changed(format!("the length of value {index} has changed")))
            }
        }
        _ => Ok(()),
    }
}

/// Checks that payloads of `kind` can contain the section and value kind of a column.
fn check_section_and_kind(kind: PayloadKind, column: &ColumnData) -> Result<(), Fault> {
    if column.section == Section::Lists && kind != PayloadKind::SequenceExample {
        return Err(column.feature_fault("is given in feature lists, which only a SequenceExample has"));
    }
    if !supports_kind(kind, column.values.kind()) {
        return Err(column
            .feature_fault("has a kind that the payload does not support")
            .with_values(format!("a kind that {kind:?} supports"), column.values.kind().as_str()));
    }
    if MessageDialect::of_payload(kind).is_some_and(|dialect| dialect.utf8_keys)
        && std::str::from_utf8(column.name).is_err()
    {
        return Err(column.feature_fault("has a name that is not UTF-8"));
    }
    Ok(())
}

/// Checks that the column's arrays are consistent with each other and with the number of records.
fn check_arrays(num_records: usize, column: &ColumnData) -> Result<(), Fault> {
    if let ValuesRef::Bytes { splits, .. } | ValuesRef::External { splits, .. } = column.values {
        check_splits(column, "byte splits", splits, splits.len().max(1), column.values.num_bytes())?;
    }
    if let Some(present) = column.present.filter(|present| present.len() != num_records) {
        return Err(column
            .feature_fault("has a presence mask of the wrong length")
            .with_values(num_records, present.len()));
    }
    let num_values = column.values.len();
    match (column.section, column.row_splits) {
        (Section::Context, None) => check_value_count(column, num_records, num_values),
        (Section::Context, Some(_)) if column.fixed.is_some() => Err(column.feature_fault("is both fixed and ragged")),
        (Section::Context, Some(splits)) => check_splits(column, "row splits", splits, num_records + 1, num_values),
        (Section::Lists, None) => Err(column.feature_fault("is a feature list without row splits")),
        (Section::Lists, Some(splits)) => {
            check_splits(column, "row splits", splits, num_records + 1, usize::MAX)?;
            let num_frames = splits[num_records] as usize;
            match column.frame_splits {
                None => check_value_count(column, num_frames, num_values),
                Some(_) if column.fixed.is_some() => Err(column.feature_fault("has both fixed and ragged frames")),
                Some(frames) => check_splits(column, "frame splits", frames, num_frames.saturating_add(1), num_values),
            }
        }
    }
}

fn check_value_count(column: &ColumnData, num_rows: usize, num_values: usize) -> Result<(), Fault> {
    let Some(count) = column.fixed else {
        return Err(column.feature_fault("has neither splits nor a fixed number of values"));
    };
    if count.checked_mul(num_rows) != Some(num_values) {
        return Err(column
            .feature_fault("has the wrong total number of values")
            .with_values(format!("{num_rows} times {count}"), num_values));
    }
    Ok(())
}

/// Checks that `splits` are `len` non-decreasing offsets from 0 to `end`.
fn check_splits(column: &ColumnData, what: &str, splits: &[i64], len: usize, end: usize) -> Result<(), Fault> {
    if splits.len() != len {
        return Err(column.feature_fault(&format!("has {what} of the wrong length")).with_values(len, splits.len()));
    }
    if splits[0] < 0 || splits.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(column.feature_fault(&format!("has {what} that are decreasing or negative")));
    }
    if splits[len - 1] as u64 > end as u64 {
        return Err(column.feature_fault(&format!("has {what} beyond its values")).with_values(end, splits[len - 1]));
    }
    Ok(())
}

/// Compares keys as in protobuf's deterministic encoding (upb, which Python uses): a key precedes its own prefixes.
fn compare_keys(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then(b.len().cmp(&a.len()))
}
