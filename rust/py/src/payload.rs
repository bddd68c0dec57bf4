//! Plans of columns, conversion of columns to Python, and statistics of features.
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{
    self, Column, ColumnSpec, FeatureCollector, MissingPolicy, PayloadKind, Plan, Section, ValueCount, ValueKind,
    Values,
};

use crate::buffers::{ArrayView, Block, NumberVec, copy_array};
use crate::error::{FaultTuple, fault_error, fault_tuple, out_of_memory_error};
use crate::rows::check_row_splits;

/// Encoding of a payload.
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

/// Parses the name of a value kind.
pub fn parse_value_kind(name: &str) -> PyResult<ValueKind> {
    Ok(match name {
        "bytes" => ValueKind::Bytes,
        "float32" => ValueKind::Float32,
        "float64" => ValueKind::Float64,
        "int32" => ValueKind::Int32,
        "int64" => ValueKind::Int64,
        "uint64" => ValueKind::UInt64,
        other => {
            let message = format!("kind must be bytes, float32, float64, int32, int64 or uint64, got {other:?}");
            return Err(PyValueError::new_err(message));
        }
    })
}

/// Returns the section of feature lists if `lists` is true, otherwise that of context features.
pub fn select_section(lists: bool) -> Section {
    if lists { Section::Lists } else { Section::Context }
}

/// Compiled list of the columns to parse from payloads. Each column is a tuple (name, lists, kind, count, missing):
///
/// - `lists` is true for a feature list, false for a context feature.
/// - `count` is the number of values per record, or None if it varies.
/// - `missing` is "error", "empty", or the default values: an array, or (data, splits) for bytes.
#[pyclass(frozen, module = "recordmill._core", name = "Plan")]
pub struct PyPlan(Arc<Plan>);

type SpecArgs<'py> = (Vec<u8>, bool, String, Option<usize>, Bound<'py, PyAny>);

#[pymethods]
impl PyPlan {
    #[new]
    fn new(py: Python<'_>, kind: PyPayloadKind, columns: Vec<SpecArgs<'_>>) -> PyResult<Self> {
        let specs = columns.into_iter().map(|column| parse_column_spec(py, column)).collect::<PyResult<_>>()?;
        let plan = Plan::new(kind.into(), specs).map_err(|fault| fault_error(fault, None))?;
        Ok(Self(Arc::new(plan)))
    }
}

impl PyPlan {
    /// Returns the plan of `recordmill-core` that this object contains.
    pub fn core_plan(&self) -> &Plan {
        &self.0
    }
}

fn parse_column_spec(py: Python<'_>, (name, lists, kind, fixed, missing): SpecArgs<'_>) -> PyResult<ColumnSpec> {
    let kind = parse_value_kind(&kind)?;
    let missing = match missing.extract::<String>().as_deref() {
        Ok("error") => MissingPolicy::Error,
        Ok("empty") => MissingPolicy::Empty,
        _ => MissingPolicy::Default(copy_values(py, kind, &missing)?),
    };
    Ok(ColumnSpec {
        name,
        section: select_section(lists),
        kind,
        value_count: fixed.map_or(ValueCount::Ragged, ValueCount::Fixed),
        missing,
    })
}

fn copy_values(py: Python<'_>, kind: ValueKind, object: &Bound<'_, PyAny>) -> PyResult<Values> {
    Ok(match kind {
        ValueKind::Bytes => {
            let (data, splits): (Bound<'_, PyAny>, Bound<'_, PyAny>) = object.extract()?;
            let (data, splits) = (copy_array::<u8>(py, &data)?, copy_array::<i64>(py, &splits)?);
            check_row_splits(&splits, data.len())?;
            Values::Bytes { data, splits }
        }
        ValueKind::Float32 => Values::Float32(copy_array(py, object)?),
        ValueKind::Float64 => Values::Float64(copy_array(py, object)?),
        ValueKind::Int32 => Values::Int32(copy_array(py, object)?),
        ValueKind::Int64 => Values::Int64(copy_array(py, object)?),
        ValueKind::UInt64 => Values::UInt64(copy_array(py, object)?),
    })
}

