//! Payload after payload into columns.
use super::column_builder::ColumnBuilder;
use super::key_cache::KeyCache;
use super::message::Dialect;
use super::message::Sink;
use super::wire::{Reader, Wire};
use super::{Column, Plan, Section, ValueKind, Values, fast, walk};
use crate::error::Fault;

/// Bytes of a column for which it is worth while to look for other memory.
const LONG: usize = 64 << 10;

/// Builds the columns of a plan out of payloads.
///
/// A payload that is refused leaves no trace in the columns.
pub struct Parser<'p> {
    columns: Columns<'p>,
    num_records: usize,
}

/// The columns while they grow.
pub(super) struct Columns<'p> {
    pub plan: &'p Plan,
    pub slots: Vec<ColumnBuilder>,
    /// The number of the current push, from 1.
    pub stamp: u64,
    /// Slots that this record has brought in full, by the usual form of an entry.
    pub num_regular: usize,
    /// Whether something in this record was not in the usual form.
    pub irregular: bool,
    /// The keys of earlier records and their order.
    pub key_cache: KeyCache,
}

impl<'p> Parser<'p> {
    /// A parser with room for `num_records` records; it takes more.
    pub fn new(plan: &'p Plan, num_records: usize) -> Self {
        let dialect = Dialect::of(plan.kind());
        let slots = plan.columns().iter().map(|spec| {
            let tag = dialect.and_then(|dialect| dialect.tag(spec.kind)).unwrap_or(0);
            ColumnBuilder::new(spec, tag, num_records)
        });
        let columns = Columns {
            plan,
            slots: slots.collect(),
            stamp: 0,
            num_regular: 0,
            irregular: false,
            key_cache: KeyCache::new(),
        };
        Self { columns, num_records: 0 }
    }

    /// Number of records taken so far.
    pub fn num_records(&self) -> usize {
        self.num_records
    }

    /// Moves the byte strings of each column that will be long into other memory, which `room` makes for a number of bytes.
    ///
    /// How long a column will be is told by its records so far; it is thought to be `most` bytes at most.
    pub fn preallocate(&mut self, num_records: usize, most: usize, mut room: impl FnMut(usize) -> Vec<u8>) {
        for slot in &mut self.columns.slots {
            let Values::Bytes { data, .. } = &mut slot.values else { continue };
            let likely = data.len().saturating_mul(num_records) / self.num_records.max(1);
            let wanted = likely.saturating_add(likely / 8).min(most);
            if wanted > LONG.max(data.capacity()) {
                let mut memory = room(wanted);
                memory.clear();
                memory.extend_from_slice(data);
                *data = memory;
            }
        }
    }

    /// Takes the features of one more record.
    pub fn push(&mut self, payload: &[u8]) -> Result<(), Fault> {
        self.columns.open();
        let taken = match walk(self.columns.plan.kind(), payload, &mut self.columns) {
            Ok(()) => self.columns.close(),
            Err(broken) => Err(broken.into()),
        };
        match taken {
            Ok(()) => self.num_records += 1,
            Err(_) => self.columns.slots.iter_mut().for_each(|slot| slot.roll_back(self.num_records)),
        }
        taken
    }

    /// The last string of a column.
    pub fn last_string(&self, column: usize) -> Option<&[u8]> {
        let Values::Bytes { data, splits } = &self.columns.slots.get(column)?.values else { return None };
        let [.., start, end] = splits[..] else { return None };
        data.get(start as usize..end as usize)
    }

    /// The columns, in the plan's order.
    pub fn finish(self) -> Vec<Column> {
        self.columns.slots.into_iter().map(ColumnBuilder::into_column).collect()
    }
}

impl Columns<'_> {
    fn open(&mut self) {
        self.stamp += 1;
        self.num_regular = 0;
        self.irregular = false;
        self.key_cache.start_record();
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.num_regular == self.slots.len() && !self.irregular {
            self.slots.iter_mut().for_each(ColumnBuilder::close_regular);
            return Ok(());
        }
        for (slot, spec) in self.slots.iter_mut().zip(self.plan.columns()) {
            slot.close(self.stamp, spec)?;
        }
        Ok(())
    }
}

impl Sink for Columns<'_> {
    fn find(&mut self, section: Section, key: &[u8]) -> Option<usize> {
        self.plan.find(section, key)
    }

    fn begin(&mut self, slot: usize) {
        self.irregular = true;
        self.slots[slot].begin(self.stamp);
    }

    fn select(&mut self, slot: usize, kind: ValueKind) {
        self.slots[slot].select(kind);
    }

    fn bytes(&mut self, slot: usize, value: &[u8]) {
        let slot = &mut self.slots[slot];
        if slot.is_wanted() {
            slot.values.push_bytes(value);
        }
    }

    fn fixed(&mut self, slot: usize, chunk: &[u8]) {
        let slot = &mut self.slots[slot];
        if slot.is_wanted() {
            slot.values.extend_fixed(chunk);
        }
    }

    fn varints(&mut self, slot: usize, chunk: Reader) -> Wire<()> {
        self.slots[slot].varints(chunk)
    }

    fn begin_frame(&mut self, slot: usize) {
        self.slots[slot].begin_frame();
    }

    fn end_frame(&mut self, slot: usize) {
        self.slots[slot].end_frame();
    }

    #[inline]
    fn take_entry(&mut self, dialect: &Dialect, reader: &mut Reader) -> Wire<bool> {
        fast::take_entry(self, dialect, reader)
    }

    #[inline]
    fn take_frames(&mut self, slot: usize, reader: &mut Reader) -> Wire<()> {
        fast::take_frames(&mut self.slots[slot], reader)
    }
}
