//! Builder of one column, to which records are added one by one.
use super::wire::{ParseResult, WireReader};
use super::{Column, ColumnSpec, MissingPolicy, Section, ValueCount, ValueKind, Values, quote_name, varint};
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};

/// Maximum number of values for which a column reserves memory in advance.
const MAX_RESERVE: usize = 1 << 20;

/// Mismatch between a feature or frame and the specification of its column. Contains the kind or number of values
/// found.
#[derive(Debug, Clone, Copy)]
enum Mismatch {
    Kind(Option<ValueKind>),
    Count(usize),
}

/// Builder of a column. The values of the current record can be removed until the record is closed.
#[derive(Debug)]
pub struct ColumnBuilder {
    /// Values of all records.
    pub values: Values,
    /// Requested kind of the values.
    pub requested_kind: ValueKind,
    /// Requested number of values.
    pub value_count: ValueCount,
    /// Protobuf tag of a list of the requested kind; 0 if payloads are not protobuf messages.
    pub tag: u8,
    /// Number of the last record that had an entry for this column, counted from 1.
    pub last_record: u64,
    /// Kind of the current feature.
    pub kind: Option<ValueKind>,
    /// Position in `values` of the start of the current feature.
    base: usize,
    section: Section,
    num_records: usize,
    row_splits: Vec<i64>,
    frame_splits: Vec<i64>,
    num_frames: usize,
    /// The first frame of the current record that differs from the specification.
    bad_frame: Option<(usize, Mismatch)>,
}

impl ColumnBuilder {
    /// Creates an empty column with capacity for `num_records` records.
    pub fn new(spec: &ColumnSpec, tag: u8, num_records: usize) -> Result<Self, OutOfMemory> {
        let per_record = if let ValueCount::Fixed(count) = spec.value_count { count } else { 1 };
        let capacity = num_records.saturating_mul(per_record).min(MAX_RESERVE);
        Ok(Self {
            values: Values::new(spec.kind, capacity)?,
            requested_kind: spec.kind,
            value_count: spec.value_count,
            tag,
            last_record: 0,
            kind: None,
            base: 0,
            section: spec.section,
            num_records: 0,
            row_splits: vec![0],
            frame_splits: vec![0],
            num_frames: 0,
            bad_frame: None,
        })
    }

    /// Returns the position in `values` of the start of the current record.
    fn record_start(&self) -> usize {
        match (self.section, self.value_count) {
            (Section::Context, ValueCount::Fixed(count)) => self.num_records * count,
            (Section::Context, ValueCount::Ragged) => self.last_row_split(),
            (Section::Lists, ValueCount::Fixed(count)) => self.last_row_split() * count,
            (Section::Lists, ValueCount::Ragged) => self.frame_splits[self.last_row_split()] as usize,
        }
    }

    fn last_row_split(&self) -> usize {
        self.row_splits.last().map_or(0, |&split| split as usize)
    }

    /// Begins an entry of record number `record`; removes the values of an earlier entry of the same record.
    #[inline]
    pub fn begin_entry(&mut self, record: u64) {
        if self.last_record == record {
            self.clear_current_record();
        }
        self.last_record = record;
        self.kind = None;
        self.base = self.values.len();
    }

    /// Removes all values of the current record.
    fn clear_current_record(&mut self) {
        self.values.truncate(self.record_start());
        if self.section == Section::Lists {
            self.num_frames = self.last_row_split();
            self.frame_splits.truncate(self.num_frames + 1);
        }
        self.bad_frame = None;
        self.kind = None;
    }

    /// Begins a list of `kind` in the current feature; removes values of another kind.
    pub fn begin_list(&mut self, kind: ValueKind) {
        if self.kind != Some(kind) {
            self.values.truncate(self.base);
            self.kind = Some(kind);
        }
    }

    /// Returns whether the current list has the requested kind.
    pub fn has_requested_kind(&self) -> bool {
        self.kind == Some(self.requested_kind)
    }

    /// Appends the varints in `chunk`. If the list does not have the requested kind, only validates them.
    pub fn push_varints(&mut self, chunk: WireReader) -> ParseResult<()> {
        let is_requested = self.has_requested_kind();
        match &mut self.values {
            Values::Int32(values) if is_requested => varint::decode_varints(chunk, values, |value| value as i32),
            Values::Int64(values) if is_requested => varint::decode_varints(chunk, values, |value| value as i64),
            _ => Ok(varint::count_varints(chunk).map(drop)?),
        }
    }

    /// Begins a frame, which is one feature of a feature list.
    pub fn begin_frame(&mut self) {
        self.kind = None;
        self.base = self.values.len();
    }

    /// Ends a frame and checks its kind and number of values.
    pub fn end_frame(&mut self) -> Result<(), OutOfMemory> {
        let count = self.values.len() - self.base;
        let mismatch = match self.value_count {
            _ if self.kind.is_some_and(|kind| kind != self.requested_kind) => Some(Mismatch::Kind(self.kind)),
            ValueCount::Fixed(wanted) if count != wanted => Some(Mismatch::Count(count)),
            _ => None,
        };
        if let Some(mismatch) = mismatch {
            self.bad_frame.get_or_insert((self.num_frames - self.last_row_split(), mismatch));
        }
        self.add_frames(1)
    }

