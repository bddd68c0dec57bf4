//! The payload of MXNet's image records: a header of flag, label, id and id2, then `flag` labels, then data.
use super::message::FeatureSink;
use super::serialize::append_string;
use super::wire::{ParseResult, WireError};
use super::write::append_fixed;
use super::{ColumnData, Section, ValueKind, ValuesRef};
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};
use crate::records::RecordSink;
use crate::source::SourceError;
use std::fmt::Display;

/// Number of bytes of flag (u32), label (f32), id (u64) and id2 (u64), all little-endian.
pub const HEADER_LEN: usize = 24;
/// Number of bytes of one label.
pub const LABEL_LEN: usize = 4;

/// Name of the label column. It contains the label in the header if the flag is 0, otherwise the labels after the
/// header.
pub const LABEL: &[u8] = b"label";
/// Name of the id column.
pub const ID: &[u8] = b"id";
/// Name of the column of the second ids.
pub const ID2: &[u8] = b"id2";
/// Name of the flag column, which contains the number of labels after the header.
pub const FLAG: &[u8] = b"flag";
/// Name of the data column.
pub const DATA: &[u8] = b"data";

/// Parses the payload of one image record into `sink`.
pub fn parse_image_record<S: FeatureSink>(payload: &[u8], sink: &mut S) -> ParseResult<()> {
    let Some((header, rest)) = payload.split_first_chunk::<HEADER_LEN>() else {
        let what = "the payload ends inside the 24-byte header";
        return Err(WireError { offset: payload.len(), what }.into());
    };
    let flag = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let num_bytes = u64::from(flag) * LABEL_LEN as u64;
    if num_bytes > rest.len() as u64 {
        return Err(WireError { offset: 0, what: "the flag exceeds the number of labels in the payload" }.into());
    }
    let (labels, data) = rest.split_at(num_bytes as usize);
    let labels = if flag == 0 { &header[4..8] } else { labels };
    push_column_values(sink, LABEL, ValueKind::Float32, labels)?;
    push_column_values(sink, ID, ValueKind::UInt64, &header[8..16])?;
    push_column_values(sink, ID2, ValueKind::UInt64, &header[16..24])?;
    push_column_values(sink, FLAG, ValueKind::Int64, &i64::from(flag).to_le_bytes())?;
    if let Some(slot) = begin_column_entry(sink, DATA, ValueKind::Bytes)? {
        sink.push_bytes(slot, data)?;
    }
    Ok(())
}

fn push_column_values<S: FeatureSink>(
    sink: &mut S,
    name: &[u8],
    kind: ValueKind,
    values: &[u8],
) -> Result<(), OutOfMemory> {
    match begin_column_entry(sink, name, kind)? {
        Some(slot) => sink.push_fixed(slot, values),
        None => Ok(()),
    }
}

fn begin_column_entry<S: FeatureSink>(
    sink: &mut S,
    name: &[u8],
    kind: ValueKind,
) -> Result<Option<usize>, OutOfMemory> {
    let slot = sink.find_slot(Section::Context, name)?;
    if let Some(slot) = slot {
        sink.begin_entry(slot);
        sink.begin_list(slot, kind);
    }
    Ok(slot)
}

