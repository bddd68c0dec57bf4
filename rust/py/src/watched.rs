//! A source that is read for long without Python, and lets the program be interrupted now and then.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use recordmill_core::source::{ReadAt, SourceError};

use crate::error::source_error;

/// Bytes between two looks at signals: in other threads a look may have to wait for the interpreter.
const ROUND: usize = 64 << 20;

/// A source whose reads end where a signal's handler raises, as Ctrl-C does in the main thread.
pub struct Watched<'s> {
    source: &'s dyn ReadAt,
    /// Bytes since signals were looked at.
    unwatched: AtomicUsize,
    raised: Mutex<Option<PyErr>>,
}

impl<'s> Watched<'s> {
    /// Watches over the reads of `source`.
    pub fn new(source: &'s dyn ReadAt) -> Self {
        Self { source, unwatched: AtomicUsize::new(0), raised: Mutex::new(None) }
    }

    /// The exception for an error of reading: the handler's own, if that was it.
    pub fn error(self, error: SourceError) -> PyErr {
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        raised.unwrap_or_else(|| source_error(error, None))
    }
}

impl ReadAt for Watched<'_> {
    fn num_bytes(&self) -> Option<u64> {
        self.source.num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        if self.unwatched.fetch_add(buf.len(), Ordering::Relaxed) >= ROUND {
            self.unwatched.store(0, Ordering::Relaxed);
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
