//! The Python class `Source`: positioned reads of the uncompressed bytes of one shard.
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::memory;
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{ArrayView, Block};
use crate::error::{fault_error, out_of_memory_error, source_error};
use crate::files::{ConcatenatedSource, FileSource};
use crate::range_source::RangeSource;
use crate::reader_source::ReaderSource;

type Compressed = CompressedSource<Arc<dyn ReadAt>>;

/// Positioned reads of one shard's uncompressed bytes. Several threads may use a source at the same time.
#[pyclass(frozen, module = "recordmill._core")]
pub struct Source {
    /// The bytes as stored.
    raw: Arc<dyn ReadAt>,
    /// The uncompressed bytes.
    plain: Arc<dyn ReadAt>,
    compressed: Option<Arc<Compressed>>,
    /// Maximum length of a payload; records with a longer one are not read.
    max_record_bytes: u64,
}

impl Source {
    fn new(raw: Arc<dyn ReadAt>, compression: Option<&str>, max_bytes: u64, spacing: u64) -> PyResult<Self> {
        let container = match compression {
            None => return Ok(Self { plain: raw.clone(), raw, compressed: None, max_record_bytes: u64::MAX }),
            Some("gzip") => Container::Gzip,
            Some("zlib") => Container::Zlib,
            Some(other) => {
                return Err(PyValueError::new_err(format!("compression must be gzip or zlib, got {other:?}")));
            }
        };
        let compressed = Arc::new(Compressed::new(raw.clone(), container, Limits { max_bytes }, spacing));
        Ok(Self { raw, plain: compressed.clone(), compressed: Some(compressed), max_record_bytes: u64::MAX })
    }

    /// Returns the source of the uncompressed bytes.
    pub fn uncompressed(&self) -> &Arc<dyn ReadAt> {
        &self.plain
    }

    /// Returns the maximum length of a payload; records with a longer one are not read.
    pub fn max_record_bytes(&self) -> u64 {
        self.max_record_bytes
    }
}

#[pymethods]
impl Source {
    /// Open a local file; `compression` is None, "gzip" or "zlib", and `max_bytes` limits the decompressed size.
    #[staticmethod]
    #[pyo3(signature = (path, *, compression=None, max_bytes=u64::MAX, spacing=1 << 20))]
    fn open(py: Python<'_>, path: PathBuf, compression: Option<&str>, max_bytes: u64, spacing: u64) -> PyResult<Self> {
        let file = py.detach(|| FileSource::open(&path)).map_err(|error| source_error(error.into(), None))?;
        Self::new(Arc::new(file), compression, max_bytes, spacing)
    }

    /// Copy a buffer, and create a source that reads the copy.
    #[staticmethod]
    #[pyo3(signature = (data, *, compression=None, max_bytes=u64::MAX, spacing=1 << 20))]
    fn from_bytes(data: &Bound<'_, PyAny>, compression: Option<&str>, max_bytes: u64, spacing: u64) -> PyResult<Self> {
        let copy = memory::copy(ArrayView::<u8>::from_object(data)?.as_slice()).map_err(out_of_memory_error)?;
        Self::new(Arc::new(copy), compression, max_bytes, spacing)
    }

    /// Create a source of `num_bytes` bytes that `read(offset, length)` returns as a buffer of at most `length` bytes.
    ///
    /// Native threads call `read`, several at a time. It may return fewer bytes than requested; for none, CoreChanged is
    /// raised. If it raises InterruptedError, it is called again; other exceptions are raised unchanged.
    #[staticmethod]
    #[pyo3(signature = (read, num_bytes, *, compression=None, max_bytes=u64::MAX, spacing=1 << 20))]
    fn from_reader(
        read: &Bound<'_, PyAny>,
        num_bytes: u64,
        compression: Option<&str>,
        max_bytes: u64,
        spacing: u64,
    ) -> PyResult<Self> {
        Self::new(Arc::new(ReaderSource::new(read, num_bytes)?), compression, max_bytes, spacing)
    }

    /// Create a source of `num_bytes` bytes of which only ranges can be read: `parts` begin at the offsets `starts`.
    ///
    /// A part is a buffer, or a part of a `LocalFile` as a tuple (file, offset, number of bytes). Reading other bytes
    /// raises RuntimeError. Records with a payload of more than `max_record_bytes` are not read.
    #[staticmethod]
    #[pyo3(signature = (num_bytes, starts, parts, max_record_bytes=u64::MAX))]
    fn from_ranges(
        num_bytes: u64,
        starts: Vec<u64>,
        parts: Vec<Bound<'_, PyAny>>,
        max_record_bytes: u64,
    ) -> PyResult<Self> {
        let source: Arc<dyn ReadAt> = Arc::new(RangeSource::new(num_bytes, starts, &parts)?);
        Ok(Self { raw: source.clone(), plain: source, compressed: None, max_record_bytes })
    }

    /// Concatenate sources; none may be compressed.
    #[staticmethod]
    fn join(parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let parts = parts.iter().map(|part| part.plain.clone()).collect();
        let joined = ConcatenatedSource::new(parts)
            .ok_or_else(|| PyValueError::new_err("compressed sources cannot be joined; decompress the files first"))?;
        let joined: Arc<dyn ReadAt> = Arc::new(joined);
        Ok(Self { raw: joined.clone(), plain: joined, compressed: None, max_record_bytes: u64::MAX })
    }

