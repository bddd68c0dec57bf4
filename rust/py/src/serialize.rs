//! Serialization of columns to payloads and frames.
use pyo3::prelude::*;
use recordmill_core::framing::FrameBuffer;
use recordmill_core::memory;
use recordmill_core::payload::{self, ColumnData, Section, ValueKind, ValuesRef};
use recordmill_core::records::{RecordSink, RowBuffer};

use crate::buffers::{ArrayView, Block, copy_array, take_pooled_buffer};
use crate::error::{out_of_memory_error, source_error};
use crate::file_contents::WholeFiles;
use crate::framing::{PyFrameKind, frames_to_python};
use crate::payload::{PyPayloadKind, parse_value_kind, select_section};
use crate::rows::check_row_splits;

/// Values of a column, kept alive while they are read without the interpreter lock.
enum ValueBuffers {
    Bytes(ArrayView<u8>, Vec<i64>),
    Files(Py<WholeFiles>),
    Float32(ArrayView<f32>),
    Float64(ArrayView<f64>),
    Int32(ArrayView<i32>),
    Int64(ArrayView<i64>),
    UInt64(ArrayView<u64>),
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

/// Attributes of a Python object that describes one column to write.
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
            section: select_section(self.lists),
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
            let (data, splits) = (ArrayView::from_object(&data)?, copy_array::<i64>(py, &splits)?);
            check_row_splits(&splits, data.as_slice().len())?;
            ValueBuffers::Bytes(data, splits)
        }
        ValueKind::Float32 => ValueBuffers::Float32(ArrayView::from_object(object)?),
        ValueKind::Float64 => ValueBuffers::Float64(ArrayView::from_object(object)?),
        ValueKind::Int32 => ValueBuffers::Int32(ArrayView::from_object(object)?),
        ValueKind::Int64 => ValueBuffers::Int64(ArrayView::from_object(object)?),
        ValueKind::UInt64 => ValueBuffers::UInt64(ArrayView::from_object(object)?),
    })
}

impl ColumnBuffers {
    fn column_data(&self) -> ColumnData<'_> {
        let values = match &self.values {
            ValueBuffers::Bytes(data, splits) => ValuesRef::Bytes { data: data.as_slice(), splits },
            ValueBuffers::Files(files) => ValuesRef::External { splits: files.get().splits(), source: files.get() },
            ValueBuffers::Float32(values) => ValuesRef::Float32(values.as_slice()),
            ValueBuffers::Float64(values) => ValuesRef::Float64(values.as_slice()),
            ValueBuffers::Int32(values) => ValuesRef::Int32(values.as_slice()),
            ValueBuffers::Int64(values) => ValuesRef::Int64(values.as_slice()),
            ValueBuffers::UInt64(values) => ValuesRef::UInt64(values.as_slice()),
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
    let mut rows = RowBuffer::new(take_pooled_buffer());
    serialize_into_sink(py, kind, num_records, columns, &mut rows)?;
    Ok((Block::from_bytes(rows.data), Block::from_integers(rows.splits)))
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
    let mut frames = FrameBuffer::new(frame.into(), take_pooled_buffer());
    serialize_into_sink(py, kind, num_records, columns, &mut frames)?;
    Ok(frames_to_python(frames))
}

fn serialize_into_sink(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
    sink: &mut (impl RecordSink + Send),
) -> PyResult<()> {
    // If there are no columns, no array limits `num_records`. So the memory for as many row splits is checked here.
    memory::check_available(num_records.saturating_mul(size_of::<i64>())).map_err(out_of_memory_error)?;
    let buffers = columns.into_iter().map(|column| column.get_buffers(py)).collect::<PyResult<Vec<_>>>()?;
    let columns: Vec<_> = buffers.iter().map(ColumnBuffers::column_data).collect();
    py.detach(|| payload::serialize_into(kind.into(), num_records, &columns, sink))
        .map_err(|error| source_error(error, None))
}
