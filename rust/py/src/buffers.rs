//! Memory shared with Python through the buffer protocol: results, array arguments, and a pool of reusable buffers.
use std::ffi::{CStr, c_int, c_void};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Mutex;

use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView, PyType};
use recordmill_core::memory;

/// Preferred capacity of a buffer whose final size is unknown.
const USUAL_CAPACITY: usize = 256 << 10;
/// Minimum capacity of a pooled buffer.
const MIN_POOLED: usize = 64 << 10;
/// Maximum total capacity of the pooled buffers.
const MAX_POOL_BYTES: usize = 96 << 20;
/// Maximum number of pooled buffers; more are rarely reused.
const MAX_POOL_LEN: usize = 8;

static POOL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Takes a buffer from the pool, or returns an empty one. The buffer has arbitrary content.
///
/// Reuse is faster, because the first access to new memory pages costs more than copying.
pub fn take_pooled_buffer() -> Vec<u8> {
    take_pooled_with_capacity(USUAL_CAPACITY..=usize::MAX)
        .or_else(|| take_pooled_with_capacity(0..=USUAL_CAPACITY))
        .unwrap_or_default()
}

/// Returns an empty buffer with capacity for `num_bytes`: a pooled one that is not much larger, or a new one.
pub fn allocate_buffer(num_bytes: usize) -> Vec<u8> {
    let mut buffer = take_pooled_with_capacity(num_bytes..=num_bytes.saturating_mul(4)).unwrap_or_default();
    buffer.clear();
    // If there is not enough memory now, the buffer grows while it is filled.
    let _ = buffer.try_reserve_exact(num_bytes);
    buffer
}

/// Copies the content to a smaller buffer if most of the capacity is unused, because Python may keep the result for
/// long. Keeps the buffer if there is not enough memory for the copy.
pub fn shrink_if_oversized(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() <= buffer.len().saturating_mul(4).max(USUAL_CAPACITY) {
        return buffer;
    }
    match memory::copy(&buffer) {
        Ok(copy) => {
            recycle_buffer(buffer);
            copy
        }
        Err(_) => buffer,
    }
}

/// Takes the smallest pooled buffer with a capacity in the given range.
fn take_pooled_with_capacity(range: RangeInclusive<usize>) -> Option<Vec<u8>> {
    // If the process is forked while another thread holds the lock, the lock stays locked in the child process. So this
    // must not wait for it.
    let mut pool = POOL.try_lock().ok()?;
    let candidates = pool.iter().enumerate().filter(|(_, buffer)| range.contains(&buffer.capacity()));
    let index = candidates.min_by_key(|(_, buffer)| buffer.capacity())?.0;
    Some(pool.swap_remove(index))
}

/// Adds a buffer to the pool for [`take_pooled_buffer`].
pub fn recycle_buffer(buffer: Vec<u8>) {
    if buffer.len() < MIN_POOLED {
        return;
    }
    // This must not wait for the lock: a forked process may have inherited it in the locked state.
    if let Ok(mut pool) = POOL.try_lock() {
        let pool_bytes: usize = pool.iter().map(Vec::capacity).sum();
        if pool.len() < MAX_POOL_LEN && pool_bytes + buffer.capacity() <= MAX_POOL_BYTES {
            pool.push(buffer);
        }
    }
}

/// A vector of one of the supported element types.
pub enum NumberVec {
    /// Bytes.
    UInt8(Vec<u8>),
    /// Unsigned 16-bit integers, or the bits of 16-bit floats.
    UInt16(Vec<u16>),
    /// Signed 32-bit integers.
    Int32(Vec<i32>),
    /// Signed 64-bit integers.
    Int64(Vec<i64>),
    /// Unsigned 64-bit integers.
    UInt64(Vec<u64>),
    /// 32-bit floats.
    Float32(Vec<f32>),
    /// 64-bit floats.
    Float64(Vec<f64>),
}

impl NumberVec {
    /// Returns the address, the number of elements, the bytes per element, and the format string of the buffer
    /// protocol.
    fn buffer_layout(&self) -> (*const c_void, usize, isize, &'static CStr) {
        match self {
            Self::UInt8(values) => (values.as_ptr().cast(), values.len(), 1, c"B"),
            Self::UInt16(values) => (values.as_ptr().cast(), values.len(), 2, c"H"),
            Self::Int32(values) => (values.as_ptr().cast(), values.len(), 4, c"i"),
            Self::Int64(values) => (values.as_ptr().cast(), values.len(), 8, c"q"),
            Self::UInt64(values) => (values.as_ptr().cast(), values.len(), 8, c"Q"),
            Self::Float32(values) => (values.as_ptr().cast(), values.len(), 4, c"f"),
            Self::Float64(values) => (values.as_ptr().cast(), values.len(), 8, c"d"),
        }
    }
}