/// Converts a column for Python: (values, row_splits, frame_splits). The values of byte strings are (data, splits).
pub fn column_to_python(py: Python<'_>, column: Column) -> PyResult<Py<PyTuple>> {
    let block = |numbers| Py::new(py, Block::new(numbers));
    let values = match column.values {
        Values::Bytes { data, splits } => {
            let len = data.len();
            let data = Py::new(py, Block::immutable_bytes(data, len))?;
            (data, block(NumberVec::Int64(splits))?).into_pyobject(py)?.into_any().unbind()
        }
        Values::Float32(values) => block(NumberVec::Float32(values))?.into_any(),
        Values::Float64(values) => block(NumberVec::Float64(values))?.into_any(),
        Values::Int32(values) => block(NumberVec::Int32(values))?.into_any(),
        Values::Int64(values) => block(NumberVec::Int64(values))?.into_any(),
        Values::UInt64(values) => block(NumberVec::UInt64(values))?.into_any(),
    };
    let splits = |splits: Option<Vec<i64>>| splits.map(|splits| block(NumberVec::Int64(splits))).transpose();
    Ok((values, splits(column.row_splits)?, splits(column.frame_splits)?).into_pyobject(py)?.unbind())
}

/// Converts columns for Python.
pub fn columns_to_python(py: Python<'_>, columns: Vec<Column>) -> PyResult<Vec<Py<PyTuple>>> {
    columns.into_iter().map(|column| column_to_python(py, column)).collect()
}

type StatsTuple = (Vec<u8>, bool, Option<&'static str>, bool, u64, (u64, u64), (u64, u64), (u64, u64));

/// Collect statistics of the features in payloads. Return (statistics, fault).
///
/// If a payload is invalid, only the payloads before it are counted, and `fault` describes it; otherwise `fault` is
/// None. The statistics of a feature are (name, lists, kind, mixed kinds, number of records with the feature, values,
/// frames, bytes). The last three are (minimum, maximum) of the number of values, frames and bytes.
#[pyfunction]
fn survey(
    py: Python<'_>,
    kind: PyPayloadKind,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
) -> PyResult<(Vec<StatsTuple>, Option<FaultTuple>)> {
    let view = ArrayView::<u8>::from_object(data)?;
    let row_splits = copy_array::<i64>(py, row_splits)?;
    let data = view.as_slice();
    check_row_splits(&row_splits, data.len())?;
    let (features, fault) = py.detach(|| {
        let mut collector = FeatureCollector::new(kind.into());
        let mut first_fault = None;
        for (ordinal, pair) in row_splits.windows(2).enumerate() {
            match collector.push_payload(&data[pair[0] as usize..pair[1] as usize]) {
                Ok(()) => {}
                Err(fault) if fault.kind == FaultKind::OutOfMemory => return Err(fault_error(fault, Some(ordinal))),
                Err(fault) => {
                    first_fault = Some(fault_tuple(fault, Some(ordinal)));
                    break;
                }
            }
        }
        Ok((collector.finish().map_err(out_of_memory_error)?, first_fault))
    })?;
    let stats = features.into_iter().map(|feature| {
        (
            feature.name,
            feature.section == Section::Lists,
            feature.kind.map(ValueKind::as_str),
            feature.mixed_kinds,
            feature.num_present,
            (feature.min_count, feature.max_count),
            (feature.min_frames, feature.max_frames),
            (feature.min_bytes, feature.max_bytes),
        )
    });
    Ok((stats.collect(), fault))
}

/// Return whether a payload is a SequenceExample with feature lists.
#[pyfunction]
fn has_feature_lists(payload: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(payload::has_feature_lists(ArrayView::<u8>::from_object(payload)?.as_slice()))
}

/// Adds the functions and classes of payloads to the module.
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
