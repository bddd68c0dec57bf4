//! Buffered sequential reads of the compressed file.
use crate::memory::{self, OutOfMemory};
use crate::source::{ReadAt, SourceError};

const READ_BYTES: usize = 64 * 1024;

/// A sequential reader on top of positioned reads.
pub(super) struct BufferedInput {
    buf: Vec<u8>,
    pos: usize,
    len: usize,
    start: u64,
}

impl BufferedInput {
    /// Creates a reader that starts at `offset` of the file.
    pub(super) fn new_at(offset: u64) -> Result<Self, OutOfMemory> {
        Ok(Self { buf: memory::filled(READ_BYTES, 0)?, pos: 0, len: 0, start: offset })
    }

    /// Returns the offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.start + self.pos as u64
    }

    /// Returns the buffered bytes that are not consumed yet.
    pub(super) fn buffered_bytes(&self) -> &[u8] {
        &self.buf[self.pos..self.len]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.pos = (self.pos + count).min(self.len);
    }

    /// Reads more bytes if no bytes are buffered. Returns false at the end of the file.
    pub(super) fn refill_if_empty(&mut self, file: &dyn ReadAt) -> Result<bool, SourceError> {
        if self.pos == self.len {
            self.start += self.len as u64;
            (self.pos, self.len) = (0, 0);
            self.len = file.read_at(self.start, &mut self.buf)?.min(self.buf.len());
        }
        Ok(self.pos < self.len)
    }

    /// Consumes and returns the next byte; None at the end of the file.
    pub(super) fn next_byte(&mut self, file: &dyn ReadAt) -> Result<Option<u8>, SourceError> {
        if !self.refill_if_empty(file)? {
            return Ok(None);
        }
        let byte = self.buf[self.pos];
        self.pos += 1;
        Ok(Some(byte))
    }
}
