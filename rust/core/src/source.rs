//! The trait [`ReadAt`] of sources that can be read at any offset, such as open files.
use crate::error::Fault;
use crate::memory::OutOfMemory;
use std::fmt;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Reason why a read failed.
#[derive(Debug)]
pub enum SourceError {
    /// The operating system returned an error.
    Io(io::Error),
    /// The data is damaged, or a limit was exceeded.
    Fault(Fault),
    /// The file has changed since it was opened: it was truncated, extended, written to or replaced.
    Changed(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
            Self::Changed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SourceError {}

impl From<io::Error> for SourceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<OutOfMemory> for SourceError {
    fn from(error: OutOfMemory) -> Self {
        Self::Fault(error.into())
    }
}

impl From<Fault> for SourceError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Positioned reads of bytes. Several threads may read at the same time.
pub trait ReadAt: Send + Sync {
    /// Returns the number of bytes; None while it is unknown, as for a compressed file that was not read to its end.
    fn num_bytes(&self) -> Option<u64>;

    /// Reads at `offset` until `buf` is full or the data ends. Returns the number of bytes read.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError>;

    /// Reads at `offset` into the buffers, in order, until all are full or the data ends. Returns the number of bytes
    /// read.
    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> Result<usize, SourceError> {
        read_each_buffer(self, offset, buffers)
    }

    /// Reads at `offset` into uninitialized memory until it is full or the data ends.
    ///
    /// Returns the part of `buf` that was filled; None if the source cannot do such reads, or cannot do this one.
    fn read_into_at<'b>(
        &self,
        _offset: u64,
        _buf: &'b mut [MaybeUninit<u8>],
    ) -> Result<Option<&'b mut [u8]>, SourceError> {
        Ok(None)
    }

    /// Returns all bytes if they are in memory.
    fn cached(&self) -> Option<&[u8]> {
        None
    }

    /// Returns the `count` bytes at `offset` without a copy, for sources of which parts are in memory. Other sources return
    /// None, and are read through a buffer.
    fn cached_at(&self, _offset: u64, _count: usize) -> Option<&[u8]> {
        None
    }

    /// Returns whether skipping bytes costs as much as reading them.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Fails if the file may have changed since it was opened.
    fn check_unchanged(&self) -> Result<(), SourceError> {
        Ok(())
    }
}

/// Implements [`ReadAt::read_vectored_at`] with one call of [`ReadAt::read_at`] per buffer.
pub fn read_each_buffer<S: ReadAt + ?Sized>(
    source: &S,
    offset: u64,
    buffers: &mut [IoSliceMut<'_>],
) -> Result<usize, SourceError> {
    let mut done = 0;
    for buffer in buffers {
        let count = source.read_at(offset + done as u64, buffer)?;
        done += count;
        if count < buffer.len() {
            break;
        }
    }
    Ok(done)
}

/// Fills `buf` with the bytes at `offset` of a file, which had `num_bytes` bytes when it was opened.
///
/// `read` is called with an offset and a buffer and returns the number of bytes that it has read, which may be less than
/// the buffer. A call that was interrupted by a signal is repeated, as for [`io::Read::read_exact`].
///
/// # Errors
///
/// Returns [`SourceError::Changed`] if `read` returns 0, because the file has become shorter.
pub fn read_exact_at(
    num_bytes: u64,
    offset: u64,
    buf: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> Result<(), SourceError> {
    let mut done = 0;
    while done < buf.len() {
        let position = offset + done as u64;
        match read(position, &mut buf[done..]) {
            Ok(0) => {
                let detail =
                    format!("it had {num_bytes} bytes when it was opened, but has no data at offset {position} now");
                return Err(SourceError::Changed(detail));
            }
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl ReadAt for &[u8] {
    fn num_bytes(&self) -> Option<u64> {
        Some(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let count = buf.len().min(self.len() - start);
        buf[..count].copy_from_slice(&self[start..start + count]);
        Ok(count)
    }

    fn cached(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl ReadAt for Vec<u8> {
    fn num_bytes(&self) -> Option<u64> {
        Some(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        self.as_slice().read_at(offset, buf)
    }

    fn cached(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn num_bytes(&self) -> Option<u64> {
        (**self).num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        (**self).read_at(offset, buf)
    }

    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> Result<usize, SourceError> {
        (**self).read_vectored_at(offset, buffers)
    }

    fn read_into_at<'b>(
        &self,
        offset: u64,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Result<Option<&'b mut [u8]>, SourceError> {
        (**self).read_into_at(offset, buf)
    }

    fn cached(&self) -> Option<&[u8]> {
        (**self).cached()
    }

    fn cached_at(&self, offset: u64, count: usize) -> Option<&[u8]> {
        (**self).cached_at(offset, count)
    }

    fn is_sequential(&self) -> bool {
        (**self).is_sequential()
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        (**self).check_unchanged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads from `data` with a reader that takes each of `results` as the result of one call: a maximum number of
    /// bytes, or an error.
    fn read(data: &[u8], offset: u64, length: usize, results: Vec<io::Result<usize>>) -> Result<Vec<u8>, SourceError> {
        let (mut buf, mut results) = (vec![0; length], results.into_iter());
        read_exact_at(data.len() as u64, offset, &mut buf, |offset, buf| {
            let count = buf.len().min(results.next().unwrap_or(Ok(usize::MAX))?);
            data.read_at(offset, &mut buf[..count]).map_err(io::Error::other)
        })?;
        Ok(buf)
    }

    #[test]
    fn read_exact_at_continues_after_short_and_interrupted_reads() {
        let results = || vec![Ok(2), Err(io::ErrorKind::Interrupted.into()), Ok(1), Ok(3)];
        for (offset, length) in [(0, 10), (3, 7), (9, 1), (10, 0)] {
            let found = read(b"0123456789", offset, length, results()).unwrap();
            assert_eq!(found, b"0123456789"[offset as usize..][..length]);
        }
    }

    #[test]
    fn read_exact_at_reports_early_end_as_change() {
        let error = read(b"0123456789", 4, 6, vec![Ok(2), Ok(0)]).unwrap_err();
        assert!(matches!(error, SourceError::Changed(_)));
        assert_eq!(error.to_string(), "it had 10 bytes when it was opened, but has no data at offset 6 now");
    }

    #[test]
    fn read_exact_at_returns_other_errors() {
        let error = read(b"0123456789", 0, 10, vec![Ok(2), Err(io::Error::from_raw_os_error(5))]).unwrap_err();
        assert!(matches!(error, SourceError::Io(error) if error.raw_os_error() == Some(5)));
    }
}
