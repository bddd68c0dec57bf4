//! Where records go while they are written one after another.
use crate::error::Fault;

/// Takes records, each between a call of `begin` and one of `end`.
pub trait RecordSink {
    /// Begins a record.
    fn begin(&mut self);

    /// The memory to whose end the bytes of the record are appended.
    fn bytes(&mut self) -> &mut Vec<u8>;

    /// Ends the record; fails where it cannot be stored.
    fn end(&mut self) -> Result<(), Fault>;
}

/// Records back to back, and where each begins and the last one ends.
pub struct Rows {
    /// The records.
    pub data: Vec<u8>,
    /// Ends, after a leading 0.
    pub splits: Vec<i64>,
}

impl Rows {
    /// No records yet, in memory whose contents are dropped.
    pub fn new(mut memory: Vec<u8>) -> Self {
        memory.clear();
        Self { data: memory, splits: vec![0] }
    }
}

impl RecordSink for Rows {
    fn begin(&mut self) {}

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.splits.push(self.data.len() as i64);
        Ok(())
    }
}
