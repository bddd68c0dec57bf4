//! Parser of many payloads into columns.
use super::column_builder::ColumnBuilder;
use super::key_cache::KeyCache;
use super::message::{FeatureSink, MessageDialect};
use super::wire::{ParseResult, WireReader};
use super::{Column, Plan, Section, ValueKind, Values, fast_path, parse_payload};
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};

/// Smallest size of a column, in bytes, for which a buffer is allocated in advance.
const MIN_PREALLOCATED: usize = 64 << 10;

/// Parses payloads into the columns of a plan. Invalid payloads do not change the columns.
pub struct Parser<'p> {
    columns: ColumnBuilders<'p>,
    num_records: usize,
}

/// The columns under construction.
pub(super) struct ColumnBuilders<'p> {
    pub plan: &'p Plan,
    pub slots: Vec<ColumnBuilder>,
    /// Number of the current record, counted from 1; invalid records count as well.
    pub record: u64,
    /// Number of columns for which the fast path has parsed and checked the values of the current record.
    pub num_regular: usize,
    /// Whether the general code has parsed an entry of the current record.
    pub is_irregular: bool,
    /// Cache of the keys of earlier records and their order.
    pub key_cache: KeyCache,
}

impl<'p> Parser<'p> {
    /// Creates a parser with capacity for `num_records` records. More records can be pushed.
    pub fn new(plan: &'p Plan, num_records: usize) -> Result<Self, OutOfMemory> {
        let dialect = MessageDialect::of_payload(plan.kind());
        let mut slots = memory::with_capacity(plan.columns().len())?;
        for spec in plan.columns() {
            let tag = dialect.and_then(|dialect| dialect.list_tag(spec.kind)).unwrap_or(0);
            slots.push(ColumnBuilder::new(spec, tag, num_records)?);
        }
        let columns =
            ColumnBuilders { plan, slots, record: 0, num_regular: 0, is_irregular: false, key_cache: KeyCache::new()? };
        Ok(Self { columns, num_records: 0 })
    }

    /// Returns the number of valid records so far.
    pub fn num_records(&self) -> usize {
        self.num_records
    }

    /// Moves the byte strings of each column into a larger buffer if the column will be long.
    ///
    /// The final size of a column is estimated from the records so far. `num_records` is the expected total number of
    /// records, and `max_bytes` limits the estimate. `allocate` returns a buffer with about the given capacity; the
    /// content of the buffer is ignored.
    pub fn preallocate(&mut self, num_records: usize, max_bytes: usize, mut allocate: impl FnMut(usize) -> Vec<u8>) {
        for slot in &mut self.columns.slots {
            let Values::Bytes { data, .. } = &mut slot.values else { continue };
            let estimate = data.len().saturating_mul(num_records) / self.num_records.max(1);
            let capacity = estimate.saturating_add(estimate / 8).min(max_bytes);
            if capacity > MIN_PREALLOCATED.max(data.capacity()) {
                let mut buffer = allocate(capacity);
                buffer.clear();
                // If there is not enough memory now, the column grows while it is filled.
                if buffer.capacity() >= data.len() {
                    buffer.extend_from_slice(data);
                    *data = buffer;
                }
            }
        }
    }

    /// Appends the values of one payload to the columns.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), Fault> {
        self.columns.begin_record();
        let result = match parse_payload(self.columns.plan.kind(), payload, &mut self.columns) {
            Ok(()) => self.columns.end_record(),
            Err(error) => Err(error.into()),
        };
        match result {
            Ok(()) => self.num_records += 1,
            Err(_) => self.columns.slots.iter_mut().for_each(|slot| slot.remove_last_record(self.num_records)),
        }
        result
    }

    /// Returns the last string of a column of byte strings.
    pub fn last_string(&self, column: usize) -> Option<&[u8]> {
        let Values::Bytes { data, splits } = &self.columns.slots.get(column)?.values else { return None };
        let [.., start, end] = splits[..] else { return None };
        data.get(start as usize..end as usize)
    }

    /// Returns the columns in the order of the plan.
    pub fn finish(self) -> Result<Vec<Column>, OutOfMemory> {
        memory::collect(self.columns.slots.into_iter().map(ColumnBuilder::into_column))
    }
}

impl ColumnBuilders<'_> {
    fn begin_record(&mut self) {
        self.record += 1;
        self.num_regular = 0;
        self.is_irregular = false;
        self.key_cache.start_record();
    }

    fn end_record(&mut self) -> Result<(), Fault> {
        if self.num_regular == self.slots.len() && !self.is_irregular {
            self.slots.iter_mut().for_each(ColumnBuilder::close_checked_record);
            return Ok(());
        }
        for (slot, spec) in self.slots.iter_mut().zip(self.plan.columns()) {
            slot.close_record(self.record, spec)?;
        }
        Ok(())
    }
}

impl FeatureSink for ColumnBuilders<'_> {
    fn find_slot(&mut self, section: Section, key: &[u8]) -> Result<Option<usize>, OutOfMemory> {
        Ok(self.plan.find_column(section, key))
    }

    fn begin_entry(&mut self, slot: usize) {
        self.is_irregular = true;
        self.slots[slot].begin_entry(self.record);
    }

    fn begin_list(&mut self, slot: usize, kind: ValueKind) {
        self.slots[slot].begin_list(kind);
    }

    fn push_bytes(&mut self, slot: usize, value: &[u8]) -> Result<(), OutOfMemory> {
        let slot = &mut self.slots[slot];
        if slot.has_requested_kind() { slot.values.push_bytes(value) } else { Ok(()) }
    }

    fn push_fixed(&mut self, slot: usize, chunk: &[u8]) -> Result<(), OutOfMemory> {
        let slot = &mut self.slots[slot];
        if slot.has_requested_kind() { slot.values.extend_fixed(chunk) } else { Ok(()) }
    }

    fn push_varints(&mut self, slot: usize, chunk: WireReader) -> ParseResult<()> {
        self.slots[slot].push_varints(chunk)
    }

    fn begin_frame(&mut self, slot: usize) {
        self.slots[slot].begin_frame();
    }

    fn end_frame(&mut self, slot: usize) -> Result<(), OutOfMemory> {
        self.slots[slot].end_frame()
    }

    #[inline]
    fn parse_entry(&mut self, dialect: &MessageDialect, reader: &mut WireReader) -> ParseResult<bool> {
        fast_path::parse_entry(self, dialect, reader)
    }

    #[inline]
    fn parse_frames(&mut self, slot: usize, reader: &mut WireReader) -> ParseResult<()> {
        fast_path::parse_frames(&mut self.slots[slot], reader)
    }
}
