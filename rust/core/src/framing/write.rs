//! Writing of frames: reserves bytes for the header, appends the payload, then writes the header and appends the
//! footer.
use super::FrameKind;
use crate::checksum::crc32c;
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};
use crate::records::RecordSink;

/// Concatenated frames, their lengths, and the checksums of the payloads if the format stores none.
pub struct FrameBuffer {
    /// The frames, back to back.
    pub data: Vec<u8>,
    /// Number of bytes that each frame occupies in `data`.
    pub lengths: Vec<i64>,
    /// CRC-32C of each payload; empty if the format stores checksums.
    pub checksums: Vec<i64>,
    kind: FrameKind,
    start: usize,
}

impl FrameBuffer {
    /// Creates an empty frame buffer that reuses the allocation of `buffer`.
    pub fn new(kind: FrameKind, mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Self { data: buffer, lengths: Vec::new(), checksums: Vec::new(), kind, start: 0 }
    }

    /// Appends the frame of one payload.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), Fault> {
        self.begin_record()?;
        memory::extend_from_slice(&mut self.data, payload)?;
        self.end_record()
    }
}

impl RecordSink for FrameBuffer {
    fn begin_record(&mut self) -> Result<(), OutOfMemory> {
        self.start = self.data.len();
        memory::resize(&mut self.data, self.start + self.kind.header_len(), 0)
    }

    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn end_record(&mut self) -> Result<(), Fault> {
        if !self.kind.has_checksum() {
            let payload = &self.data[self.start + self.kind.header_len()..];
            memory::push(&mut self.checksums, i64::from(crc32c(payload)))?;
        }
        self.kind.finish_frame(&mut self.data, self.start)?;
        Ok(memory::push(&mut self.lengths, (self.data.len() - self.start) as i64)?)
    }
}
