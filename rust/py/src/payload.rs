//! Payloads to columns: the plan, what columns are in Python, surveying.
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recordmill_core::payload::{
    self, Column, ColumnSpec, FeatureCollector, Layout, Missing, PayloadKind, Plan, Section, ValueKind, Values,
};

use crate::buffers::{Block, Numbers, View, vector};
use crate::error::{FaultParts, fault_error, parts};
use crate::rows::check_row_splits;

/// What a record's payload is.
#[pyclass(frozen, eq, eq_int, hash, from_py_object, module = "recordmill._core", name = "PayloadKind")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PyPayloadKind {
    /// tf.train.Example.
    #[pyo3(name = "EXAMPLE")]
    Example,
    /// tf.train.SequenceExample.
    #[pyo3(name = "SEQUENCE_EXAMPLE")]
    SequenceExample,
    /// OneFlow's OFRecord.
    #[pyo3(name = "OFRECORD")]
    OfRecord,
    /// MXNet's image record header.
    #[pyo3(name = "IRHEADER")]
    IrHeader,
}

impl From<PyPayloadKind> for PayloadKind {
    fn from(kind: PyPayloadKind) -> Self {
        match kind {
            PyPayloadKind::Example => Self::Example,
            PyPayloadKind::SequenceExample => Self::SequenceExample,
            PyPayloadKind::OfRecord => Self::OfRecord,
            PyPayloadKind::IrHeader => Self::IrHeader,
        }
    }
}

pub fn value_kind(word: &str) -> PyResult<ValueKind> {
    Ok(match word {
        "bytes" => ValueKind::Bytes,
        "float32" => ValueKind::Float32,
        "float64" => ValueKind::Float64,
        "int32" => ValueKind::Int32,
        "int64" => ValueKind::Int64,
        "uint64" => ValueKind::UInt64,
        other => return Err(PyValueError::new_err(format!("unknown kind {other:?}"))),
    })
}

pub fn section(lists: bool) -> Section {
    if lists { Section::Lists } else { Section::Context }
}

/// The columns wanted of a payload, compiled once: (name, lists, kind, values per record or None, missing) each.
///
/// `missing` is "error", "empty", or the values that stand in: an array, or (data, splits) for bytes.
#[pyclass(frozen, module = "recordmill._core", name = "Plan")]
pub struct PyPlan(Arc<Plan>);

type SpecArgs<'py> = (Vec<u8>, bool, String, Option<usize>, Bound<'py, PyAny>);

#[pymethods]
impl PyPlan {
    #[new]
    fn new(py: Python<'_>, kind: PyPayloadKind, columns: Vec<SpecArgs<'_>>) -> PyResult<Self> {
        let specs = columns.into_iter().map(|column| spec(py, column)).collect::<PyResult<_>>()?;
        let plan = Plan::new(kind.into(), specs).map_err(|fault| fault_error(fault, None))?;
        Ok(Self(Arc::new(plan)))
    }
}

impl PyPlan {
    /// The plan itself.
    pub fn plan(&self) -> &Plan {
        &self.0
    }
}

fn spec(py: Python<'_>, (name, lists, kind, fixed, missing): SpecArgs<'_>) -> PyResult<ColumnSpec> {
    let kind = value_kind(&kind)?;
    let missing = match missing.extract::<String>().as_deref() {
        Ok("error") => Missing::Error,
        Ok("empty") => Missing::Empty,
        _ => Missing::Default(owned_values(py, kind, &missing)?),
    };
    Ok(ColumnSpec { name, section: section(lists), kind, layout: fixed.map_or(Layout::Ragged, Layout::Fixed), missing })
}

fn owned_values(py: Python<'_>, kind: ValueKind, object: &Bound<'_, PyAny>) -> PyResult<Values> {
    Ok(match kind {
        ValueKind::Bytes => {
            let (data, splits): (Bound<'_, PyAny>, Bound<'_, PyAny>) = object.extract()?;
            let (data, splits) = (vector::<u8>(py, &data)?, vector::<i64>(py, &splits)?);
            check_row_splits(&splits, data.len())?;
            Values::Bytes { data, splits }
        }
        ValueKind::Float32 => Values::Float32(vector(py, object)?),
        ValueKind::Float64 => Values::Float64(vector(py, object)?),
        ValueKind::Int32 => Values::Int32(vector(py, object)?),
        ValueKind::Int64 => Values::Int64(vector(py, object)?),
        ValueKind::UInt64 => Values::UInt64(vector(py, object)?),
    })
}

