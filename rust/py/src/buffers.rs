//! Memory that Python sees through the buffer protocol, and integer and byte arguments that come the same way.
use std::ffi::{CStr, c_int, c_void};
use std::sync::Mutex;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

/// Bytes that are usually wanted where it is not known how many will be.
const USUAL: usize = 256 << 10;
/// Byte buffers smaller than this are not worth keeping.
const POOL_MIN: usize = 64 << 10;
/// Bytes that idle buffers may hold together.
const POOL_MAX: usize = 96 << 20;
/// More buffers than this are in nobody's way to be used again.
const POOL_COUNT: usize = 8;

static POOL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Memory of a buffer that was given back, with what it held, or none; fresh pages cost more than copying.
pub fn take_buffer() -> Vec<u8> {
    take_between(USUAL, usize::MAX).or_else(|| take_between(0, USUAL)).unwrap_or_default()
}

/// Memory with room for `num_bytes`: of a buffer that was given back and is not much larger, or fresh.
pub fn take_room(num_bytes: usize) -> Vec<u8> {
    let mut memory = take_between(num_bytes, num_bytes.saturating_mul(4)).unwrap_or_default();
    memory.clear();
    // Without room it grows as it is filled.
    let _ = memory.try_reserve_exact(num_bytes);
    memory
}

/// Memory that a caller may hold for long: as it is, or a copy of what it holds where it is much larger.
pub fn fitting(memory: Vec<u8>) -> Vec<u8> {
    if memory.capacity() <= memory.len().saturating_mul(4).max(USUAL) {
        return memory;
    }
    let copy = memory.clone();
    give_buffer(memory);
    copy
}

fn take_between(least: usize, most: usize) -> Option<Vec<u8>> {
    let mut pool = POOL.try_lock().ok()?;
    let fitting = pool.iter().enumerate().filter(|(_, buffer)| (least..=most).contains(&buffer.capacity()));
    let place = fitting.min_by_key(|(_, buffer)| buffer.capacity())?.0;
    Some(pool.swap_remove(place))
}

/// Keeps memory for [`take_buffer`]. `try_lock`: a fork may have left the lock held for ever.
pub fn give_buffer(buffer: Vec<u8>) {
    if buffer.len() < POOL_MIN {
        return;
    }
    if let Ok(mut pool) = POOL.try_lock() {
        let held: usize = pool.iter().map(Vec::capacity).sum();
        if pool.len() < POOL_COUNT && held + buffer.capacity() <= POOL_MAX {
            pool.push(buffer);
        }
    }
}

/// One vector of numbers.
pub enum Numbers {
    /// Bytes.
    UInt8(Vec<u8>),
    /// 16-bit integers, or the bits of half floats.
    UInt16(Vec<u16>),
    /// 32-bit integers.
    Int32(Vec<i32>),
    /// 64-bit integers.
    Int64(Vec<i64>),
    /// Unsigned 64-bit integers.
    UInt64(Vec<u64>),
    /// Single precision.
    Float32(Vec<f32>),
    /// Double precision.
    Float64(Vec<f64>),
}

impl Numbers {
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

/// A one-dimensional array that owns its memory; `numpy.asarray` makes an array of it without a copy.
#[pyclass(frozen, module = "recordmill._core")]
pub struct Block {
    numbers: Numbers,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Block {
    /// Takes the vector over.
    pub fn new(numbers: Numbers) -> Self {
        let (_, length, itemsize, _) = numbers.layout();
        Self { numbers, shape: [length as isize], strides: [itemsize] }
    }

    /// Of bytes.
    pub fn bytes(data: Vec<u8>) -> Self {
        Self::new(Numbers::UInt8(data))
    }

    /// Of the first `used` bytes of some memory.
    pub fn front(memory: Vec<u8>, used: usize) -> Self {
        assert!(used <= memory.len());
        Self { shape: [used as isize], strides: [1], numbers: Numbers::UInt8(memory) }
    }

    /// Of 64-bit integers.
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
        // SAFETY: `view` points to a Py_buffer (see above). `shape` is at most the vector's length. The vector, `shape` and `strides` live in the frozen
        // object, never move or change their length, and `view.obj` keeps the object alive until the release.
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
            give_buffer(std::mem::take(data));
        }
    }
}

/// A contiguous array argument, copied.
pub fn vector<T: pyo3::buffer::Element>(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(py)
}

/// A contiguous array argument, read where it lies while the interpreter lock is released.
pub struct View<T: pyo3::buffer::Element>(PyBuffer<T>);

impl<T: pyo3::buffer::Element> View<T> {
    /// Of any object with a contiguous buffer of this element type.
    pub fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the array must be contiguous"));
        }
        Ok(Self(buffer))
    }

    /// The elements.
    pub fn slice(&self) -> &[T] {
        if self.0.item_count() == 0 {
            return &[];
        }
        // SAFETY: the export keeps the memory alive and in place; PyBuffer checked element type, alignment and
        // contiguity. That nobody writes to an argument during the call is the callers' duty, as with NumPy's own
        // functions that release the lock; the elements are plain numbers, for which every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<T>(), self.0.item_count()) }
    }
}

/// A contiguous array that is written where it lies while the interpreter lock is released.
pub struct ViewMut<T: pyo3::buffer::Element>(PyBuffer<T>);

impl<T: pyo3::buffer::Element> ViewMut<T> {
    /// Of any writable object with a contiguous buffer of this element type.
    pub fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::get(object)?;
        if !buffer.is_c_contiguous() || buffer.readonly() {
            return Err(PyValueError::new_err("the array must be contiguous and writable"));
        }
        Ok(Self(buffer))
    }

    /// The elements.
    pub fn slice(&mut self) -> &mut [T] {
        if self.0.item_count() == 0 {
            return &mut [];
        }
        // SAFETY: as for `View::slice`; the exporter says that the memory may be written, and `&mut self` lets this
        // view hand it out once at a time. That nobody else uses the output meanwhile is the callers' duty.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<T>(), self.0.item_count()) }
    }
}
