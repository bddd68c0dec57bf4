//! Python byte strings that are allocated with the GIL and filled without it.
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Owns byte strings that no other code can reach until they are filled.
#[derive(Default)]
pub struct ByteStrings(RefCell<Vec<Py<PyBytes>>>);

/// The memory of one string.
pub struct StringBuffer<'s> {
    start: *mut MaybeUninit<u8>,
    length: usize,
    strings: PhantomData<&'s ByteStrings>,
}

// SAFETY: the pointer leads to memory that is reached by this value alone: `ByteStrings` gives it out once, and gives the objects out only
// when it ends, which it does not do before `'s`.
unsafe impl Send for StringBuffer<'_> {}

impl ByteStrings {
    /// Allocates a string of `length` bytes for filling.
    pub fn make<'s>(&'s self, py: Python<'_>, length: usize) -> PyResult<StringBuffer<'s>> {
        // SAFETY: without a source the call makes an object with that many arbitrary bytes, or gives null and sets an error. No Rust
        // reference to these bytes is made but by `StringBuffer::memory`.
        let string: Py<PyBytes> = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length.try_into()?);
            Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked().unbind()
        };
        // SAFETY: the object is a byte string.
        let start = unsafe { ffi::PyBytes_AsString(string.as_ptr()) };
        self.0.borrow_mut().push(string);
        Ok(StringBuffer { start: start.cast(), length, strings: PhantomData })
    }

    /// The strings in the order in which they were made.
    pub fn into_inner(self) -> Vec<Py<PyBytes>> {
        self.0.into_inner()
    }
}

impl StringBuffer<'_> {
    /// The string's bytes, which hold nothing yet.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: `start` leads to the `length` bytes of a byte string that `ByteStrings` keeps alive for `'s` and that was made to be filled
        // here: nobody reads or writes them meanwhile. An empty string is shared, but has no bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}