/// Columns as Python gets them: (values, row_splits, frame_splits); the values of bytes are (data, splits).
fn column_blocks(py: Python<'_>, column: Column) -> PyResult<Py<PyTuple>> {
    let block = |numbers| Py::new(py, Block::new(numbers));
    let values = match column.values {
        Values::Bytes { data, splits } => {
            (block(Numbers::UInt8(data))?, block(Numbers::Int64(splits))?).into_pyobject(py)?.into_any().unbind()
        }
        Values::Float32(values) => block(Numbers::Float32(values))?.into_any(),
        Values::Float64(values) => block(Numbers::Float64(values))?.into_any(),
        Values::Int32(values) => block(Numbers::Int32(values))?.into_any(),
        Values::Int64(values) => block(Numbers::Int64(values))?.into_any(),
        Values::UInt64(values) => block(Numbers::UInt64(values))?.into_any(),
    };
    let splits = |splits: Option<Vec<i64>>| splits.map(|splits| block(Numbers::Int64(splits))).transpose();
    Ok((values, splits(column.row_splits)?, splits(column.frame_splits)?).into_pyobject(py)?.unbind())
}

/// Columns as Python gets them.
pub fn columns_out(py: Python<'_>, columns: Vec<Column>) -> PyResult<Vec<Py<PyTuple>>> {
    columns.into_iter().map(|column| column_blocks(py, column)).collect()
}

type Surveyed = (Vec<u8>, bool, Option<&'static str>, bool, u64, (u64, u64), (u64, u64), (u64, u64));

/// What the features of some payloads look like, and the fault of the first one that does not parse, if any does not.
///
/// A row is (name, lists, kind, mixed kinds, number present, values (least, most), frames (..), bytes (..)).
#[pyfunction]
fn survey(
    py: Python<'_>,
    kind: PyPayloadKind,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
) -> PyResult<(Vec<Surveyed>, Option<FaultParts>)> {
    let view = View::<u8>::get(data)?;
    let row_splits = vector::<i64>(py, row_splits)?;
    let data = view.slice();
    check_row_splits(&row_splits, data.len())?;
    let (features, fault) = py.detach(|| {
        let mut survey = FeatureCollector::new(kind.into());
        let mut fault = None;
        for (ordinal, pair) in row_splits.windows(2).enumerate() {
            if let Err(found) = survey.push(&data[pair[0] as usize..pair[1] as usize]) {
                fault = Some(parts(found, Some(ordinal)));
                break;
            }
        }
        (survey.finish(), fault)
    });
    let rows = features.into_iter().map(|found| {
        (
            found.name,
            found.section == Section::Lists,
            found.kind.map(ValueKind::as_str),
            found.mixed_kinds,
            found.num_present,
            (found.min_count, found.max_count),
            (found.min_frames, found.max_frames),
            (found.min_bytes, found.max_bytes),
        )
    });
    Ok((rows.collect(), fault))
}

/// Whether a payload is a SequenceExample with feature lists.
#[pyfunction]
fn has_feature_lists(payload: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(payload::has_feature_lists(View::<u8>::get(payload)?.slice()))
}

/// Adds everything here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPayloadKind>()?;
    module.add_class::<PyPlan>()?;
    module.add_function(wrap_pyfunction!(crate::parse::parse, module)?)?;
    module.add_function(wrap_pyfunction!(crate::parse::parse_each, module)?)?;
    module.add_function(wrap_pyfunction!(crate::columns::read_columns, module)?)?;
    module.add_function(wrap_pyfunction!(crate::examples::read_example, module)?)?;
    module.add_function(wrap_pyfunction!(crate::examples::read_examples, module)?)?;
    module.add_function(wrap_pyfunction!(crate::serialize::serialize, module)?)?;
    module.add_function(wrap_pyfunction!(crate::serialize::serialize_frames, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)?;
    module.add_function(wrap_pyfunction!(has_feature_lists, module)?)?;
    Ok(())
}