/// One-dimensional array that owns its memory; `numpy.asarray` converts it without a copy.
#[pyclass(frozen, module = "recordmill._core")]
pub struct Block {
    numbers: NumberVec,
    is_immutable: bool,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Block {
    /// Creates an array that owns the numbers.
    pub fn new(numbers: NumberVec) -> Self {
        let (_, length, itemsize, _) = numbers.buffer_layout();
        Self { numbers, is_immutable: false, shape: [length as isize], strides: [itemsize] }
    }

    /// Creates a writable `uint8` array that owns `data`.
    pub fn from_bytes(data: Vec<u8>) -> Self {
        Self::new(NumberVec::UInt8(data))
    }

    /// Creates a read-only `uint8` array of the first `len` bytes of `buffer`. Because nobody can change it, native
    /// functions read it without a copy.
    pub fn immutable_bytes(buffer: Vec<u8>, len: usize) -> Self {
        assert!(len <= buffer.len());
        Self { is_immutable: true, shape: [len as isize], strides: [1], numbers: NumberVec::UInt8(buffer) }
    }

    /// Creates a writable `int64` array that owns `data`.
    pub fn from_integers(data: Vec<i64>) -> Self {
        Self::new(NumberVec::Int64(data))
    }
}

#[pymethods]
impl Block {
    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    /// # Safety
    /// `view` is the request of CPython's buffer protocol, which calls this with a valid pointer.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("the buffer request has no Py_buffer to fill"));
        }
        let block = slf.get();
        if block.is_immutable && flags & ffi::PyBUF_WRITABLE != 0 {
            return Err(PyBufferError::new_err("the array is read-only"));
        }
        let (pointer, _, itemsize, format) = block.numbers.buffer_layout();
        // SAFETY: `view` points to a Py_buffer (see above). `shape` is at most the vector's length. The vector, `shape`
        // and `strides` are part of the frozen object, never move and never change their length, and `view.obj` keeps
        // the object alive until the buffer is released.
        unsafe {
            (*view).buf = pointer.cast_mut();
            (*view).len = block.shape[0] * itemsize;
            (*view).readonly = block.is_immutable.into();
            (*view).itemsize = itemsize;
            (*view).format =
                if flags & ffi::PyBUF_FORMAT == 0 { std::ptr::null_mut() } else { format.as_ptr().cast_mut() };
            (*view).ndim = 1;
            (*view).shape = block.shape.as_ptr().cast_mut();
            (*view).strides = block.strides.as_ptr().cast_mut();
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let NumberVec::UInt8(data) = &mut self.numbers {
            recycle_buffer(std::mem::take(data));
        }
    }
}

// Array arguments. While the interpreter lock is released, other threads may write to the memory of mutable objects, but
// a Rust slice must not change while it exists. So the elements of mutable objects are copied first.

/// Copies an array argument.
pub fn copy_array<T: pyo3::buffer::Element>(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let buffer = PyBuffer::<T>::get(object)?;
    if buffer.is_c_contiguous() {
        return with_elements(object, copy_elements)?;
    }
    // `to_vec` aborts the process if there is not enough memory.
    memory::check_available(buffer.len_bytes()).map_err(memory_error)?;
    buffer.to_vec(py)
}

/// Calls `read` with the elements of a contiguous array argument. `read` must not run Python code, which could write to
/// the array, and must not release the interpreter lock.
pub fn with_elements<T: pyo3::buffer::Element, R>(
    object: &Bound<'_, PyAny>,
    read: impl FnOnce(&[T]) -> R,
) -> PyResult<R> {
    let buffer = get_contiguous_buffer::<T>(object)?;
    // SAFETY: the interpreter lock is held (`object` proves it), and `read` neither releases it nor runs Python code.
    Ok(read(unsafe { elements(&buffer) }))
}

fn copy_elements<T: Copy>(elements: &[T]) -> PyResult<Vec<T>> {
    memory::copy(elements).map_err(memory_error)
}

/// Returns the MemoryError for a failed allocation.
pub fn memory_error(error: impl Display) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

