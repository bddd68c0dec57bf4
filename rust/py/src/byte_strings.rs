//! Python `bytes` objects that are allocated while the GIL is held and filled without it.
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Minimum length of a string for which [`ByteString`] raises MemoryError if the allocation fails.
const MIN_CHECKED: usize = 64 << 10;

/// Bytes to copy to a Python `bytes` object. If there is not enough memory for a long copy, the conversion raises
/// MemoryError, whereas `PyBytes::new` panics.
pub struct ByteString<'b>(pub &'b [u8]);

impl<'py> IntoPyObject<'py> for ByteString<'_> {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if self.0.len() < MIN_CHECKED {
            return Ok(PyBytes::new(py, self.0));
        }
        let strings = ByteStrings::default();
        for (target, &byte) in strings.allocate(py, self.0.len())?.memory().iter_mut().zip(self.0) {
            target.write(byte);
        }
        let string = strings.into_objects().pop();
        Ok(string.map_or_else(|| PyBytes::new(py, b""), |string| string.into_bound(py)))
    }
}

/// Owns `bytes` objects that no other code can access until they are filled.
#[derive(Default)]
pub struct ByteStrings(RefCell<Vec<Py<PyBytes>>>);

/// Uninitialized memory of one `bytes` object that the caller fills.
pub struct StringBuffer<'s> {
    start: *mut MaybeUninit<u8>,
    length: usize,
    strings: PhantomData<&'s ByteStrings>,
}

// SAFETY: only this value can access the memory behind the pointer: `ByteStrings` returns a pointer once, and returns
// the objects only when it is consumed, which is not possible before the end of `'s`.
unsafe impl Send for StringBuffer<'_> {}

impl ByteStrings {
    /// Allocates a string of `length` bytes, which the caller fills.
    pub fn allocate<'s>(&'s self, py: Python<'_>, length: usize) -> PyResult<StringBuffer<'s>> {
        // SAFETY: without a source, the call creates an object with that many arbitrary bytes, or returns null and sets
        // an exception. Only `StringBuffer::memory` creates Rust references to these bytes.
        let string: Py<PyBytes> = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length.try_into()?);
            Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked().unbind()
        };
        // SAFETY: the object is a `bytes` object.
        let start = unsafe { ffi::PyBytes_AsString(string.as_ptr()) };
        self.0.borrow_mut().push(string);
        Ok(StringBuffer { start: start.cast(), length, strings: PhantomData })
    }

    /// Returns the strings in the order of allocation.
    pub fn into_objects(self) -> Vec<Py<PyBytes>> {
        self.0.into_inner()
    }
}

impl StringBuffer<'_> {
    /// Returns the memory of the string for the caller to fill. It is uninitialized at first.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: `start` points to the `length` bytes of an object that `ByteStrings` keeps alive for `'s`. No other
        // code reads or writes them until they are filled. CPython shares the empty string, but that has no bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}
