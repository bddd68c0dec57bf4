//! Output buffer for payloads. Its memory is reused without being cleared.
use std::io::IoSliceMut;
use std::ops::Range;
use std::slice::SliceIndex;

use crate::memory::{self, OutOfMemory};

/// Concatenated payloads and their row splits.
pub struct PayloadBuffer {
    buffer: Vec<u8>,
    /// Number of bytes at the start of `buffer` that hold payloads.
    len: usize,
    row_splits: Vec<i64>,
}

impl PayloadBuffer {
    /// Creates an empty payload buffer that overwrites `buffer`, with capacity for the row splits of `num_records`
    /// payloads.
    pub fn new(buffer: Vec<u8>, num_records: usize) -> Self {
        // If there is not enough memory now, the row splits grow with the payloads.
        let mut row_splits = memory::with_capacity(num_records.saturating_add(1)).unwrap_or_default();
        row_splits.push(0);
        Self { buffer, len: 0, row_splits }
    }

    /// Appends one payload.
    #[inline]
    pub fn push(&mut self, payload: &[u8]) -> Result<(), OutOfMemory> {
        let end = self.len + payload.len();
        self.grow_to(end)?;
        self.buffer[self.len..end].copy_from_slice(payload);
        self.commit_payload(payload.len())
    }

    /// Returns the bytes at `range` of the buffer. The range may extend beyond the last payload.
    #[inline]
    pub(super) fn buffer_bytes(&self, range: impl SliceIndex<[u8], Output = [u8]>) -> &[u8] {
        &self.buffer[range]
    }

    /// Appends a payload whose bytes are in the buffer at `range`, after the last payload, but perhaps not directly
    /// after it.
    #[inline]
    pub(super) fn push_from_buffer(&mut self, range: Range<usize>) -> Result<(), OutOfMemory> {
        let length = range.len();
        self.buffer.copy_within(range, self.len);
        self.commit_payload(length)
    }

    /// Reserves slices for the next payloads. The caller fills them and then [commits](Self::commit_payload) each of
    /// them.
    pub fn reserve_slices(
        &mut self,
        lengths: impl Iterator<Item = usize> + Clone,
    ) -> Result<Vec<IoSliceMut<'_>>, OutOfMemory> {
        self.grow_to(self.len + lengths.clone().sum::<usize>())?;
        let mut rest = &mut self.buffer[self.len..];
        let mut slices = Vec::new();
        for length in lengths {
            let (slice, next) = rest.split_at_mut(length);
            slices.push(IoSliceMut::new(slice));
            rest = next;
        }
        Ok(slices)
    }

    /// Appends the payload that was written to the first [reserved slice](Self::reserve_slices) not yet committed.
    #[inline]
    pub fn commit_payload(&mut self, length: usize) -> Result<(), OutOfMemory> {
        memory::push(&mut self.row_splits, (self.len + length) as i64)?;
        self.len += length;
        Ok(())
    }

    /// Returns the payload that was written to the first [reserved slice](Self::reserve_slices) not yet committed.
    pub fn uncommitted_payload(&self, length: usize) -> &[u8] {
        &self.buffer[self.len..self.len + length]
    }

    #[inline]
    fn grow_to(&mut self, end: usize) -> Result<(), OutOfMemory> {
        if end > self.buffer.len() {
            // Doubles the length, unless there is only enough memory for the next payload.
            let len = end.max(self.buffer.len() * 2).max(4096);
            memory::resize(&mut self.buffer, len, 0).or_else(|_| memory::resize(&mut self.buffer, end, 0))?;
        }
        Ok(())
    }

    /// Returns the payload with this ordinal.
    pub fn payload(&self, ordinal: usize) -> &[u8] {
        &self.buffer[self.row_splits[ordinal] as usize..self.row_splits[ordinal + 1] as usize]
    }

    /// Removes all payloads but the first `num_payloads`.
    pub fn truncate(&mut self, num_payloads: usize) {
        self.row_splits.truncate(num_payloads + 1);
        self.len = self.row_splits[num_payloads] as usize;
    }

    /// Returns the number of payloads.
    pub fn num_payloads(&self) -> usize {
        self.row_splits.len() - 1
    }

    /// Returns the total number of bytes of all payloads.
    pub fn num_bytes(&self) -> usize {
        self.len
    }

    /// Returns the buffer, the number of its bytes that hold payloads, and the row splits.
    pub fn into_parts(self) -> (Vec<u8>, usize, Vec<i64>) {
        (self.buffer, self.len, self.row_splits)
    }
}