fn get_contiguous_buffer<T: pyo3::buffer::Element>(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<T>> {
    let buffer = PyBuffer::<T>::get(object)?;
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("the array must be contiguous"));
    }
    Ok(buffer)
}

/// Returns the elements of a contiguous buffer.
///
/// # Safety
/// Nothing may write to the memory while the result exists.
unsafe fn elements<T: pyo3::buffer::Element>(buffer: &PyBuffer<T>) -> &[T] {
    if buffer.item_count() == 0 {
        return &[];
    }
    // SAFETY: the buffer keeps the memory alive and in place; PyBuffer checked element type, alignment and contiguity.
    // The elements are plain numbers, for which every bit pattern is valid. Nothing writes to them (see above).
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<T>(), buffer.item_count()) }
}

/// A contiguous array argument that can be read while the interpreter lock is released: immutable memory, or a copy.
pub struct ArrayView<T: pyo3::buffer::Element>(ArrayMemory<T>);

enum ArrayMemory<T: pyo3::buffer::Element> {
    Immutable(PyBuffer<T>),
    Copied(Vec<T>),
}

impl<T: pyo3::buffer::Element> ArrayView<T> {
    /// Gets the buffer of an object. The buffer must be contiguous and have elements of type `T`.
    pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = get_contiguous_buffer(object)?;
        if buffer.readonly() && is_immutable(object)? {
            return Ok(Self(ArrayMemory::Immutable(buffer)));
        }
        drop(buffer);
        Ok(Self(ArrayMemory::Copied(with_elements(object, copy_elements)??)))
    }

    /// Returns the elements.
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            // SAFETY: the memory belongs to an immutable object, see `is_immutable`.
            ArrayMemory::Immutable(buffer) => unsafe { elements(buffer) },
            ArrayMemory::Copied(values) => values,
        }
    }
}

/// Returns whether an object is a `bytes` object, an immutable `Block` or a `Bytes` of obstore, or a memoryview or a NumPy
/// array of one.
fn is_immutable(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let ndarray = NDARRAY.import(object.py(), "numpy", "ndarray")?;
    let mut owner = object.clone();
    loop {
        owner = if owner.is_exact_instance(ndarray) {
            owner.getattr("base")?
        } else if owner.is_exact_instance_of::<PyMemoryView>() {
            owner.getattr("obj")?
        } else {
            let block = owner.cast::<Block>().ok();
            let is_immutable_block = block.is_some_and(|block| block.get().is_immutable);
            return Ok(is_immutable_block || owner.is_instance_of::<PyBytes>() || is_obstore_bytes(&owner)?);
        }
    }
}

/// Returns whether an object is a response of obstore. Its class owns reference-counted memory, exports it read-only, and
/// has no method that changes it.
fn is_obstore_bytes(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    Ok(class.name()? == "Bytes" && class.module()? == "obstore")
}

/// A contiguous array argument that is written in place, also while the interpreter lock is released.
///
/// Python code must not use the array during the call, as for the outputs of NumPy's functions.
pub struct ArrayViewMut<T: pyo3::buffer::Element>(PyBuffer<T>);

impl<T: pyo3::buffer::Element> ArrayViewMut<T> {
    /// Gets the buffer of an object. The buffer must be writable and contiguous and have elements of type `T`.
    pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::get(object)?;
        if !buffer.is_c_contiguous() || buffer.readonly() {
            return Err(PyValueError::new_err("the array must be contiguous and writable"));
        }
        Ok(Self(buffer))
    }

    /// Fails if the array shares memory with an input of the same call.
    pub fn check_no_overlap(&self, input: &Bound<'_, PyAny>) -> PyResult<()> {
        let input = PyUntypedBuffer::get(input)?;
        let (output, other) = (self.0.buf_ptr() as usize, input.buf_ptr() as usize);
        if output < other + input.len_bytes() && other < output + self.0.len_bytes() {
            return Err(PyValueError::new_err("the output must not share memory with an input"));
        }
        Ok(())
    }

    /// Returns the elements.
    pub fn as_slice(&mut self) -> &mut [T] {
        if self.0.item_count() == 0 {
            return &mut [];
        }
        // SAFETY: as for `elements`. The exporter declares the memory writable, `&mut self` allows only one reference at a
        // time, and the memory is not an input (`check_no_overlap`). Callers must not use the array during the call.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<T>(), self.0.item_count()) }
    }
}
