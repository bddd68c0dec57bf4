//! Frames written in place: room for the header, the payload by whoever has it, then header and footer.
use super::FrameKind;
use crate::checksum::crc32c;
use crate::error::Fault;
use crate::records::RecordSink;

/// Frames back to back, the length of each, and the payloads' checksums where the format stores none.
pub struct Frames {
    /// The frames.
    pub data: Vec<u8>,
    /// Stored bytes of each.
    pub lengths: Vec<i64>,
    /// CRC-32C of each payload; empty for formats with a checksum of their own.
    pub checksums: Vec<i64>,
    kind: FrameKind,
    start: usize,
}

impl Frames {
    /// No frames yet, in memory whose contents are dropped.
    pub fn new(kind: FrameKind, mut memory: Vec<u8>) -> Self {
        memory.clear();
        Self { data: memory, lengths: Vec::new(), checksums: Vec::new(), kind, start: 0 }
    }

    /// Adds a record whose payload is there already.
    pub fn push(&mut self, payload: &[u8]) -> Result<(), Fault> {
        self.begin();
        self.data.extend_from_slice(payload);
        self.end()
    }
}

impl RecordSink for Frames {
    fn begin(&mut self) {
        self.start = self.data.len();
        self.data.resize(self.start + self.kind.header_len(), 0);
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn end(&mut self) -> Result<(), Fault> {
        if !self.kind.has_checksum() {
            let payload = &self.data[self.start + self.kind.header_len()..];
            self.checksums.push(i64::from(crc32c(payload)));
        }
        self.kind.close(&mut self.data, self.start)?;
        self.lengths.push((self.data.len() - self.start) as i64);
        Ok(())
    }
}
