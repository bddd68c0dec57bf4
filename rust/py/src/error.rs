//! Faults of the core as one structured Python exception; the Python side adds the shard and picks the class.
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use recordmill_core::error::Fault;
use recordmill_core::framing::ReadFailure;
use recordmill_core::source::SourceError;

use crate::files::CANNOT_SEEK;

create_exception!(
    recordmill._core,
    CoreFault,
    PyException,
    "Damage or a limit: args are (kind, ordinal or None, offset, expected, found, message)."
);
create_exception!(
    recordmill._core,
    CoreChanged,
    PyException,
    "The file changed after it was opened: args are (detail,)."
);

/// A fault as plain parts.
pub type FaultParts = (&'static str, Option<usize>, u64, String, String, String);

/// The parts of a fault, as they go to Python.
pub fn parts(fault: Fault, ordinal: Option<usize>) -> FaultParts {
    (fault.kind.as_str(), ordinal, fault.offset, fault.expected, fault.found, fault.message)
}

/// The exception for a fault.
pub fn fault_error(fault: Fault, ordinal: Option<usize>) -> PyErr {
    CoreFault::new_err(parts(fault, ordinal))
}

/// What an error number of the system says here.
pub fn os_text(code: i32) -> String {
    match code {
        CANNOT_SEEK => "this is a pipe or a device, no file that can be read from any place".to_owned(),
        _ => std::io::Error::from_raw_os_error(code).to_string(),
    }
}

/// The exception for what a source or a record did.
pub fn source_error(error: SourceError, ordinal: Option<usize>) -> PyErr {
    match error {
        SourceError::Io(error) => match error.raw_os_error() {
            Some(code) => PyOSError::new_err((code, os_text(code))),
            None => PyRuntimeError::new_err(error.to_string()),
        },
        SourceError::Fault(fault) => fault_error(fault, ordinal),
        SourceError::Changed(detail) => CoreChanged::new_err((detail,)),
    }
}

/// The exception for a gather that stopped.
pub fn read_failure(stopped: ReadFailure) -> PyErr {
    source_error(stopped.error, Some(stopped.ordinal))
}
