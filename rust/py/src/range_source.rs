//! Data sources of which some ranges are in memory, as a remote storage has sent them.
use std::io;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::ArrayView;

/// A source of which only some ranges can be read.
pub struct RangeSource {
    num_bytes: u64,
    /// First byte and content of each range, in increasing order and disjoint.
    ranges: Vec<(u64, ArrayView<u8>)>,
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
        for (start, part) in starts.into_iter().zip(parts) {
            let part = ArrayView::from_object(part)?;
            let stop = start.saturating_add(part.as_slice().len() as u64);
            if start < end || stop > num_bytes {
                return Err(PyValueError::new_err("the ranges must be increasing and disjoint, and inside the file"));
            }
            end = stop;
            ranges.push((start, part));
        }
        Ok(Self { num_bytes, ranges })
    }

    /// Returns the bytes from `offset` to the end of the range that contains it.
    fn rest_of_range(&self, offset: u64) -> Option<&[u8]> {
        let after = self.ranges.partition_point(|(start, _)| *start <= offset);
        let (start, part) = self.ranges.get(after.checked_sub(1)?)?;
        part.as_slice().get(usize::try_from(offset - start).ok()?..).filter(|rest| !rest.is_empty())
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
            let Some(rest) = self.rest_of_range(position) else {
                return Err(io::Error::other(format!("the byte at offset {position} was not requested")).into());
            };
            let count = rest.len().min(buf.len() - done);
            buf[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
        }
        Ok(done)
    }
}
