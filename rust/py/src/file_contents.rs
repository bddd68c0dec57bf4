//! Files whose contents are the values of a feature, read directly into the records that are written.
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use recordmill_core::payload::PayloadSource;
use recordmill_core::records::Rows;
use recordmill_core::source::SourceError;

use crate::buffers::Block;
use crate::files::{changed, open_regular};

/// How many first bytes of each file are kept.
const HEAD: usize = 12;

/// Contents of files as byte strings, which are read when they are written.
#[pyclass(frozen, module = "recordmill._core")]
pub struct WholeFiles {
    paths: Vec<PathBuf>,
    splits: Vec<i64>,
    heads: Mutex<Rows>,
}

#[pymethods]
impl WholeFiles {
    /// Looks up how long the files are; raises OSError.
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        py.detach(|| {
            let mut splits = vec![0];
            for path in &paths {
                splits.push(splits[splits.len() - 1] + std::fs::metadata(path)?.len() as i64);
            }
            Ok(Self { paths, splits, heads: Mutex::new(Rows::new(Vec::new())) })
        })
    }

    /// The first 12 bytes, or fewer, of every file that was read so far, in the order of reading: (data, row_splits).
    fn heads(&self) -> (Block, Block) {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        (Block::bytes(heads.data.clone()), Block::integers(heads.splits.clone()))
    }
}

impl WholeFiles {
    /// Start of each file in the concatenation of all, and the end of the last one.
    pub fn splits(&self) -> &[i64] {
        &self.splits
    }

    fn remember(&self, contents: &[u8]) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.data.extend_from_slice(&contents[..contents.len().min(HEAD)]);
        let end = heads.data.len() as i64;
        heads.splits.push(end);
    }
}

impl PayloadSource for WholeFiles {
    fn bring(&self, value: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
        let path = &self.paths[value];
        let (file, metadata) = open_regular(path)?;
        let length = metadata.len();
        if length as i64 != self.splits[value + 1] - self.splits[value] {
            return Err(changed(format_args!("{} changed its length while it was packed", path.display())));
        }
        let (start, end) = (out.len(), out.len() + length as usize);
        out.reserve(length as usize);
        while out.len() < end {
            match rustix::io::read(&file, rustix::buffer::spare_capacity(out)) {
                Ok(0) => return Err(changed(format_args!("{} shrank while it was read", path.display()))),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
        out.truncate(end);
        self.remember(&out[start..]);
        Ok(())
    }
}
