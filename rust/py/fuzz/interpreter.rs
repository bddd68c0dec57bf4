//! The Python interpreter of a fuzz target: it imports the check of the target from `tests/fuzz` and passes it each
//! input. Run the targets with the project's `.venv` activated, as `make fuzz` does.
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

// Links the library that defines `PyInit__core`.
use _core as _;

/// Counters that libFuzzer reads as coverage, for the lines of Python files.
#[used]
#[unsafe(link_section = "__libfuzzer_extra_counters")]
static LINE_COUNTERS: [AtomicU8; 1 << 14] = [const { AtomicU8::new(0) }; 1 << 14];

static CHECK: OnceLock<Py<PyAny>> = OnceLock::new();

const SETUP: &CStr = c"
import sys
import _core
sys.modules['recordmill._core'] = _core
sys.path[:0] = [root + '/src', root]
from tests.fuzz import line_coverage
check = line_coverage.load_check(target, counters_address, num_counters)
";

unsafe extern "C" {
    /// Creates the module `_core`; pyo3 defines it for `#[pymodule]`.
    fn PyInit__core() -> *mut ffi::PyObject;
}

/// Settings of the address sanitizer: Python does not free all memory at exit, and a larger allocation than 512
/// MiB fails as if there were no memory.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    c"detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=512".as_ptr()
}

/// Starts the interpreter and imports the check of a target.
pub fn start(target: &str) {
    // SAFETY: this runs before the first input, when no other thread reads the environment and the interpreter is not
    // initialized; the module's name is static.
    unsafe {
        // Python's own allocator would hide errors from the sanitizer.
        std::env::set_var("PYTHONMALLOC", "malloc");
        ffi::PyImport_AppendInittab(c"_core".as_ptr(), Some(PyInit__core));
    }
    Python::initialize();
    let loaded = Python::attach(|py| -> PyResult<Py<PyAny>> {
        let names = pyo3::types::PyDict::new(py);
        names.set_item("root", concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))?;
        names.set_item("target", target)?;
        names.set_item("counters_address", LINE_COUNTERS.as_ptr() as usize)?;
        names.set_item("num_counters", LINE_COUNTERS.len())?;
        py.run(SETUP, Some(&names), None)?;
        Ok(names.get_item("check")?.expect("set by SETUP").unbind())
    });
    CHECK.set(loaded.unwrap_or_else(|error| fail(error))).expect("start runs once");
}

/// Checks one input; an exception is a finding.
pub fn check(input: &[u8]) {
    Python::attach(|py| {
        let check = CHECK.get().expect("start has run");
        check.call1(py, (PyBytes::new(py, input),)).map_or_else(|error| fail(error), |_| ());
    });
}

/// Prints an exception and its traceback, and aborts.
fn fail(error: PyErr) -> ! {
    Python::attach(|py| error.print(py));
    panic!("the check raised an exception");
}