/// The columns of image records by name.
#[derive(Default)]
struct ImageRecordColumns<'a> {
    label: Option<(&'a ColumnData<'a>, &'a [f32])>,
    id: Option<(&'a ColumnData<'a>, &'a [u64])>,
    id2: Option<(&'a ColumnData<'a>, &'a [u64])>,
    flag: Option<(&'a ColumnData<'a>, &'a [i64])>,
    data: Option<&'a ColumnData<'a>>,
}

/// Writes validated columns as `num_records` payloads. Fields without a column are 0 or empty.
pub fn write_image_records(
    sink: &mut impl RecordSink,
    num_records: usize,
    columns: &[&ColumnData],
) -> Result<(), SourceError> {
    let fields = match_columns_by_name(columns)?;
    for record in 0..num_records {
        sink.begin_record()?;
        write_record(&fields, record, sink.buffer())?;
        sink.end_record()?;
    }
    Ok(())
}

fn match_columns_by_name<'a>(columns: &[&'a ColumnData<'a>]) -> Result<ImageRecordColumns<'a>, Fault> {
    let mut fields = ImageRecordColumns::default();
    for &column in columns {
        match (column.name, column.values) {
            (LABEL, ValuesRef::Float32(values)) => fields.label = Some((column, values)),
            (ID, ValuesRef::UInt64(values)) => fields.id = Some((column, values)),
            (ID2, ValuesRef::UInt64(values)) => fields.id2 = Some((column, values)),
            (FLAG, ValuesRef::Int64(values)) => fields.flag = Some((column, values)),
            (DATA, ValuesRef::Bytes { .. } | ValuesRef::External { .. }) => fields.data = Some(column),
            _ => return Err(unknown_column_fault(column)),
        }
    }
    Ok(fields)
}

fn unknown_column_fault(column: &ColumnData) -> Fault {
    let expected = "label float32, id or id2 uint64, flag int64, data bytes";
    column.feature_fault("is not a field of image records").with_values(expected, column.values.kind().as_str())
}

fn write_record(fields: &ImageRecordColumns, record: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
    let labels = match fields.label {
        Some((column, values)) if column.is_present(record) => &values[column.row_range(record)],
        _ => &[],
    };
    let flag = choose_flag(fields, record, labels)?;
    let label = if flag == 0 { labels.first().copied().unwrap_or(0.0) } else { 0.0 };
    // This reservation excludes the data, for which `append_string` reserves memory.
    memory::reserve(out, HEADER_LEN + LABEL_LEN * labels.len())?;
    out.extend_from_slice(&flag.to_le_bytes());
    out.extend_from_slice(&label.to_le_bytes());
    out.extend_from_slice(&single_value(fields.id, record)?.unwrap_or(0).to_le_bytes());
    out.extend_from_slice(&single_value(fields.id2, record)?.unwrap_or(0).to_le_bytes());
    if flag > 0 {
        append_fixed(out, labels, |value: f32| value.to_le_bytes());
    }
    if let Some(column) = fields.data.filter(|column| column.is_present(record)) {
        let row = column.row_range(record);
        if row.len() != 1 {
            return Err(value_count_fault(column, record, 1, row.len()).into());
        }
        append_string(&column.values, row.start, out)?;
    }
    Ok(())
}

/// Returns the flag of a record, taken from the flag column if there is one. Without a flag column, a scalar label has
/// flag 0, and the flag of a vector is the number of its labels.
fn choose_flag(fields: &ImageRecordColumns, record: usize, labels: &[f32]) -> Result<u32, Fault> {
    let count = labels.len();
    let flag = single_value(fields.flag, record)?;
    let Some((column, _)) = fields.label else {
        return match (flag, fields.flag) {
            (Some(flag), Some((column, _))) if flag != 0 => Err(value_count_fault(column, record, 0, flag)),
            _ => Ok(0),
        };
    };
    let is_scalar = flag.map_or(column.scalar && column.is_present(record), |flag| flag == 0 && count > 0);
    if is_scalar {
        return if count == 1 { Ok(0) } else { Err(value_count_fault(column, record, 1, count)) };
    }
    if let Some(flag) = flag.filter(|&flag| flag != count as i64) {
        return Err(value_count_fault(column, record, flag, count));
    }
    u32::try_from(count).map_err(|_| value_count_fault(column, record, u32::MAX, count))
}

/// Returns the value of a record in a column that must have one value per record; None if there is no such column or
/// the record has no value in it.
fn single_value<T: Copy>(column: Option<(&ColumnData, &[T])>, record: usize) -> Result<Option<T>, Fault> {
    match column {
        Some((column, values)) if column.is_present(record) => match values[column.row_range(record)] {
            [value] => Ok(Some(value)),
            ref row => Err(value_count_fault(column, record, 1, row.len())),
        },
        _ => Ok(None),
    }
}

fn value_count_fault(column: &ColumnData, record: usize, expected: impl Display, found: impl Display) -> Fault {
    column.feature_fault(&format!("has the wrong number of values in record {record}")).with_values(expected, found)
}
