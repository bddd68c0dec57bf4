//! Columns to payloads: what a column to be written looks like, and the checks before the first byte.
use std::cmp::Ordering;

use super::message::Dialect;
use super::plan::holds;
use super::{PayloadKind, Section, ValueKind, irheader, quoted, write};
use crate::error::{Fault, FaultKind};
use crate::records::{RecordSink, Rows};
use crate::source::SourceError;
use std::ops::Range;

/// Has byte strings somewhere else than in memory.
pub trait PayloadSource: Sync {
    /// Appends string `value`, all of it, to `out`.
    fn bring(&self, value: usize, out: &mut Vec<u8>) -> Result<(), SourceError>;
}

/// Borrowed values of one kind, back to back; see [`super::Values`].
#[derive(Clone, Copy)]
pub enum ValuesRef<'a> {
    /// Byte strings: string `i` is `data[splits[i]..splits[i + 1]]`.
    Bytes {
        /// All strings back to back.
        data: &'a [u8],
        /// Where each begins, and where the last one ends.
        splits: &'a [i64],
    },
    /// Byte strings that are brought when their turn comes.
    Brought {
        /// Where each would begin if they stood back to back, and where the last one would end.
        splits: &'a [i64],
        /// Who brings them.
        from: &'a dyn PayloadSource,
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
    /// Bytes that byte strings take; other values are short.
    fn num_bytes(&self) -> usize {
        match self {
            Self::Bytes { data, .. } => data.len(),
            Self::Brought { splits, .. } => splits.last().map_or(0, |&end| end.max(0) as usize),
            _ => 0,
        }
    }

    /// Their kind.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Bytes { .. } | Self::Brought { .. } => ValueKind::Bytes,
            Self::Float32(_) => ValueKind::Float32,
            Self::Float64(_) => ValueKind::Float64,
            Self::Int32(_) => ValueKind::Int32,
            Self::Int64(_) => ValueKind::Int64,
            Self::UInt64(_) => ValueKind::UInt64,
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes { splits, .. } | Self::Brought { splits, .. } => splits.len().saturating_sub(1),
            Self::Float32(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::UInt64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One feature of many records, to be written.
///
/// Context: either `fixed` values per record or `row_splits` into the values. Lists: `row_splits` count frames, and
/// either `fixed` values per frame or `frame_splits` into the values.
#[derive(Clone, Copy)]
pub struct ColumnData<'a> {
    /// The feature's key.
    pub name: &'a [u8],
    /// Where the key goes.
    pub section: Section,
    /// All values, record after record and frame after frame; records without the feature take up room as well.
    pub values: ValuesRef<'a>,
    /// Number of values per record (context) or per frame (lists).
    pub fixed: Option<usize>,
    /// Where each record begins, and where the last one ends.
    pub row_splits: Option<&'a [i64]>,
    /// Where each frame begins, and where the last one ends.
    pub frame_splits: Option<&'a [i64]>,
    /// Per record: 0 where the feature is not written. `None`: it always is.
    pub present: Option<&'a [u8]>,
    /// Image records only: the label is one number in the header (flag 0), not a vector behind it.
    pub scalar: bool,
}

impl ColumnData<'_> {
    /// Whether record `record` has the feature.
    pub(super) fn is_present(&self, record: usize) -> bool {
        self.present.is_none_or(|present| present[record] != 0)
    }

    /// The values (context) or frames (lists) of record `record`.
    pub(super) fn row(&self, record: usize) -> Range<usize> {
        part(self.row_splits, self.fixed, record)
    }

    /// The values of frame `frame`.
    pub(super) fn frame(&self, frame: usize) -> Range<usize> {
        part(self.frame_splits, self.fixed, frame)
    }

    /// A fault of this column.
    pub(super) fn refused(&self, what: &str) -> Fault {
        Fault::new(FaultKind::FeatureMismatch, 0, format!("feature {} {what}", quoted(self.name)))
    }
}

fn part(splits: Option<&[i64]>, fixed: Option<usize>, position: usize) -> Range<usize> {
    match splits {
        Some(splits) => splits[position] as usize..splits[position + 1] as usize,
        None => position * fixed.unwrap_or(0)..(position + 1) * fixed.unwrap_or(0),
    }
}

/// Writes `num_records` payloads of `kind` back to back; returns them and where each begins and the last one ends.
///
/// The form is protobuf's deterministic one: entries sorted by key, key before value, numbers packed.
pub fn serialize(kind: PayloadKind, num_records: usize, columns: &[ColumnData]) -> Result<(Vec<u8>, Vec<i64>), Fault> {
    let mut rows = Rows::new(Vec::new());
    match serialize_into(kind, num_records, columns, &mut rows) {
        Ok(()) => Ok((rows.data, rows.splits)),
        Err(SourceError::Fault(fault)) => Err(fault),
        Err(other) => Err(Fault::new(FaultKind::BadPayload, 0, other.to_string())),
    }
}

