//! Memory shared with Python through the buffer protocol: results, array arguments, and a pool of reusable buffers.
use std::ffi::{CStr, c_int, c_void};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::Mutex;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

/// Preferred capacity of a buffer whose final size is unknown.
const USUAL_CAPACITY: usize = 256 << 10;
/// Smaller buffers are not pooled.
const MIN_POOLED: usize = 64 << 10;
/// Maximum total capacity of the pooled buffers.
const MAX_POOL_BYTES: usize = 96 << 20;
/// Maximum number of pooled buffers; more are rarely reused.
const MAX_POOL_LEN: usize = 8;

static POOL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Takes a buffer from the pool, or returns an empty one. The buffer has arbitrary content.
///
/// Reuse pays because the first access to fresh pages costs more than copying.
pub fn take_pooled_buffer() -> Vec<u8> {
    take_with_capacity(USUAL_CAPACITY..=usize::MAX)
        .or_else(|| take_with_capacity(0..=USUAL_CAPACITY))
        .unwrap_or_default()
}

/// Returns an empty buffer with capacity for `num_bytes`: a pooled one that is not much larger, or a new one.
pub fn allocate_buffer(num_bytes: usize) -> Vec<u8> {
    let mut buffer = take_with_capacity(num_bytes..=num_bytes.saturating_mul(4)).unwrap_or_default();
    buffer.clear();
    // If this fails, the buffer grows while it is filled.
    let _ = buffer.try_reserve_exact(num_bytes);
    buffer
}

/// Returns `length` zeros, or MemoryError if there is no memory for them.
pub fn allocate_zeros(length: usize) -> PyResult<Vec<u8>> {
    let mut data = Vec::<u8>::new();
    data.try_reserve_exact(length).map_err(|_| PyMemoryError::new_err(format!("cannot allocate {length} bytes")))?;
    // Only `vec!` gets zeros from the system without writing them, but it aborts if there is no memory.
    drop(black_box(data));
    Ok(vec![0; length])
}

/// Copies the content of a buffer whose capacity is much larger, because Python may keep the result for a long time.
pub fn shrink_if_oversized(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() <= buffer.len().saturating_mul(4).max(USUAL_CAPACITY) {
        return buffer;
    }
    let copy = buffer.clone();
    recycle_buffer(buffer);
    copy
}

/// Takes the smallest pooled buffer with a capacity in the given range.
fn take_with_capacity(range: RangeInclusive<usize>) -> Option<Vec<u8>> {
    // A fork while another thread holds the lock leaves it locked in the child, so this must not wait.
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
    // Must not wait for the lock, see `take_with_capacity`.
    if let Ok(mut pool) = POOL.try_lock() {
        let pool_bytes: usize = pool.iter().map(Vec::capacity).sum();
        if pool.len() < MAX_POOL_LEN && pool_bytes + buffer.capacity() <= MAX_POOL_BYTES {
            pool.push(buffer);
        }
    }
}

/// A vector of one of the supported element types.
pub enum Numbers {
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

impl Numbers {
    /// Returns the address, the number of elements, the bytes per element, and the format of the buffer protocol.
    fn layout(&self) -> (*const c_void, usize, isize, &'static CStr) {
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
    numbers: Numbers,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Block {
    /// Wraps a vector.
    pub fn new(numbers: Numbers) -> Self {
        let (_, length, itemsize, _) = numbers.layout();
        Self { numbers, shape: [length as isize], strides: [itemsize] }
    }

    /// Wraps bytes.
    pub fn bytes(data: Vec<u8>) -> Self {
        Self::new(Numbers::UInt8(data))
    }

    /// Wraps the first `len` bytes of a buffer.
    pub fn prefix(buffer: Vec<u8>, len: usize) -> Self {
        assert!(len <= buffer.len());
        Self { shape: [len as isize], strides: [1], numbers: Numbers::UInt8(buffer) }
    }

    /// Wraps 64-bit integers.
    pub fn integers(data: Vec<i64>) -> Self {
        Self::new(Numbers::Int64(data))
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
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let block = slf.get();
        let (pointer, _, itemsize, format) = block.numbers.layout();
        // SAFETY: `view` points to a Py_buffer (see above). `shape` is at most the vector's length. The vector, `shape`
        // and `strides` are part of the frozen object, never move and never change their length, and `view.obj` keeps
        // the object alive until the buffer is released.
        unsafe {
            (*view).buf = pointer.cast_mut();
            (*view).len = block.shape[0] * itemsize;
            (*view).readonly = 0;
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
        if let Numbers::UInt8(data) = &mut self.numbers {
            recycle_buffer(std::mem::take(data));
        }
    }
}

/// Copies a contiguous array argument.
pub fn copy_array<T: pyo3::buffer::Element>(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(py)
}

/// A contiguous array argument that is read in place, also while the interpreter lock is released.
pub struct View<T: pyo3::buffer::Element>(PyBuffer<T>);

impl<T: pyo3::buffer::Element> View<T> {
    /// Gets the buffer of an object; it must be contiguous and have this element type.
    pub fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the array must be contiguous"));
        }
        Ok(Self(buffer))
    }

    /// Returns the elements.
    pub fn slice(&self) -> &[T] {
        if self.0.item_count() == 0 {
            return &[];
        }
        // SAFETY: the exported buffer keeps the memory alive and in place; PyBuffer checked element type, alignment and
        // contiguity. Callers must not write to an argument during the call, as with NumPy's own functions that release
        // the lock. The elements are plain numbers, for which every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<T>(), self.0.item_count()) }
    }
}

/// A contiguous array argument that is written in place, also while the interpreter lock is released.
pub struct ViewMut<T: pyo3::buffer::Element>(PyBuffer<T>);

impl<T: pyo3::buffer::Element> ViewMut<T> {
    /// Gets the buffer of an object; it must be writable and contiguous and have this element type.
    pub fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::get(object)?;
        if !buffer.is_c_contiguous() || buffer.readonly() {
            return Err(PyValueError::new_err("the array must be contiguous and writable"));
        }
        Ok(Self(buffer))
    }

    /// Returns the elements.
    pub fn slice(&mut self) -> &mut [T] {
        if self.0.item_count() == 0 {
            return &mut [];
        }
        // SAFETY: as for `View::slice`. The exporter declares the memory writable, and `&mut self` allows only one
        // reference at a time. Callers must not access the output during the call.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<T>(), self.0.item_count()) }
    }
}
