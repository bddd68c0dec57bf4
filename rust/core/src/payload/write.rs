//! Serialization of the three protobuf messages in canonical form.
//!
//! A length precedes the bytes that it counts, so all lengths of a record are computed before it is written.
use super::message::MessageDialect;
use super::serialize::append_string;
use super::wire::{append_varint, varint_len};
use super::{ColumnData, PayloadKind, Section, ValueKind, ValuesRef};
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use crate::records::RecordSink;
use crate::source::SourceError;
use std::ops::Range;

/// Maximum length of a protobuf message in bytes.
const MAX_MESSAGE: usize = i32::MAX as usize;
/// Maximum total number of bytes of the tags and lengths that precede the context and the feature lists.
const MAX_HEADERS: usize = 12;
const FIELD_1: u8 = 0x0a;
const FIELD_2: u8 = 0x12;

/// Writes validated columns, sorted by section and name, as `num_records` messages.
pub fn write_messages(
    sink: &mut impl RecordSink,
    kind: PayloadKind,
    dialect: &MessageDialect,
    num_records: usize,
    columns: &[&ColumnData],
) -> Result<(), SourceError> {
    let num_context = columns.partition_point(|column| column.section == Section::Context);
    let mut features = memory::with_capacity(columns.len())?;
    for column in columns {
        features.push(EncodedFeature::new(column)?);
    }
    let mut sizes = Vec::new();
    for record in 0..num_records {
        sink.begin_record()?;
        let mut writer = MessageWriter { dialect, record, out: sink.buffer(), sizes, next: 0 };
        writer.write_message(kind, features.split_at(num_context))?;
        sizes = writer.sizes;
        sink.end_record()?;
    }
    Ok(())
}

/// A column, and the bytes with which each of its map entries begins.
struct EncodedFeature<'a> {
    column: &'a ColumnData<'a>,
    /// The encoded key, and the tag of the value.
    entry_prefix: Vec<u8>,
}

impl<'a> EncodedFeature<'a> {
    fn new(column: &'a ColumnData<'a>) -> Result<Self, OutOfMemory> {
        let mut entry_prefix = memory::with_capacity(column.name.len() + MAX_HEADERS)?;
        entry_prefix.push(FIELD_1);
        append_varint(&mut entry_prefix, column.name.len() as u64);
        entry_prefix.extend_from_slice(column.name);
        entry_prefix.push(FIELD_2);
        Ok(Self { column, entry_prefix })
    }

    /// Returns the length of an entry whose value has `value_len` bytes.
    fn entry_len(&self, value_len: usize) -> usize {
        self.entry_prefix.len() + varint_len(value_len as u64) + value_len
    }
}

struct MessageWriter<'d> {
    dialect: &'d MessageDialect,
    record: usize,
    out: &'d mut Vec<u8>,
    /// Lengths in the order in which they are written. For each map entry, this is the length of its value. For each
    /// feature, it is the length of its values without the header of the packed field.
    sizes: Vec<usize>,
    /// Index in `sizes` of the length that is written next.
    next: usize,
}

