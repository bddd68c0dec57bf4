//! One column while it grows, and what the current record has brought for it so far.
use super::wire::{Reader, Wire};
use super::{Column, ColumnSpec, Layout, Missing, Section, ValueKind, Values, quoted, varint};
use crate::error::{Fault, FaultKind};

/// Room made ahead for one column is at most this many values.
const MAX_RESERVE: usize = 1 << 20;

/// In what a frame differs from what was asked.
#[derive(Debug, Clone, Copy)]
enum Found {
    Kind(Option<ValueKind>),
    Count(usize),
}

/// A growing column. Whatever belongs to the current record can be taken back until the record is closed.
#[derive(Debug)]
pub struct ColumnBuilder {
    /// The values of all records.
    pub values: Values,
    /// The kind that is wanted.
    pub want: ValueKind,
    /// How many values are wanted.
    pub layout: Layout,
    /// The tag of a list of the wanted kind; 0 outside protobuf messages.
    pub tag: u8,
    /// The number of the push that last brought an entry.
    pub stamp: u64,
    /// The kind of the current feature.
    pub kind: Option<ValueKind>,
    /// Where in `values` the current feature begins.
    base: usize,
    section: Section,
    num_records: usize,
    row_splits: Vec<i64>,
    frame_splits: Vec<i64>,
    num_frames: usize,
    /// The first frame of the current record that is not as asked.
    bad_frame: Option<(usize, Found)>,
}

impl ColumnBuilder {
    /// An empty column with room for `num_records` records.
    pub fn new(spec: &ColumnSpec, tag: u8, num_records: usize) -> Self {
        let per_record = if let Layout::Fixed(count) = spec.layout { count } else { 1 };
        let capacity = num_records.saturating_mul(per_record).min(MAX_RESERVE);
        Self {
            values: Values::new(spec.kind, capacity),
            want: spec.kind,
            layout: spec.layout,
            tag,
            stamp: 0,
            kind: None,
            base: 0,
            section: spec.section,
            num_records: 0,
            row_splits: vec![0],
            frame_splits: vec![0],
            num_frames: 0,
            bad_frame: None,
        }
    }

    /// Where in `values` the current record begins.
    fn record_base(&self) -> usize {
        match (self.section, self.layout) {
            (Section::Context, Layout::Fixed(count)) => self.num_records * count,
            (Section::Context, Layout::Ragged) => self.last_row_split(),
            (Section::Lists, Layout::Fixed(count)) => self.last_row_split() * count,
            (Section::Lists, Layout::Ragged) => self.frame_splits[self.last_row_split()] as usize,
        }
    }

    fn last_row_split(&self) -> usize {
        self.row_splits.last().map_or(0, |&split| split as usize)
    }

    /// An entry begins in the record that is push number `stamp`: drops what an earlier entry brought.
    #[inline]
    pub fn begin(&mut self, stamp: u64) {
        if self.stamp == stamp {
            self.rewind();
        }
        self.stamp = stamp;
        self.kind = None;
        self.base = self.values.len();
    }

    /// Drops everything of the current record.
    fn rewind(&mut self) {
        self.values.truncate(self.record_base());
        if self.section == Section::Lists {
            self.num_frames = self.last_row_split();
            self.frame_splits.truncate(self.num_frames + 1);
        }
        self.bad_frame = None;
        self.kind = None;
    }

    /// A list of `kind` begins in the current feature.
    pub fn select(&mut self, kind: ValueKind) {
        if self.kind != Some(kind) {
            self.values.truncate(self.base);
            self.kind = Some(kind);
        }
    }

    /// Whether the current list is of the wanted kind.
    pub fn is_wanted(&self) -> bool {
        self.kind == Some(self.want)
    }

    /// Appends the varints in `chunk`; they are validated only where the kind is not the wanted one.
    pub fn varints(&mut self, chunk: Reader) -> Wire<()> {
        if !self.is_wanted() {
            return varint::count(chunk).map(drop);
        }
        match &mut self.values {
            Values::Int32(values) => varint::decode(chunk, values, |value| value as i32),
            Values::Int64(values) => varint::decode(chunk, values, |value| value as i64),
            _ => varint::count(chunk).map(drop),
        }
    }

    /// A frame begins.
    pub fn begin_frame(&mut self) {
        self.kind = None;
        self.base = self.values.len();
    }

