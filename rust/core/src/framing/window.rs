//! A buffer over a source that serves many small sequential requests from few large reads.
use std::ops::Range;

use crate::memory;
use crate::source::{ReadAt, SourceError};

/// Maximum length of a read from a source of unknown length. If more bytes are buffered already, their number is the
/// maximum.
const MAX_GROWTH: usize = 1 << 20;

/// A buffer that holds the bytes `base..base + len` of a source and is refilled when other bytes are requested.
pub struct SourceWindow<'s> {
    source: &'s dyn ReadAt,
    base: u64,
    len: usize,
    buffer: Vec<u8>,
    pinned: Option<u64>,
}

impl<'s> SourceWindow<'s> {
    /// Creates an empty window that overwrites `buffer`.
    pub fn new(source: &'s dyn ReadAt, buffer: Vec<u8>) -> Self {
        Self { source, base: 0, len: 0, buffer, pinned: None }
    }

    /// Returns the buffer, for reuse.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Returns the buffer, and the index in it at which the bytes `range` of the source begin. If the window does not
    /// hold all these bytes, returns the window itself as the error.
    pub fn into_buffer_with(self, range: Range<u64>) -> Result<(Vec<u8>, usize), Self> {
        let is_buffered = range.start >= self.base && range.end <= self.base + self.len as u64;
        if is_buffered { Ok((self.buffer, (range.start - self.base) as usize)) } else { Err(self) }
    }

    /// Returns the buffered bytes from `offset` of the source on; empty if `offset` is not buffered.
    #[inline]
    pub fn buffered_from(&self, offset: u64) -> &[u8] {
        let start = offset.saturating_sub(self.base).min(self.len as u64) as usize;
        if offset < self.base { &[] } else { &self.buffer[start..self.len] }
    }

    /// Returns the source.
    pub fn source(&self) -> &'s dyn ReadAt {
        self.source
    }

    /// Keeps the bytes from `offset` on in the buffer when later bytes are read, unless a read leaves a gap after them.
    pub fn pin(&mut self, offset: u64) {
        self.pinned = Some(offset);
    }

    /// Returns whether [`pin`](Self::pin) was called.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// Returns whether the buffered bytes end before `offset`.
    #[inline]
    pub fn ends_before(&self, offset: u64) -> bool {
        self.base + (self.len as u64) < offset
    }

    /// Returns `count` bytes at `offset`, or fewer at the end of the data. If they are not buffered, reads at least
    /// `ahead` bytes.
    #[inline]
    pub fn read_bytes(&mut self, offset: u64, count: usize, ahead: usize) -> Result<&[u8], SourceError> {
        if !self.contains(offset, count) {
            self.fill_buffer(offset, count, ahead)?;
        }
        let start = (offset - self.base) as usize;
        Ok(&self.buffer[start..self.len.min(start + count)])
    }

    #[inline]
    fn contains(&self, offset: u64, count: usize) -> bool {
        offset >= self.base
            && offset - self.base <= self.len as u64
            && count <= self.len - (offset - self.base) as usize
    }

    fn fill_buffer(&mut self, offset: u64, count: usize, ahead: usize) -> Result<(), SourceError> {
        self.drop_before(offset);
        let start = (offset - self.base) as usize;
        while self.len - start < count {
            let end = self.len + self.next_read_len(count.max(ahead) - (self.len - start));
            if self.buffer.len() < end {
                memory::resize(&mut self.buffer, end, 0)?;
            }
            let num_read = self.source.read_at(self.base + self.len as u64, &mut self.buffer[self.len..end])?;
            if num_read == 0 {
                break;
            }
            self.len += num_read;
        }
        Ok(())
    }

    /// Returns the length of the next read: `missing`, or less if the source is shorter or its length is unknown.
    fn next_read_len(&self, missing: usize) -> usize {
        match self.source.num_bytes() {
            Some(total) => {
                missing.min(usize::try_from(total.saturating_sub(self.base + self.len as u64)).unwrap_or(missing))
            }
            None => missing.min(MAX_GROWTH.max(self.len)),
        }
    }

    /// Drops the buffered bytes before `offset`, except pinned bytes. Drops all bytes if `offset` is outside the
    /// window.
    fn drop_before(&mut self, offset: u64) {
        let end = self.base + self.len as u64;
        if offset < self.base || offset > end {
            (self.base, self.len) = (offset, 0);
            return;
        }
        let first = self.pinned.map_or(offset, |pinned| pinned.clamp(self.base, offset));
        let start = (first - self.base) as usize;
        self.buffer.copy_within(start..self.len, 0);
        (self.base, self.len) = (first, self.len - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_bytes_returns_source_bytes_in_any_order_of_requests() {
        let data: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let mut window = SourceWindow::new(&data, Vec::new());
        for (offset, count, ahead) in
            [(0, 10, 100), (5, 200, 0), (4000, 50, 64), (3990, 2000, 0), (6000, 4, 9), (0, 1, 1)]
        {
            let start = offset.min(data.len());
            let end = (offset + count).min(data.len());
            assert_eq!(window.read_bytes(offset as u64, count, ahead).unwrap(), &data[start..end]);
        }
    }
}
