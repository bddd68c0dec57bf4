//! Data sources of which some ranges can be read: those that a remote storage has sent, or that a local cache has.
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::ArrayView;

/// A source of which only some ranges can be read.
pub struct RangeSource {
    num_bytes: u64,
    /// First byte and content of each range, in increasing order and disjoint.
    ranges: Vec<(u64, Content)>,
}

/// The content of a range.
enum Content {
    Memory(ArrayView<u8>),
    File { file: Arc<File>, offset: u64, num_bytes: u64 },
}

/// An open local file. It is closed when the last object that uses it is gone.
#[pyclass(frozen, module = "recordmill._core")]
pub struct LocalFile(Arc<File>);

#[pymethods]
impl LocalFile {
    /// Open a file for reading.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self(Arc::new(py.detach(|| File::open(path))?)))
    }
}

impl Content {
    /// Gets a buffer, or a part of a file as a tuple (file, offset, number of bytes).
    fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok((file, offset, num_bytes)) = object.extract::<(PyRef<'_, LocalFile>, u64, u64)>() else {
            return Ok(Self::Memory(ArrayView::from_object(object)?));
        };
        Ok(Self::File { file: file.0.clone(), offset, num_bytes })
    }

    fn num_bytes(&self) -> u64 {
        match self {
            Self::Memory(data) => data.as_slice().len() as u64,
            Self::File { num_bytes, .. } => *num_bytes,
        }
    }

    /// Fills `buf` with the bytes from `start`, which the content must have.
    fn read(&self, start: u64, buf: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Memory(data) => buf.copy_from_slice(&data.as_slice()[start as usize..][..buf.len()]),
            Self::File { file, offset, .. } => file.read_exact_at(buf, offset.saturating_add(start))?,
        }
        Ok(())
    }
}

impl RangeSource {
    /// Creates a source of `num_bytes` bytes from the content of ranges that begin at `starts`.
    pub fn new(num_bytes: u64, starts: Vec<u64>, parts: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        if starts.len() != parts.len() {
            let message = format!("starts has {} entries, but parts has {}", starts.len(), parts.len());
            return Err(PyValueError::new_err(message));
        }
        let mut ranges = Vec::with_capacity(parts.len());
        let mut end = 0;
        for (start, content) in
            starts.into_iter().zip(parts.iter().map(Content::from_object).collect::<PyResult<Vec<_>>>()?)
        {
            let stop = start.saturating_add(content.num_bytes());
            if start < end || stop > num_bytes {
                return Err(PyValueError::new_err("the ranges must be increasing and disjoint, and inside the file"));
            }
            end = stop;
            ranges.push((start, content));
        }
        Ok(Self { num_bytes, ranges })
    }

    /// Returns the range that contains the byte at `offset`, and the position of the byte in it.
    fn find(&self, offset: u64) -> Option<(&Content, u64)> {
        let after = self.ranges.partition_point(|(start, _)| *start <= offset);
        let (start, content) = self.ranges.get(after.checked_sub(1)?)?;
        (offset - start < content.num_bytes()).then_some((content, offset - start))
    }
}

impl ReadAt for RangeSource {
    fn num_bytes(&self) -> Option<u64> {
        Some(self.num_bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let mut done = 0;
        while done < buf.len() && offset.saturating_add(done as u64) < self.num_bytes {
            let position = offset + done as u64;
            let Some((content, start)) = self.find(position) else {
                return Err(io::Error::other(format!("the byte at offset {position} was not requested")).into());
            };
            let count = usize::try_from(content.num_bytes() - start).unwrap_or(usize::MAX).min(buf.len() - done);
            content.read(start, &mut buf[done..done + count])?;
            done += count;
        }
        Ok(done)
    }

    fn cached_at(&self, offset: u64, count: usize) -> Option<&[u8]> {
        match self.find(offset)? {
            (Content::Memory(data), start) => data.as_slice()[start as usize..].get(..count),
            _ => None,
        }
    }
}