    /// A frame ends.
    pub fn end_frame(&mut self) {
        let count = self.values.len() - self.base;
        let bad = match self.layout {
            _ if self.kind.is_some_and(|kind| kind != self.want) => Some(Found::Kind(self.kind)),
            Layout::Fixed(want) if count != want => Some(Found::Count(count)),
            _ => None,
        };
        if let Some(found) = bad {
            self.bad_frame.get_or_insert((self.num_frames - self.last_row_split(), found));
        }
        self.count_frames(1);
    }

    /// Counts frames whose values stand in place; where their lengths are noted, one by one.
    #[inline]
    pub fn count_frames(&mut self, count: usize) {
        self.num_frames += count;
        if self.layout == Layout::Ragged {
            self.frame_splits.push(self.values.len() as i64);
        }
    }

    /// Closes a record that brought exactly the asked number of values.
    #[inline]
    pub fn close_regular(&mut self) {
        self.num_records += 1;
    }

    /// Closes the record of push number `stamp`: fills in what is missing, and checks kind and number of values.
    pub fn close(&mut self, stamp: u64, spec: &ColumnSpec) -> Result<(), Fault> {
        let absent = self.stamp != stamp;
        match self.section {
            Section::Context if absent || self.kind.is_none() => self.fill(spec, absent)?,
            Section::Context => self.check_context(spec)?,
            Section::Lists if absent => self.fill(spec, absent)?,
            Section::Lists => self.check_frames(spec)?,
        }
        self.num_records += 1;
        match (self.section, self.layout) {
            (Section::Lists, _) => self.row_splits.push(self.num_frames as i64),
            (Section::Context, Layout::Ragged) => self.row_splits.push(self.values.len() as i64),
            (Section::Context, Layout::Fixed(_)) => {}
        }
        Ok(())
    }

    /// Takes back the record that would have been the one at `position`, closed or not.
    pub fn roll_back(&mut self, position: usize) {
        self.num_records = position;
        self.row_splits.truncate(position + 1);
        self.rewind();
    }

    fn fill(&mut self, spec: &ColumnSpec, absent: bool) -> Result<(), Fault> {
        match &spec.missing {
            Missing::Error => {
                let found = if absent { "no such feature" } else { "a feature without a kind" };
                Err(mismatch(spec, "is missing").values(self.wanted(), found))
            }
            Missing::Empty => Ok(()),
            Missing::Default(values) => {
                self.values.extend_from(values);
                Ok(())
            }
        }
    }

    fn check_context(&self, spec: &ColumnSpec) -> Result<(), Fault> {
        let count = self.values.len() - self.record_base();
        match self.layout {
            _ if !self.is_wanted() => Err(self.differs(spec, "", Found::Kind(self.kind))),
            Layout::Fixed(want) if count != want => Err(self.differs(spec, "", Found::Count(count))),
            _ => Ok(()),
        }
    }

    fn check_frames(&self, spec: &ColumnSpec) -> Result<(), Fault> {
        match self.bad_frame {
            Some((frame, found)) => Err(self.differs(spec, &format!(" in frame {frame}"), found)),
            None => Ok(()),
        }
    }

    fn differs(&self, spec: &ColumnSpec, place: &str, found: Found) -> Fault {
        match found {
            Found::Kind(kind) => mismatch(spec, &format!("has another kind than asked for{place}"))
                .values(self.want.as_str(), kind.map_or("no kind", ValueKind::as_str)),
            Found::Count(count) => mismatch(spec, &format!("has another number of values than asked for{place}"))
                .values(self.wanted(), counted(count, self.want)),
        }
    }

    fn wanted(&self) -> String {
        match self.layout {
            Layout::Fixed(count) => counted(count, self.want),
            Layout::Ragged => format!("{} values", self.want.as_str()),
        }
    }

    /// The finished column.
    pub fn into_column(self) -> Column {
        let splits = self.section == Section::Lists || self.layout == Layout::Ragged;
        let frames = self.section == Section::Lists && self.layout == Layout::Ragged;
        Column {
            values: self.values,
            row_splits: splits.then_some(self.row_splits),
            frame_splits: frames.then_some(self.frame_splits),
        }
    }
}

fn counted(count: usize, kind: ValueKind) -> String {
    format!("{count} {} value{}", kind.as_str(), if count == 1 { "" } else { "s" })
}

fn mismatch(spec: &ColumnSpec, what: &str) -> Fault {
    let noun = if spec.section == Section::Lists { "feature list" } else { "feature" };
    Fault::new(FaultKind::FeatureMismatch, 0, format!("{noun} {} {what}", quoted(&spec.name)))
}
