//! Columns to payloads.
use pyo3::prelude::*;
use recordmill_core::framing::Frames;
use recordmill_core::payload::{self, ColumnData, Section, ValueKind, ValuesRef};
use recordmill_core::records::{RecordSink, Rows};

use crate::buffers::{Block, View, take_buffer, vector};
use crate::error::source_error;
use crate::file_contents::WholeFiles;
use crate::framing::{PyFrameKind, frame_blocks};
use crate::payload::{PyPayloadKind, section, value_kind};
use crate::rows::check_row_splits;

enum HeldValues {
    Bytes(View<u8>, Vec<i64>),
    Files(Py<WholeFiles>),
    Float32(View<f32>),
    Float64(View<f64>),
    Int32(View<i32>),
    Int64(View<i64>),
    UInt64(View<u64>),
}

struct HeldColumn {
    name: Vec<u8>,
    section: Section,
    values: HeldValues,
    fixed: Option<usize>,
    row_splits: Option<Vec<i64>>,
    frame_splits: Option<Vec<i64>>,
    present: Option<Vec<u8>>,
    scalar: bool,
}

/// One column to write.
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
    fn hold(self, py: Python<'_>) -> PyResult<HeldColumn> {
        let integers = |object: Option<Bound<'_, PyAny>>| object.map(|object| vector::<i64>(py, &object)).transpose();
        Ok(HeldColumn {
            values: hold_values(py, value_kind(&self.kind)?, &self.values)?,
            name: self.name,
            section: section(self.lists),
            fixed: self.fixed,
            row_splits: integers(self.row_splits)?,
            frame_splits: integers(self.frame_splits)?,
            present: self.present.map(|object| vector::<u8>(py, &object)).transpose()?,
            scalar: self.scalar,
        })
    }
}

fn hold_values(py: Python<'_>, kind: ValueKind, object: &Bound<'_, PyAny>) -> PyResult<HeldValues> {
    Ok(match kind {
        ValueKind::Bytes if object.is_instance_of::<WholeFiles>() => HeldValues::Files(object.extract()?),
        ValueKind::Bytes => {
            let (data, splits): (Bound<'_, PyAny>, Bound<'_, PyAny>) = object.extract()?;
            let (data, splits) = (View::get(&data)?, vector::<i64>(py, &splits)?);
            check_row_splits(&splits, data.slice().len())?;
            HeldValues::Bytes(data, splits)
        }
        ValueKind::Float32 => HeldValues::Float32(View::get(object)?),
        ValueKind::Float64 => HeldValues::Float64(View::get(object)?),
        ValueKind::Int32 => HeldValues::Int32(View::get(object)?),
        ValueKind::Int64 => HeldValues::Int64(View::get(object)?),
        ValueKind::UInt64 => HeldValues::UInt64(View::get(object)?),
    })
}

impl HeldColumn {
    fn data(&self) -> ColumnData<'_> {
        let values = match &self.values {
            HeldValues::Bytes(data, splits) => ValuesRef::Bytes { data: data.slice(), splits },
            HeldValues::Files(files) => ValuesRef::Brought { splits: files.get().splits(), from: files.get() },
            HeldValues::Float32(values) => ValuesRef::Float32(values.slice()),
            HeldValues::Float64(values) => ValuesRef::Float64(values.slice()),
            HeldValues::Int32(values) => ValuesRef::Int32(values.slice()),
            HeldValues::Int64(values) => ValuesRef::Int64(values.slice()),
            HeldValues::UInt64(values) => ValuesRef::UInt64(values.slice()),
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

/// Canonical payloads of columns: (data, row_splits).
#[pyfunction]
pub fn serialize(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
) -> PyResult<(Block, Block)> {
    let mut rows = Rows::new(take_buffer());
    write(py, kind, num_records, columns, &mut rows)?;
    Ok((Block::bytes(rows.data), Block::integers(rows.splits)))
}

/// Frames that hold the canonical payloads of columns: (bytes, lengths, checksums), as `frame` gives them.
#[pyfunction]
pub fn serialize_frames(
    py: Python<'_>,
    kind: PyPayloadKind,
    num_records: usize,
    columns: Vec<ColumnArgs<'_>>,
    frame: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let mut frames = Frames::new(frame.into(), take_buffer());
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
    let held = columns.into_iter().map(|column| column.hold(py)).collect::<PyResult<Vec<_>>>()?;
    let columns: Vec<_> = held.iter().map(HeldColumn::data).collect();
    py.detach(|| payload::serialize_into(kind.into(), num_records, &columns, sink))
        .map_err(|error| source_error(error, None))
}
