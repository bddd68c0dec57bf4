//! Byte strings that are made by the thread with the interpreter and filled by others.
use std::cell::RefCell;
use std::marker::PhantomData;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Holds byte strings until all threads that fill them have ended; nothing else knows them before.
#[derive(Default)]
pub struct Strings(RefCell<Vec<Vec<Py<PyBytes>>>>);

/// Where the bytes of some strings go that lie behind one another in a buffer.
pub struct Places<'s> {
    places: Vec<(*mut u8, usize)>,
    strings: PhantomData<&'s Strings>,
}

// SAFETY: the pointers lead to memory that nobody but the owner of this value may touch: `Strings` gives neither them nor the
// objects out a second time, and lives longer than `'s`.
unsafe impl Send for Places<'_> {}

impl Strings {
    /// Makes strings of such lengths, to be filled; the second result is their number in [`into_lists`](Self::into_lists).
    pub fn make<'s>(&'s self, py: Python<'_>, row_splits: &[i64]) -> PyResult<(Places<'s>, usize)> {
        let (mut made, mut places) = (Vec::with_capacity(row_splits.len()), Vec::with_capacity(row_splits.len()));
        for pair in row_splits.windows(2) {
            let length = pair[1] - pair[0];
            // SAFETY: without a source the call makes an object of that many arbitrary bytes, or gives null and sets an error.
            let string: Py<PyBytes> = unsafe {
                let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length as isize);
                Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked().unbind()
            };
            // SAFETY: the object is a byte string.
            let start = unsafe { ffi::PyBytes_AsString(string.as_ptr()) };
            places.push((start.cast::<u8>(), length as usize));
            made.push(string);
        }
        Ok((Places { places, strings: PhantomData }, self.add(made)))
    }

    /// Takes strings that are complete.
    pub fn add(&self, strings: Vec<Py<PyBytes>>) -> usize {
        let mut all = self.0.borrow_mut();
        all.push(strings);
        all.len() - 1
    }

    /// All strings, once they are filled.
    pub fn into_lists(self, py: Python<'_>) -> PyResult<Vec<Py<PyList>>> {
        self.0.into_inner().into_iter().map(|strings| Ok(PyList::new(py, strings)?.unbind())).collect()
    }
}

impl Places<'_> {
    /// Fills the strings with `data`, which is as long as all of them.
    pub fn fill(self, data: &[u8]) {
        assert_eq!(self.places.iter().map(|(_, length)| length).sum::<usize>(), data.len());
        let mut rest = data;
        for (start, length) in self.places {
            let (string, behind) = rest.split_at(length);
            // SAFETY: `start` leads to the `length` bytes of a byte string that `Strings` keeps alive for `'s`. It was made for this
            // and is known to nobody else yet, so that nothing reads or writes it meanwhile; an empty string is shared, but takes no
            // bytes. `self` is gone afterwards.
            unsafe { std::ptr::copy_nonoverlapping(string.as_ptr(), start, length) };
            rest = behind;
        }
    }
}