    /// Return a source of the same bytes from which records with a payload of more than `max_bytes` are not read.
    fn with_record_limit(&self, max_bytes: u64) -> Self {
        let Self { raw, plain, compressed, .. } = self;
        let (raw, plain, compressed) = (raw.clone(), plain.clone(), compressed.clone());
        Self { raw, plain, compressed, max_record_bytes: max_bytes }
    }

    /// Uncompressed size in bytes; None while a compressed shard has not been read to its end.
    #[getter]
    fn num_bytes(&self) -> Option<u64> {
        self.plain.num_bytes()
    }

    /// Stored size in bytes.
    #[getter]
    fn num_stored_bytes(&self) -> Option<u64> {
        self.raw.num_bytes()
    }

    /// Read up to `length` uncompressed bytes at `offset`.
    fn read(&self, py: Python<'_>, offset: u64, length: usize) -> PyResult<Block> {
        read_block(py, &self.plain, offset, length)
    }

    /// Read up to `length` stored bytes at `offset`.
    fn read_stored(&self, py: Python<'_>, offset: u64, length: usize) -> PyResult<Block> {
        read_block(py, &self.raw, offset, length)
    }

    /// Raise CoreChanged if the file has changed since it was opened.
    fn check_unchanged(&self) -> PyResult<()> {
        self.raw.check_unchanged().map_err(|error| source_error(error, None))
    }

    /// Return the known seek points as bytes that `restore_seek_points` accepts; None if the shard is not compressed.
    fn save_seek_points(&self, py: Python<'_>) -> PyResult<Option<Block>> {
        let Some(compressed) = self.compressed.clone() else { return Ok(None) };
        let saved = py.detach(move || compressed.save_seek_points()).map_err(out_of_memory_error)?;
        Ok(Some(Block::from_bytes(saved)))
    }

    /// Restore the seek points that another Source of the same file has saved.
    fn restore_seek_points(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(compressed) = self.compressed.clone() else { return Ok(()) };
        let blob = memory::copy(ArrayView::<u8>::from_object(data)?.as_slice()).map_err(out_of_memory_error)?;
        py.detach(move || compressed.restore_seek_points(&blob)).map_err(|fault| fault_error(fault, None))
    }
}

/// Size of the first read from a source whose size is unknown; each further read is as large as all before.
const FIRST_READ_BYTES: usize = 1 << 20;

fn read_block(py: Python<'_>, source: &Arc<dyn ReadAt>, offset: u64, length: usize) -> PyResult<Block> {
    let total = source.num_bytes();
    let length = total.map_or(length, |total| length.min(total.saturating_sub(offset) as usize));
    let source = source.clone();
    let read = py.detach(move || {
        // A caller may ask for far more than there is, so only the part that is read next is filled with zeros.
        let first_length = total.map_or(FIRST_READ_BYTES, |_| length);
        let mut data = memory::with_capacity(length)?;
        let mut done = 0;
        while done < length {
            if done == data.len() {
                data.resize(length.min(first_length.max(2 * done)), 0);
            }
            match source.read_at(offset.saturating_add(done as u64), &mut data[done..])? {
                0 => break,
                count => done += count,
            }
        }
        data.truncate(done);
        Ok(data)
    });
    read.map(Block::from_bytes).map_err(|error| source_error(error, None))
}

// Long operations without the GIL that a signal handler can interrupt.

/// Number of bytes between two checks for signals. A check may have to wait for the GIL, so it must be rare.
const SIGNAL_CHECK_BYTES: usize = 64 << 20;

/// A source whose reads fail if a signal handler raises an exception, as for Ctrl-C in the main thread.
pub struct InterruptibleSource<'s> {
    source: &'s dyn ReadAt,
    /// Number of bytes read since the last check for signals.
    bytes_since_check: AtomicUsize,
    /// The exception that a signal handler raised.
    raised: Mutex<Option<PyErr>>,
}

impl<'s> InterruptibleSource<'s> {
    /// Creates a source that reads from `source` and checks for signals.
    pub fn new(source: &'s dyn ReadAt) -> Self {
        Self { source, bytes_since_check: AtomicUsize::new(0), raised: Mutex::new(None) }
    }

    /// Returns the exception that a signal handler raised; if there is none, the exception for `error`.
    pub fn into_exception(self, error: SourceError) -> PyErr {
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        raised.unwrap_or_else(|| source_error(error, None))
    }
}

impl ReadAt for InterruptibleSource<'_> {
    fn num_bytes(&self) -> Option<u64> {
        self.source.num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        if self.bytes_since_check.fetch_add(buf.len(), Ordering::Relaxed) >= SIGNAL_CHECK_BYTES {
            self.bytes_since_check.store(0, Ordering::Relaxed);
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                return Err(SourceError::Io(std::io::Error::other("interrupted")));
            }
        }
        self.source.read_at(offset, buf)
    }

    fn is_sequential(&self) -> bool {
        self.source.is_sequential()
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.source.check_unchanged()
    }
}
