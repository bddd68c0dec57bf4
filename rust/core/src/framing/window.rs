//! A moving view of a source: large reads behind small requests.
use std::ops::Range;

use crate::source::{ReadAt, SourceError};

/// Largest step in which the buffer grows while the source's length is not known.
const STEP: usize = 1 << 20;

/// A buffer over `base..base + len` of a source that refills itself when other bytes are asked for.
pub struct Window<'s> {
    source: &'s dyn ReadAt,
    base: u64,
    len: usize,
    buffer: Vec<u8>,
    pinned: Option<u64>,
}

impl<'s> Window<'s> {
    /// An empty window that uses `buffer` as its memory, whatever it holds.
    pub fn new(source: &'s dyn ReadAt, buffer: Vec<u8>) -> Self {
        Self { source, base: 0, len: 0, buffer, pinned: None }
    }

    /// The memory, for the next window.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The memory and where in it `range` of the source lies, if the window holds all of it.
    pub fn into_run(self, range: Range<u64>) -> Result<(Vec<u8>, usize), Self> {
        let held = range.start >= self.base && range.end <= self.base + self.len as u64;
        if held { Ok((self.buffer, (range.start - self.base) as usize)) } else { Err(self) }
    }

    /// The bytes from `offset` on that the window holds.
    #[inline]
    pub fn held(&self, offset: u64) -> &[u8] {
        let start = offset.saturating_sub(self.base).min(self.len as u64) as usize;
        if offset < self.base { &[] } else { &self.buffer[start..self.len] }
    }

    /// The source behind.
    pub fn source(&self) -> &'s dyn ReadAt {
        self.source
    }

    /// Keeps bytes from `offset` on when later bytes are read, as long as reads go on without a gap.
    pub fn pin(&mut self, offset: u64) {
        self.pinned = Some(offset);
    }

    /// Whether bytes are being kept for later.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// Whether the window ends before `offset`, or lies elsewhere.
    #[inline]
    pub fn is_before(&self, offset: u64) -> bool {
        self.base + (self.len as u64) < offset
    }

    /// Bytes at `offset`: `want` of them, or fewer where the data end. `ahead` bytes are read if a read is needed.
    #[inline]
    pub fn bytes(&mut self, offset: u64, want: usize, ahead: usize) -> Result<&[u8], SourceError> {
        if !self.holds(offset, want) {
            self.fill(offset, want, ahead)?;
        }
        let start = (offset - self.base) as usize;
        Ok(&self.buffer[start..self.len.min(start + want)])
    }

    #[inline]
    fn holds(&self, offset: u64, want: usize) -> bool {
        offset >= self.base && offset - self.base <= self.len as u64 && want <= self.len - (offset - self.base) as usize
    }

    fn fill(&mut self, offset: u64, want: usize, ahead: usize) -> Result<(), SourceError> {
        self.preallocate(offset);
        let start = (offset - self.base) as usize;
        while self.len - start < want {
            let end = self.len + self.step(want.max(ahead) - (self.len - start));
            if self.buffer.len() < end {
                self.buffer.resize(end, 0);
            }
            let count = self.source.read_at(self.base + self.len as u64, &mut self.buffer[self.len..end])?;
            if count == 0 {
                break;
            }
            self.len += count;
        }
        Ok(())
    }

    /// How much of `missing` to read at once: never more than is there, as far as that is known.
    fn step(&self, missing: usize) -> usize {
        match self.source.num_bytes() {
            Some(total) => {
                missing.min(usize::try_from(total.saturating_sub(self.base + self.len as u64)).unwrap_or(missing))
            }
            None => missing.min(STEP.max(self.len)),
        }
    }

    fn preallocate(&mut self, offset: u64) {
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
    fn bytes_asked_in_any_order_equal_the_source() {
        let data: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let mut window = Window::new(&data, Vec::new());
        for (offset, want, ahead) in
            [(0, 10, 100), (5, 200, 0), (4000, 50, 64), (3990, 2000, 0), (6000, 4, 9), (0, 1, 1)]
        {
            let start = offset.min(data.len());
            let end = (offset + want).min(data.len());
            assert_eq!(window.bytes(offset as u64, want, ahead).unwrap(), &data[start..end]);
        }
    }
}
