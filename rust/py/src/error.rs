//! Errors of the core as Python exceptions. The Python code adds the shard and chooses the public class.
use std::io::{self, ErrorKind};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::framing::ReadFailure;
use recordmill_core::memory::OutOfMemory;
use recordmill_core::source::SourceError;

use crate::files::CANNOT_SEEK;

create_exception!(
    recordmill._core,
    CoreFault,
    PyException,
    "Damaged data or an exceeded limit: args are (kind, ordinal or None, offset, expected, found, message)."
);
create_exception!(
    recordmill._core,
    CoreChanged,
    PyException,
    "The file changed after it was opened: args are (detail,)."
);

/// A fault as a tuple: kind, ordinal of the record, offset, expected, found, message.
pub type FaultTuple = (&'static str, Option<usize>, u64, String, String, String);

/// Converts a fault to a tuple for Python.
pub fn fault_tuple(fault: Fault, ordinal: Option<usize>) -> FaultTuple {
    (fault.kind.as_str(), ordinal, fault.offset, fault.expected, fault.found, fault.message)
}

/// Returns the exception for a fault: MemoryError if there is not enough memory, otherwise CoreFault.
pub fn fault_error(fault: Fault, ordinal: Option<usize>) -> PyErr {
    match fault.kind {
        FaultKind::OutOfMemory => memory_error(fault.message, ordinal),
        _ => CoreFault::new_err(fault_tuple(fault, ordinal)),
    }
}

/// Returns a MemoryError whose attribute `ordinal` is the ordinal of the record.
fn memory_error(message: String, ordinal: Option<usize>) -> PyErr {
    with_ordinal(PyMemoryError::new_err(message), ordinal)
}

/// Sets the attribute `ordinal` of an exception to the ordinal of the record.
fn with_ordinal(error: PyErr, ordinal: Option<usize>) -> PyErr {
    // If the attribute cannot be set, the error does not name the record.
    Python::attach(|py| drop(error.value(py).setattr("ordinal", ordinal)));
    error
}

/// Returns the exception for a failed allocation that belongs to no record.
pub fn out_of_memory_error(error: OutOfMemory) -> PyErr {
    fault_error(error.into(), None)
}

/// Returns the message for an error number of the operating system.
pub fn os_error_message(code: i32) -> String {
    match code {
        CANNOT_SEEK => "this is a pipe or a device, not a file that supports random access".to_owned(),
        _ => std::io::Error::from_raw_os_error(code).to_string(),
    }
}

/// Returns the exception for a read error. An OSError or CoreChanged has an attribute `ordinal`, as a MemoryError has.
pub fn source_error(error: SourceError, ordinal: Option<usize>) -> PyErr {
    match error {
        SourceError::Io(error) => io_error(error, ordinal),
        SourceError::Fault(fault) => fault_error(fault, ordinal),
        SourceError::Changed(detail) => with_ordinal(CoreChanged::new_err((detail,)), ordinal),
    }
}

fn io_error(error: io::Error, ordinal: Option<usize>) -> PyErr {
    let raised = error.downcast::<PyErr>().unwrap_or_else(|error| match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, os_error_message(code))),
        // The path contains a NUL byte. Python's `open` raises ValueError for such a path, too.
        None if error.kind() == ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
        None => PyRuntimeError::new_err(error.to_string()),
    });
    if is_os_error(&raised) { with_ordinal(raised, ordinal) } else { raised }
}

/// Returns whether a read failed because Python code raised an exception that is not an OSError. Reading again might
/// succeed and hide the exception, for example a KeyboardInterrupt.
pub fn is_python_exception(error: &SourceError) -> bool {
    let SourceError::Io(error) = error else { return false };
    let raised = error.get_ref().and_then(|error| error.downcast_ref::<PyErr>());
    raised.is_some_and(|raised| !is_os_error(raised))
}

fn is_os_error(raised: &PyErr) -> bool {
    Python::attach(|py| raised.is_instance_of::<PyOSError>(py))
}

/// Returns the exception for a failed read of selected frames.
pub fn read_failure_error(failure: ReadFailure) -> PyErr {
    source_error(failure.error, Some(failure.ordinal))
}
