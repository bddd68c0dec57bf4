//! Data sources that read by calling a Python function, for storages other than the local file system.
use std::io::{self, ErrorKind};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyInterruptedError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use recordmill_core::source::{ReadAt, SourceError, read_exact_at};

use crate::buffers::with_elements;

/// Largest size of a file on Linux.
const MAX_NUM_BYTES: u64 = i64::MAX as u64;

/// A source whose bytes are read by calls of a Python function.
pub struct ReaderSource {
    read: Py<PyAny>,
    num_bytes: u64,
}

impl ReaderSource {
    /// Creates a source of `num_bytes` bytes. `read(offset, length)` returns the bytes of a range.
    pub fn new(read: &Bound<'_, PyAny>, num_bytes: u64) -> PyResult<Self> {
        if !read.is_callable() {
            return Err(PyTypeError::new_err(format!("read must be callable, got {}", read.get_type().name()?)));
        }
        if num_bytes > MAX_NUM_BYTES {
            return Err(PyValueError::new_err(format!("num_bytes must be at most {MAX_NUM_BYTES}, got {num_bytes}")));
        }
        register_at_exit(read.py())?;
        Ok(Self { read: read.clone().unbind(), num_bytes })
    }

    fn call(&self, py: Python<'_>, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let result = self.read.call1(py, (offset, buf.len())).and_then(|data| copy_to(data.bind(py), buf));
        result.map_err(|raised| {
            if !raised.is_instance_of::<PyInterruptedError>(py) {
                return io::Error::other(raised);
            }
            // `Interrupted` makes the caller repeat the read, as Python does, unless the signal handler raises.
            py.check_signals().map_or_else(io::Error::other, |()| ErrorKind::Interrupted.into())
        })
    }
}

impl ReadAt for ReaderSource {
    fn num_bytes(&self) -> Option<u64> {
        Some(self.num_bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let len = buf.len().min(usize::try_from(self.num_bytes.saturating_sub(offset)).unwrap_or(usize::MAX));
        if len > 0 {
            let _call = ThreadCall::start()?;
            read_exact_at(self.num_bytes, offset, &mut buf[..len], |offset, buf| {
                Python::attach(|py| self.call(py, offset, buf))
            })?;
        }
        Ok(len)
    }
}

/// Copies the bytes that `read` has returned to `buf`. Returns their number.
fn copy_to(data: &Bound<'_, PyAny>, buf: &mut [u8]) -> PyResult<usize> {
    let requested = buf.len();
    let count = with_elements(data, |data: &[u8]| {
        if let Some(buf) = buf.get_mut(..data.len()) {
            buf.copy_from_slice(data);
        }
        data.len()
    })?;
    if count > requested {
        let message = format!("read must return at most the requested {requested} bytes, got {count}");
        return Err(PyValueError::new_err(message));
    }
    Ok(count)
}

// Native threads must not call Python while the interpreter exits, because it ends or blocks such threads. So the
// interpreter waits at exit for the calls of native threads, and later calls fail.

/// True once the interpreter has started to exit.
static IS_EXITING: AtomicBool = AtomicBool::new(false);
/// Lower 32 bits: number of native threads that are calling Python. Upper 32 bits: id of their process, because a
/// forked process has none of the threads of its parent.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Counts a call of Python by a native thread, until this object is dropped.
struct ThreadCall;

impl ThreadCall {
    /// Starts to count a call. Returns `None` in a thread of Python, which needs no count. Fails if the interpreter is
    /// exiting.
    fn start() -> io::Result<Option<Self>> {
        // SAFETY: this function may be called at any time once the interpreter is initialized, and a `ReaderSource`
        // exists only then.
        let is_python_thread = !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null();
        if is_python_thread {
            return Ok(None);
        }
        let add_call = |calls| if has_own_calls(calls) { calls + 1 } else { (u64::from(process::id()) << 32) + 1 };
        let _ = CALLS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |calls| Some(add_call(calls)));
        let call = Self;
        // Check this only after the call is counted. If it is false, `wait_for_calls` then waits for the call.
        if IS_EXITING.load(Ordering::SeqCst) {
            return Err(io::Error::other("the Python interpreter is exiting"));
        }
        Ok(Some(call))
    }
}

impl Drop for ThreadCall {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns true if `calls` counts calls of this process, and not of the process from which it was forked.
fn has_own_calls(calls: u64) -> bool {
    calls >> 32 == u64::from(process::id())
}

/// Registers `wait_for_calls` with Python's `atexit`, once.
fn register_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: PyOnceLock<()> = PyOnceLock::new();
    let register = || py.import("atexit")?.call_method1("register", (wrap_pyfunction!(wait_for_calls, py)?,)).map(drop);
    REGISTERED.get_or_try_init(py, register).copied()
}

/// Wait until no native thread calls Python; later calls fail.
#[pyfunction]
fn wait_for_calls(py: Python<'_>) {
    IS_EXITING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let has_calls = |calls| has_own_calls(calls) && calls as u32 > 0;
        while has_calls(CALLS.load(Ordering::SeqCst)) {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
