//! Byte strings that are made while the interpreter is held, and filled while it is not.
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Holds byte strings that nothing else knows until they are filled.
#[derive(Default)]
pub struct Strings(RefCell<Vec<Py<PyBytes>>>);

/// The memory of one of the strings.
pub struct Place<'s> {
    start: *mut MaybeUninit<u8>,
    length: usize,
    strings: PhantomData<&'s Strings>,
}

// SAFETY: the pointer leads to memory that is reached by this value alone: `Strings` gives it out once, and gives the objects out only
// when it ends, which it does not do before `'s`.
unsafe impl Send for Place<'_> {}

impl Strings {
    /// Makes a string of so many bytes, to be filled.
    pub fn make<'s>(&'s self, py: Python<'_>, length: usize) -> PyResult<Place<'s>> {
        // SAFETY: without a source the call makes an object with that many arbitrary bytes, or gives null and sets an error. No Rust
        // reference to these bytes is made but by `Place::memory`.
        let string: Py<PyBytes> = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length.try_into()?);
            Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked().unbind()
        };
        // SAFETY: the object is a byte string.
        let start = unsafe { ffi::PyBytes_AsString(string.as_ptr()) };
        self.0.borrow_mut().push(string);
        Ok(Place { start: start.cast(), length, strings: PhantomData })
    }

    /// The strings in the order in which they were made.
    pub fn into_inner(self) -> Vec<Py<PyBytes>> {
        self.0.into_inner()
    }
}

impl Place<'_> {
    /// The string's bytes, which hold nothing yet.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: `start` leads to the `length` bytes of a byte string that `Strings` keeps alive for `'s` and that was made to be filled
        // here: nobody reads or writes them meanwhile. An empty string is shared, but has no bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}