impl MessageWriter<'_> {
    fn write_message(
        &mut self,
        kind: PayloadKind,
        (context, lists): (&[EncodedFeature], &[EncodedFeature]),
    ) -> Result<(), SourceError> {
        self.sizes.clear();
        let context_len = self.measure_feature_map(context)?;
        let lists_len = self.measure_feature_map(lists)?;
        let len = context_len.unwrap_or(0).saturating_add(lists_len.unwrap_or(0));
        if len > MAX_MESSAGE {
            let what = format!("record {} exceeds the maximum length of a message", self.record);
            return Err(Fault::new(FaultKind::LimitExceeded, 0, what).with_values(MAX_MESSAGE, len).into());
        }
        // With this reservation, nothing that is written below allocates memory, except the contents of files.
        memory::reserve(self.out, len + MAX_HEADERS)?;
        if let Some(len) = context_len {
            if kind != PayloadKind::OfRecord {
                self.write_tag_and_len(FIELD_1, len);
            }
            self.write_feature_map(context)?;
        }
        if let Some(len) = lists_len {
            self.write_tag_and_len(FIELD_2, len);
            self.write_feature_map(lists)?;
        }
        Ok(())
    }

    /// Returns the length of the map that holds the features of the current record; None if the record has no features.
    fn measure_feature_map(&mut self, features: &[EncodedFeature]) -> Result<Option<usize>, OutOfMemory> {
        let (record, mut total) = (self.record, None);
        for feature in features.iter().filter(|feature| feature.column.is_present(record)) {
            let index = self.sizes.len();
            memory::push(&mut self.sizes, 0)?;
            let value_len = self.measure_entry_value(feature.column)?;
            self.sizes[index] = value_len;
            *total.get_or_insert(0) += field_len(feature.entry_len(value_len));
        }
        Ok(total)
    }

    fn measure_entry_value(&mut self, column: &ColumnData) -> Result<usize, OutOfMemory> {
        let row = column.row_range(self.record);
        match column.section {
            Section::Context => self.measure_feature(&column.values, row),
            Section::Lists => {
                memory::reserve(&mut self.sizes, row.len())?;
                let frames = row.map(|frame| self.measure_feature(&column.values, column.frame_range(frame)));
                frames.map(|len| len.map(field_len)).sum()
            }
        }
    }

    fn measure_feature(&mut self, values: &ValuesRef, range: Range<usize>) -> Result<usize, OutOfMemory> {
        let size = values_len(values, range);
        memory::push(&mut self.sizes, size)?;
        Ok(field_len(list_len(values, size)))
    }

    fn next_size(&mut self) -> usize {
        self.next += 1;
        self.sizes[self.next - 1]
    }

    fn write_tag_and_len(&mut self, tag: u8, len: usize) {
        self.out.push(tag);
        append_varint(self.out, len as u64);
    }

    fn write_feature_map(&mut self, features: &[EncodedFeature]) -> Result<(), SourceError> {
        let record = self.record;
        for feature in features.iter().filter(|feature| feature.column.is_present(record)) {
            let value_len = self.next_size();
            self.write_tag_and_len(FIELD_1, feature.entry_len(value_len));
            self.out.extend_from_slice(&feature.entry_prefix);
            append_varint(self.out, value_len as u64);
            self.write_entry_value(feature.column)?;
        }
        Ok(())
    }

    fn write_entry_value(&mut self, column: &ColumnData) -> Result<(), SourceError> {
        let row = column.row_range(self.record);
        if column.section == Section::Context {
            let size = self.next_size();
            return self.write_feature(&column.values, row, size);
        }
        for frame in row {
            let size = self.next_size();
            self.write_tag_and_len(FIELD_1, field_len(list_len(&column.values, size)));
            self.write_feature(&column.values, column.frame_range(frame), size)?;
        }
        Ok(())
    }

    fn write_feature(&mut self, values: &ValuesRef, range: Range<usize>, size: usize) -> Result<(), SourceError> {
        let tag = self.dialect.list_tag(values.kind()).unwrap_or(0);
        self.write_tag_and_len(tag, list_len(values, size));
        if let ValuesRef::Bytes { splits, .. } | ValuesRef::External { splits, .. } = values {
            for i in range {
                self.write_tag_and_len(FIELD_1, (splits[i + 1] - splits[i]) as usize);
                append_string(values, i, self.out)?;
            }
        } else if size > 0 {
            self.write_tag_and_len(FIELD_1, size);
            append_packed(self.out, values, range);
        }
        Ok(())
    }
}

/// Returns the length of a length-delimited field with `len` bytes of content and a one-byte tag.
fn field_len(len: usize) -> usize {
    1 + varint_len(len as u64) + len
}

/// Returns the length of a list whose values have `size` bytes. Numbers are one packed field, which is omitted if
/// empty.
fn list_len(values: &ValuesRef, size: usize) -> usize {
    if size == 0 || values.kind() == ValueKind::Bytes { size } else { field_len(size) }
}

/// Returns the encoded length of values. A byte string counts as a whole field, numbers without the header of their
/// packed field.
fn values_len(values: &ValuesRef, range: Range<usize>) -> usize {
    match values {
        ValuesRef::Bytes { splits, .. } | ValuesRef::External { splits, .. } => {
            splits[range.start..=range.end].windows(2).map(|pair| field_len((pair[1] - pair[0]) as usize)).sum()
        }
        ValuesRef::Float32(_) => 4 * range.len(),
        ValuesRef::Float64(_) => 8 * range.len(),
        ValuesRef::Int32(values) => values[range].iter().map(|&value| varint_len(value as i64 as u64)).sum(),
        ValuesRef::Int64(values) => values[range].iter().map(|&value| varint_len(value as u64)).sum(),
        ValuesRef::UInt64(values) => values[range].iter().map(|&value| varint_len(value)).sum(),
    }
}

fn append_packed(out: &mut Vec<u8>, values: &ValuesRef, range: Range<usize>) {
    match values {
        ValuesRef::Float32(values) => append_fixed(out, &values[range], |value: f32| value.to_le_bytes()),
        ValuesRef::Float64(values) => append_fixed(out, &values[range], |value: f64| value.to_le_bytes()),
        ValuesRef::Int32(values) => values[range].iter().for_each(|&value| append_varint(out, value as i64 as u64)),
        ValuesRef::Int64(values) => values[range].iter().for_each(|&value| append_varint(out, value as u64)),
        ValuesRef::UInt64(values) => values[range].iter().for_each(|&value| append_varint(out, value)),
        ValuesRef::Bytes { .. } | ValuesRef::External { .. } => {}
    }
}

/// Appends values of `WIDTH` bytes each, converted by `to_bytes`. The caller has made room for them.
pub fn append_fixed<T: Copy, const WIDTH: usize>(out: &mut Vec<u8>, values: &[T], to_bytes: impl Fn(T) -> [u8; WIDTH]) {
    let start = out.len();
    out.resize(start + WIDTH * values.len(), 0);
    for (bytes, &value) in out[start..].as_chunks_mut::<WIDTH>().0.iter_mut().zip(values) {
        *bytes = to_bytes(value);
    }
}