/// [`serialize`] into a sink; it holds a part of the records if that fails.
pub fn serialize_into(
    kind: PayloadKind,
    num_records: usize,
    columns: &[ColumnData],
    sink: &mut impl RecordSink,
) -> Result<(), SourceError> {
    for column in columns {
        check_place(kind, column)?;
        check_shape(num_records, column)?;
    }
    let mut sorted: Vec<&ColumnData> = columns.iter().collect();
    sorted.sort_by(|a, b| a.section.cmp(&b.section).then_with(|| key_order(a.name, b.name)));
    for pair in sorted.windows(2) {
        if (pair[0].section, pair[0].name) == (pair[1].section, pair[1].name) {
            return Err(pair[1].refused("is given twice").into());
        }
    }
    sink.bytes().reserve(columns.iter().map(|column| column.values.num_bytes()).sum());
    match Dialect::of(kind) {
        Some(dialect) => write::messages(sink, kind, dialect, num_records, &sorted),
        None => irheader::write(sink, num_records, &sorted),
    }
}

/// Appends one byte string, of which there are `splits.len() - 1`.
pub(super) fn put_string(values: &ValuesRef, value: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
    match values {
        ValuesRef::Bytes { data, splits } => {
            out.extend_from_slice(&data[splits[value] as usize..splits[value + 1] as usize]);
            Ok(())
        }
        ValuesRef::Brought { splits, from } => {
            let end = out.len() + (splits[value + 1] - splits[value]) as usize;
            from.bring(value, out)?;
            if out.len() == end {
                Ok(())
            } else {
                Err(SourceError::Changed(format!("value {value} has another length")))
            }
        }
        _ => Ok(()),
    }
}

/// Whether payloads of `kind` can hold the column at all.
fn check_place(kind: PayloadKind, column: &ColumnData) -> Result<(), Fault> {
    if column.section == Section::Lists && kind != PayloadKind::SequenceExample {
        return Err(column.refused("is given in feature lists, which only a SequenceExample has"));
    }
    if !holds(kind, column.values.kind()) {
        return Err(column
            .refused("is of a kind that the payload cannot hold")
            .values(format!("a kind that {kind:?} holds"), column.values.kind().as_str()));
    }
    if Dialect::of(kind).is_some_and(|dialect| dialect.utf8_keys) && std::str::from_utf8(column.name).is_err() {
        return Err(column.refused("has a name that is not UTF-8"));
    }
    Ok(())
}

/// Whether the column's arrays fit one another and the number of records.
fn check_shape(num_records: usize, column: &ColumnData) -> Result<(), Fault> {
    if let ValuesRef::Bytes { splits, .. } | ValuesRef::Brought { splits, .. } = column.values {
        check_splits(column, "byte splits", splits, splits.len().max(1), column.values.num_bytes())?;
    }
    if let Some(present) = column.present.filter(|present| present.len() != num_records) {
        return Err(column.refused("has a presence mask of another length").values(num_records, present.len()));
    }
    let num_values = column.values.len();
    match (column.section, column.row_splits) {
        (Section::Context, None) => check_fixed(column, num_records, num_values),
        (Section::Context, Some(_)) if column.fixed.is_some() => Err(column.refused("is both fixed and ragged")),
        (Section::Context, Some(splits)) => check_splits(column, "row splits", splits, num_records + 1, num_values),
        (Section::Lists, None) => Err(column.refused("is a feature list without row splits")),
        (Section::Lists, Some(splits)) => {
            check_splits(column, "row splits", splits, num_records + 1, usize::MAX)?;
            let num_frames = splits[num_records] as usize;
            match column.frame_splits {
                None => check_fixed(column, num_frames, num_values),
                Some(_) if column.fixed.is_some() => Err(column.refused("has both fixed and ragged frames")),
                Some(frames) => check_splits(column, "frame splits", frames, num_frames.saturating_add(1), num_values),
            }
        }
    }
}

fn check_fixed(column: &ColumnData, num_rows: usize, num_values: usize) -> Result<(), Fault> {
    let Some(count) = column.fixed else {
        return Err(column.refused("has neither splits nor a fixed number of values"));
    };
    if count.checked_mul(num_rows) != Some(num_values) {
        return Err(column
            .refused("has another number of values in all than its rows ask for")
            .values(format!("{num_rows} times {count}"), num_values));
    }
    Ok(())
}

/// Whether `splits` are `len` offsets that never fall and stay within 0 to `end`.
fn check_splits(column: &ColumnData, what: &str, splits: &[i64], len: usize, end: usize) -> Result<(), Fault> {
    if splits.len() != len {
        return Err(column.refused(&format!("has {what} of another length")).values(len, splits.len()));
    }
    if splits[0] < 0 || splits.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(column.refused(&format!("has {what} that fall or are negative")));
    }
    if splits[len - 1] as u64 > end as u64 {
        return Err(column.refused(&format!("has {what} beyond its values")).values(end, splits[len - 1]));
    }
    Ok(())
}

/// The order of keys in protobuf's deterministic form (upb, which Python uses): a key comes before its own beginning.
fn key_order(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then(b.len().cmp(&a.len()))
}
