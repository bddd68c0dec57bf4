//! Output buffers to which records are appended one after another.
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};

/// Destination for records. Each record is written between a call of [`begin_record`](Self::begin_record) and a call of
/// [`end_record`](Self::end_record).
pub trait RecordSink {
    /// Begins a record.
    fn begin_record(&mut self) -> Result<(), OutOfMemory>;

    /// Returns the buffer to which the caller appends the bytes of the record.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Completes the record. Fails if the format cannot store it.
    fn end_record(&mut self) -> Result<(), Fault>;
}

/// Concatenated records and their row splits.
pub struct RowBuffer {
    /// The records, back to back.
    pub data: Vec<u8>,
    /// 0, followed by the end of each record in `data`.
    pub splits: Vec<i64>,
}

impl RowBuffer {
    /// Creates an empty sink that reuses the allocation of `buffer`.
    pub fn new(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Self { data: buffer, splits: vec![0] }
    }
}

impl RecordSink for RowBuffer {
    fn begin_record(&mut self) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn end_record(&mut self) -> Result<(), Fault> {
        Ok(memory::push(&mut self.splits, self.data.len() as i64)?)
    }
}
