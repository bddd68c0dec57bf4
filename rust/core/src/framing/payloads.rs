//! Payloads back to back in memory that is used again without being cleared.
use std::io::IoSliceMut;
use std::ops::Range;
use std::slice::SliceIndex;

/// A growing row of payloads: their bytes, and where each ends.
pub struct Payloads {
    memory: Vec<u8>,
    used: usize,
    row_splits: Vec<i64>,
}

impl Payloads {
    /// No payloads yet; `memory` is written over, with room for `num_records` of them.
    pub fn new(memory: Vec<u8>, num_records: usize) -> Self {
        let mut row_splits = Vec::with_capacity(num_records + 1);
        row_splits.push(0);
        Self { memory, used: 0, row_splits }
    }

    /// Adds one payload.
    #[inline]
    pub fn push(&mut self, payload: &[u8]) {
        let end = self.used + payload.len();
        self.reserve(end);
        self.memory[self.used..end].copy_from_slice(payload);
        self.used = end;
        self.row_splits.push(end as i64);
    }

    /// Bytes of the memory, wherever payloads end.
    #[inline]
    pub(super) fn memory(&self, range: impl SliceIndex<[u8], Output = [u8]>) -> &[u8] {
        &self.memory[range]
    }

    /// Adds as a payload what lies in the memory behind the payloads.
    #[inline]
    pub(super) fn push_from_memory(&mut self, range: Range<usize>) {
        let length = range.len();
        self.memory.copy_within(range, self.used);
        self.commit(length);
    }

    /// Room for payloads of these lengths behind the ones that are there, to be filled and then [committed](Self::commit).
    pub fn next_slices(&mut self, lengths: impl Iterator<Item = usize> + Clone) -> Vec<IoSliceMut<'_>> {
        self.reserve(self.used + lengths.clone().sum::<usize>());
        let mut rest = &mut self.memory[self.used..];
        let mut slices = Vec::new();
        for length in lengths {
            let (slice, behind) = rest.split_at_mut(length);
            slices.push(IoSliceMut::new(slice));
            rest = behind;
        }
        slices
    }

    /// Takes over a payload that was put into the [next slices](Self::next_slices).
    #[inline]
    pub fn commit(&mut self, length: usize) {
        self.used += length;
        self.row_splits.push(self.used as i64);
    }

    /// The bytes of the payload that comes next, once it was written to the next slices.
    pub fn next(&self, length: usize) -> &[u8] {
        &self.memory[self.used..self.used + length]
    }

    #[inline]
    fn reserve(&mut self, end: usize) {
        if end > self.memory.len() {
            self.memory.resize(end.max(self.memory.len() * 2).max(4096), 0);
        }
    }

    /// Number of payloads.
    pub fn len(&self) -> usize {
        self.row_splits.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all payloads.
    pub fn num_bytes(&self) -> usize {
        self.used
    }

    /// Memory, how much of it holds payloads, and the row splits.
    pub fn into_parts(self) -> (Vec<u8>, usize, Vec<i64>) {
        (self.memory, self.used, self.row_splits)
    }
}