    /// Adds `count` frames whose values were already appended; `count` must be 1 if frames are ragged.
    #[inline]
    pub fn add_frames(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.num_frames += count;
        if self.value_count == ValueCount::Ragged {
            memory::push(&mut self.frame_splits, self.values.len() as i64)?;
        }
        Ok(())
    }

    /// Closes a record without a check. Only for context features with a fixed number of values, whose kind and count the
    /// caller has already checked.
    #[inline]
    pub fn close_checked_record(&mut self) {
        self.num_records += 1;
    }

    /// Closes record number `record`: applies the policy for missing features, or checks the kind and number of values
    /// of the feature.
    pub fn close_record(&mut self, record: u64, spec: &ColumnSpec) -> Result<(), Fault> {
        let is_absent = self.last_record != record;
        match self.section {
            Section::Context if is_absent || self.kind.is_none() => self.fill_missing(spec, is_absent)?,
            Section::Context => self.check_context_feature(spec)?,
            Section::Lists if is_absent => self.fill_missing(spec, is_absent)?,
            Section::Lists => self.check_frames(spec)?,
        }
        self.num_records += 1;
        let end = match (self.section, self.value_count) {
            (Section::Lists, _) => self.num_frames,
            (Section::Context, ValueCount::Ragged) => self.values.len(),
            (Section::Context, ValueCount::Fixed(_)) => return Ok(()),
        };
        Ok(memory::push(&mut self.row_splits, end as i64)?)
    }

    /// Removes the last record, whether it is closed or not. `position` is its position in the column.
    pub fn remove_last_record(&mut self, position: usize) {
        self.num_records = position;
        self.row_splits.truncate(position + 1);
        self.clear_current_record();
    }

    fn fill_missing(&mut self, spec: &ColumnSpec, is_absent: bool) -> Result<(), Fault> {
        match &spec.missing {
            MissingPolicy::Error => {
                let found = if is_absent { "no such feature" } else { "a feature without a kind" };
                Err(feature_fault(spec, "is missing").with_values(self.describe_requested(), found))
            }
            MissingPolicy::Empty => Ok(()),
            MissingPolicy::Default(values) => Ok(self.values.extend_from(values)?),
        }
    }

    fn check_context_feature(&self, spec: &ColumnSpec) -> Result<(), Fault> {
        let count = self.values.len() - self.record_start();
        match self.value_count {
            _ if !self.has_requested_kind() => Err(self.mismatch_fault(spec, "", Mismatch::Kind(self.kind))),
            ValueCount::Fixed(wanted) if count != wanted => Err(self.mismatch_fault(spec, "", Mismatch::Count(count))),
            _ => Ok(()),
        }
    }

    fn check_frames(&self, spec: &ColumnSpec) -> Result<(), Fault> {
        match self.bad_frame {
            Some((frame, mismatch)) => Err(self.mismatch_fault(spec, &format!(" in frame {frame}"), mismatch)),
            None => Ok(()),
        }
    }

    fn mismatch_fault(&self, spec: &ColumnSpec, location: &str, mismatch: Mismatch) -> Fault {
        match mismatch {
            Mismatch::Kind(kind) => feature_fault(spec, &format!("has the wrong kind{location}"))
                .with_values(self.requested_kind.as_str(), kind.map_or("no kind", ValueKind::as_str)),
            Mismatch::Count(count) => feature_fault(spec, &format!("has the wrong number of values{location}"))
                .with_values(self.describe_requested(), describe_count(count, self.requested_kind)),
        }
    }

    fn describe_requested(&self) -> String {
        match self.value_count {
            ValueCount::Fixed(count) => describe_count(count, self.requested_kind),
            ValueCount::Ragged => format!("{} values", self.requested_kind.as_str()),
        }
    }

    /// Returns the finished column.
    pub fn into_column(self) -> Column {
        let has_row_splits = self.section == Section::Lists || self.value_count == ValueCount::Ragged;
        let has_frame_splits = self.section == Section::Lists && self.value_count == ValueCount::Ragged;
        Column {
            values: self.values,
            row_splits: has_row_splits.then_some(self.row_splits),
            frame_splits: has_frame_splits.then_some(self.frame_splits),
        }
    }
}

fn describe_count(count: usize, kind: ValueKind) -> String {
    format!("{count} {} value{}", kind.as_str(), if count == 1 { "" } else { "s" })
}

fn feature_fault(spec: &ColumnSpec, what: &str) -> Fault {
    let noun = if spec.section == Section::Lists { "feature list" } else { "feature" };
    Fault::new(FaultKind::FeatureMismatch, 0, format!("{noun} {} {what}", quote_name(&spec.name)))
}
