//! Feature values that are the contents of files. A file is read directly into the serialized record.
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use recordmill_core::memory::{self, OutOfMemory};
use recordmill_core::payload::PayloadSource;
use recordmill_core::records::RowBuffer;
use recordmill_core::source::SourceError;

use crate::buffers::Block;
use crate::error::out_of_memory_error;
use crate::files::{changed_error, open_regular_file};

/// Number of bytes that are kept from the start of each file.
const HEADER_LEN: usize = 12;

/// Contents of files as byte strings. A file is read when its string is written.
#[pyclass(frozen, module = "recordmill._core")]
pub struct WholeFiles {
    paths: Vec<PathBuf>,
    splits: Vec<i64>,
    heads: Mutex<RowBuffer>,
}

#[pymethods]
impl WholeFiles {
    /// Create byte strings that are the contents of files. Reads the sizes of the files now; raises OSError if that
    /// fails.
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        py.detach(|| {
            let mut splits = memory::with_capacity(paths.len() + 1).map_err(out_of_memory_error)?;
            splits.push(0);
            for path in &paths {
                splits.push(splits[splits.len() - 1] + std::fs::metadata(path)?.len() as i64);
            }
            Ok(Self { paths, splits, heads: Mutex::new(RowBuffer::new(Vec::new())) })
        })
    }

    /// Return up to 12 bytes from the start of each file that was read so far, in the order of reading: (data,
    /// row_splits).
    fn heads(&self) -> PyResult<(Block, Block)> {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let data = memory::copy(&heads.data).map_err(out_of_memory_error)?;
        let splits = memory::copy(&heads.splits).map_err(out_of_memory_error)?;
        Ok((Block::from_bytes(data), Block::from_integers(splits)))
    }
}

impl WholeFiles {
    /// Returns the start of each file in the concatenation of all files, and the end of the last one.
    pub fn splits(&self) -> &[i64] {
        &self.splits
    }

    fn add_header(&self, content: &[u8]) -> Result<(), OutOfMemory> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        memory::reserve(&mut heads.splits, 1)?;
        memory::extend_from_slice(&mut heads.data, &content[..content.len().min(HEADER_LEN)])?;
        let end = heads.data.len() as i64;
        heads.splits.push(end);
        Ok(())
    }
}

impl PayloadSource for WholeFiles {
    fn append_string(&self, index: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
        let path = &self.paths[index];
        let (file, metadata) = open_regular_file(path)?;
        let length = metadata.len();
        if length as i64 != self.splits[index + 1] - self.splits[index] {
            return Err(changed_error(format_args!("the size of {} changed while it was packed", path.display())));
        }
        let (start, end) = (out.len(), out.len() + length as usize);
        memory::reserve(out, length as usize)?;
        while out.len() < end {
            match rustix::io::read(&file, rustix::buffer::spare_capacity(out)) {
                Ok(0) => return Err(changed_error(format_args!("{} was truncated while it was read", path.display()))),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
        out.truncate(end);
        Ok(self.add_header(&out[start..])?)
    }
}
