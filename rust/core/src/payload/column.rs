//! Columns: the specification of a requested feature, and its values in many records.
use super::{Section, ValueKind};
use crate::memory::{self, OutOfMemory};

/// Number of values of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueCount {
    /// The same number of values in every record (in a feature list: in every frame).
    Fixed(usize),
    /// Any number of values.
    Ragged,
}

/// Policy for records in which the key is absent or the feature has no kind.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingPolicy {
    /// The record is invalid.
    Error,
    /// The record has no values (in a feature list: no frames).
    Empty,
    /// The record gets these values.
    Default(Values),
}

/// Specification of one requested feature.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// Key of the feature.
    pub name: Vec<u8>,
    /// Section of the record that contains the key.
    pub section: Section,
    /// Required kind of the values.
    pub kind: ValueKind,
    /// Required number of values.
    pub value_count: ValueCount,
    /// Policy for records without the feature.
    pub missing: MissingPolicy,
}

/// Concatenated values of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Byte strings: string `i` is `data[splits[i]..splits[i + 1]]`, and `splits` begins with 0.
    Bytes {
        /// All strings, back to back.
        data: Vec<u8>,
        /// Offset in `data` of the start of each string, and of the end of the last one.
        splits: Vec<i64>,
    },
    /// 32-bit floats.
    Float32(Vec<f32>),
    /// 64-bit floats.
    Float64(Vec<f64>),
    /// Signed 32-bit integers.
    Int32(Vec<i32>),
    /// Signed 64-bit integers.
    Int64(Vec<i64>),
    /// Unsigned 64-bit integers.
    UInt64(Vec<u64>),
}

impl Values {
    /// Creates an empty list with capacity for `capacity` values of `kind`.
    pub fn new(kind: ValueKind, capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(match kind {
            ValueKind::Bytes => {
                let mut splits = memory::with_capacity(capacity.saturating_add(1))?;
                splits.push(0);
                Self::Bytes { data: Vec::new(), splits }
            }
            ValueKind::Float32 => Self::Float32(memory::with_capacity(capacity)?),
            ValueKind::Float64 => Self::Float64(memory::with_capacity(capacity)?),
            ValueKind::Int32 => Self::Int32(memory::with_capacity(capacity)?),
            ValueKind::Int64 => Self::Int64(memory::with_capacity(capacity)?),
            ValueKind::UInt64 => Self::UInt64(memory::with_capacity(capacity)?),
        })
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Bytes { .. } => ValueKind::Bytes,
            Self::Float32(_) => ValueKind::Float32,
            Self::Float64(_) => ValueKind::Float64,
            Self::Int32(_) => ValueKind::Int32,
            Self::Int64(_) => ValueKind::Int64,
            Self::UInt64(_) => ValueKind::UInt64,
        }
    }

    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes { splits, .. } => splits.len().saturating_sub(1),
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

    /// Removes all values but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Bytes { data, splits } => {
                splits.truncate(len + 1);
                data.truncate(splits.last().map_or(0, |&end| end as usize));
            }
            Self::Float32(values) => values.truncate(len),
            Self::Float64(values) => values.truncate(len),
            Self::Int32(values) => values.truncate(len),
            Self::Int64(values) => values.truncate(len),
            Self::UInt64(values) => values.truncate(len),
        }
    }

    /// Appends one byte string if the values are byte strings.
    #[inline]
    pub(super) fn push_bytes(&mut self, value: &[u8]) -> Result<(), OutOfMemory> {
        if let Self::Bytes { data, splits } = self {
            memory::extend_streaming(data, value)?;
            memory::push(splits, data.len() as i64)?;
        }
        Ok(())
    }

    /// Appends the little-endian fixed-width values in `chunk`.
    pub(super) fn extend_fixed(&mut self, chunk: &[u8]) -> Result<(), OutOfMemory> {
        let wide = || chunk.as_chunks::<8>().0.iter();
        match self {
            Self::Float32(values) => {
                memory::extend(values, chunk.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)))
            }
            Self::Float64(values) => memory::extend(values, wide().map(|bytes| f64::from_le_bytes(*bytes))),
            Self::Int64(values) => memory::extend(values, wide().map(|bytes| i64::from_le_bytes(*bytes))),
            Self::UInt64(values) => memory::extend(values, wide().map(|bytes| u64::from_le_bytes(*bytes))),
            Self::Int32(_) | Self::Bytes { .. } => Ok(()),
        }
    }

    /// Appends the values of `other`, which have the same kind.
    pub(super) fn extend_from(&mut self, other: &Self) -> Result<(), OutOfMemory> {
        match (self, other) {
            (Self::Bytes { data, splits }, Self::Bytes { data: more, splits: others }) => {
                let start = data.len() as i64;
                memory::extend_from_slice(data, more)?;
                memory::extend(splits, others.iter().skip(1).map(|split| start + split))
            }
            (Self::Float32(values), Self::Float32(more)) => memory::extend_from_slice(values, more),
            (Self::Float64(values), Self::Float64(more)) => memory::extend_from_slice(values, more),
            (Self::Int32(values), Self::Int32(more)) => memory::extend_from_slice(values, more),
            (Self::Int64(values), Self::Int64(more)) => memory::extend_from_slice(values, more),
            (Self::UInt64(values), Self::UInt64(more)) => memory::extend_from_slice(values, more),
            _ => {
                debug_assert!(false, "the kinds of the values differ");
                Ok(())
            }
        }
    }
}

/// One feature of many records.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// All values, in the order of records and frames.
    pub values: Values,
    /// Start of each record and end of the last one, counted in values (ragged context features) or in frames (feature
    /// lists).
    pub row_splits: Option<Vec<i64>>,
    /// Start of each frame and end of the last one, counted in values (ragged feature lists).
    pub frame_splits: Option<Vec<i64>>,
}

impl Column {
    /// Appends the records of `other`, a column with the same specification.
    pub fn append(&mut self, other: Self) -> Result<(), OutOfMemory> {
        self.values.extend_from(&other.values)?;
        append_splits(&mut self.row_splits, other.row_splits)?;
        append_splits(&mut self.frame_splits, other.frame_splits)
    }
}

fn append_splits(splits: &mut Option<Vec<i64>>, more: Option<Vec<i64>>) -> Result<(), OutOfMemory> {
    if let (Some(splits), Some(more)) = (splits, more) {
        let start = splits.last().copied().unwrap_or(0);
        memory::extend(splits, more.iter().skip(1).map(|split| start + split))?;
    }
    Ok(())
}
