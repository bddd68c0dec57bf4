//! Serialization of columns to payloads and frames.
use pyo3::prelude::*;
use recordmill_core::framing::Frames;
use recordmill_core::payload::{self, ColumnData, Section, ValueKind, ValuesRef};
use recordmill_core::records::{RecordSink, Rows};

use crate::buffers::{Block, View, copy_array, take_pooled_buffer};
use crate::error::source_error;
use crate::file_contents::WholeFiles;
use crate::framing::{PyFrameKind, frame_blocks};
use crate::payload::{PyPayloadKind, parse_value_kind, section};
use crate::rows::check_row_splits;

/// Values of a column, kept alive while they are read without the interpreter lock.
enum ValueBuffers {
    Bytes(View<u8>, Vec<i64>),
    Files(Py<WholeFiles>),
    Float32(View<f32>),
    Float64(View<f64>),
    Int32(View<i32>),
    Int64(View<i64>),
    UInt64(View<u64>),
}

/// A column, kept alive while it is read without the interpreter lock.
struct ColumnBuffers {
    name: Vec<u8>,
    section: Section,
    values: ValueBuffers,
    fixed: Option<usize>,
    row_splits: Option<Vec<i64>>,
    frame_splits: Option<Vec<i64>>,
    present: Option<Vec<u8>>,
    scalar: bool,
}

/// Attributes of one column to write.
#[derive(FromPyObject)]
pub struct ColumnArgs<'py> {
    name: Vec<u8>,
    lists: bool,
    kind: String,
    values: Bound<'py, PyAny>,
    fixed: Option<usize>,
    row_splits: Option<Bound<'py, PyAny>>,
    frame_splits: Option<Bound<'py, PyAny>>,
    present: Option<Bound<'py, PyAny>>,
    scalar: bool,
}

impl ColumnArgs<'_> {
    fn get_buffers(self, py: Python<'_>) -> PyResult<ColumnBuffers> {
        let integers =
            |object: Option<Bound<'_, PyAny>>| object.map(|object| copy_array::<i64>(py, &object)).transpose();
        Ok(ColumnBuffers {
            values: get_value_buffers(py, parse_value_kind(&self.kind)?, &self.values)?,
            name: self.name,
            section: section(self.lists),
            fixed: self.fixed,
            row_splits: integers(self.row_splits)?,
            frame_splits: integers(self.frame_splits)?,
            present: self.present.map(|object| copy_array::<u8>(py, &object)).transpose()?,
            scalar: self.scalar,
        })
    }
}

fn get_value_buffers(py: Python<'_>, kind: ValueKind, object: &Bound<'_, PyAny>) -> PyResult<ValueBuffers> {
    Ok(match kind {
        ValueKind::Bytes if object.is_instance_of::<WholeFiles>() => ValueBuffers::Files(object.extract()?),
        ValueKind::Bytes => {
            let (data, splits): (Bound<'_, PyAny>, Bound<'_, PyAny>) = object.extract()?;
            let (data, splits) = (View::get(&data)?, copy_array::<i64>(py, &splits)?);
            check_row_splits(&splits, data.slice().len())?;
            ValueBuffers::Bytes(data, splits)
        }
        ValueKind::Float32 => ValueBuffers::Float32(View::get(object)?),
        ValueKind::Float64 => ValueBuffers::Float64(View::get(object)?),
        ValueKind::Int32 => ValueBuffers::Int32(View::get(object)?),
        ValueKind::Int64 => ValueBuffers::Int64(View::get(object)?),
        ValueKind::UInt64 => ValueBuffers::UInt64(View::get(object)?),
    })
}

impl ColumnBuffers {
    fn column_data(&self) -> ColumnData<'_> {
        let values = match &self.values {
            ValueBuffers::Bytes(data, splits) => ValuesRef::Bytes { data: data.slice(), splits },
            ValueBuffers::Files(files) => ValuesRef::External { splits: files.get().splits(), source: files.get() },
            ValueBuffers::Float32(values) => ValuesRef::Float32(values.slice()),
            ValueBuffers::Float64(values) => ValuesRef::Float64(values.slice()),
            ValueBuffers::Int32(values) => ValuesRef::Int32(values.slice()),
            ValueBuffers::Int64(values) => ValuesRef::Int64(values.slice()),
            ValueBuffers::UInt64(values) => ValuesRef::UInt64(values.slice()),
        };
        ColumnData {
            name: &self.name,
            section: self.section,
            values,
            fixed: self.fixed,
            row_splits: self.row_splits.as_deref(),
            frame_splits: self.frame_splits.as_deref(),
            present: self.present.as_deref(),
            scalar: self.scalar,
        }
    }
}

/// Serialize columns to payloads in canonical form: (data, row_splits).
#[pyfunction]
pub fn serialize(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
) -> PyResult<(Block, Block)> {
    let mut rows = Rows::new(take_pooled_buffer());
    write(py, kind, num_records, columns, &mut rows)?;
    Ok((Block::bytes(rows.data), Block::integers(rows.splits)))
}

/// Serialize columns to frames: (bytes, lengths, checksums), like `frame`.
#[pyfunction]
pub fn serialize_frames(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
    frame: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let mut frames = Frames::new(frame.into(), take_pooled_buffer());
    write(py, kind, num_records, columns, &mut frames)?;
    Ok(frame_blocks(frames))
}

fn write(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
    sink: &mut (impl RecordSink + Send),
) -> PyResult<()> {
    let buffers = columns.into_iter().map(|column| column.get_buffers(py)).collect::<PyResult<Vec<_>>>()?;
    let columns: Vec<_> = buffers.iter().map(ColumnBuffers::column_data).collect();
    py.detach(|| payload::serialize_into(kind.into(), num_records, &columns, sink))
        .map_err(|error| source_error(error, None))
}
