//! Columns: what is asked of a feature, and the values that come back for many records at once.
use super::{Section, ValueKind};

/// How many values a feature has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// As many in every record (in a feature list: in every frame).
    Fixed(usize),
    /// Any number.
    Ragged,
}

/// What to do where a key is absent, or its feature has no kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing {
    /// It is a fault.
    Error,
    /// The record has no values (in a feature list: no frames).
    Empty,
    /// The record has these values.
    Default(Values),
}

/// What is asked of one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// The feature's key.
    pub name: Vec<u8>,
    /// Where the key is looked for.
    pub section: Section,
    /// The kind that its values must have.
    pub kind: ValueKind,
    /// How many values it must have.
    pub layout: Layout,
    /// What to do where it is missing.
    pub missing: Missing,
}

/// Values of one kind, back to back.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Byte strings: string `i` is `data[splits[i]..splits[i + 1]]`, and `splits` begins with 0.
    Bytes {
        /// All strings back to back.
        data: Vec<u8>,
        /// Where each begins, and where the last one ends.
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
    /// No values of `kind`, with room for `capacity` of them.
    pub fn new(kind: ValueKind, capacity: usize) -> Self {
        match kind {
            ValueKind::Bytes => {
                let mut splits = Vec::with_capacity(capacity + 1);
                splits.push(0);
                Self::Bytes { data: Vec::new(), splits }
            }
            ValueKind::Float32 => Self::Float32(Vec::with_capacity(capacity)),
            ValueKind::Float64 => Self::Float64(Vec::with_capacity(capacity)),
            ValueKind::Int32 => Self::Int32(Vec::with_capacity(capacity)),
            ValueKind::Int64 => Self::Int64(Vec::with_capacity(capacity)),
            ValueKind::UInt64 => Self::UInt64(Vec::with_capacity(capacity)),
        }
    }

    /// Their kind.
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

    /// Their number.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops all values from position `len` on.
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

    /// Appends one byte string; nothing where the values are of another kind.
    #[inline]
    pub(super) fn push_bytes(&mut self, value: &[u8]) {
        if let Self::Bytes { data, splits } = self {
            data.extend_from_slice(value);
            splits.push(data.len() as i64);
        }
    }

    /// Appends the little-endian values in `chunk`.
    pub(super) fn extend_fixed(&mut self, chunk: &[u8]) {
        let wide = || chunk.as_chunks::<8>().0.iter();
        match self {
            Self::Float32(values) => {
                values.extend(chunk.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            Self::Float64(values) => values.extend(wide().map(|bytes| f64::from_le_bytes(*bytes))),
            Self::Int64(values) => values.extend(wide().map(|bytes| i64::from_le_bytes(*bytes))),
            Self::UInt64(values) => values.extend(wide().map(|bytes| u64::from_le_bytes(*bytes))),
            Self::Int32(_) | Self::Bytes { .. } => {}
        }
    }

    /// Appends copies of `other`'s values, which have the same kind.
    pub(super) fn extend_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::Bytes { data, splits }, Self::Bytes { data: more, splits: others }) => {
                let start = data.len() as i64;
                data.extend_from_slice(more);
                splits.extend(others.iter().skip(1).map(|split| start + split));
            }
            (Self::Float32(values), Self::Float32(more)) => values.extend_from_slice(more),
            (Self::Float64(values), Self::Float64(more)) => values.extend_from_slice(more),
            (Self::Int32(values), Self::Int32(more)) => values.extend_from_slice(more),
            (Self::Int64(values), Self::Int64(more)) => values.extend_from_slice(more),
            (Self::UInt64(values), Self::UInt64(more)) => values.extend_from_slice(more),
            _ => debug_assert!(false, "values of two kinds"),
        }
    }
}

/// One feature of many records.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// All values, record after record and frame after frame.
    pub values: Values,
    /// Where each record begins, and where the last one ends: in `values` (context, ragged) or counted in frames (lists).
    pub row_splits: Option<Vec<i64>>,
    /// Where each frame begins in `values`, and where the last one ends (lists, ragged).
    pub frame_splits: Option<Vec<i64>>,
}

impl Column {
    /// Appends the records of `other`, a column of the same request.
    pub fn append(&mut self, other: Self) {
        self.values.extend_from(&other.values);
        append_splits(&mut self.row_splits, other.row_splits);
        append_splits(&mut self.frame_splits, other.frame_splits);
    }
}

fn append_splits(splits: &mut Option<Vec<i64>>, more: Option<Vec<i64>>) {
    if let (Some(splits), Some(more)) = (splits, more) {
        let start = splits.last().copied().unwrap_or(0);
        splits.extend(more.iter().skip(1).map(|split| start + split));
    }
}
