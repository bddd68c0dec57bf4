//! Reading of a single-part record at a known offset directly into the caller's memory.
use std::mem::MaybeUninit;

use super::{FrameKind, MAX_MARGIN, PartKind};
use crate::checksum::crc32c;
use crate::source::ReadAt;

/// Location of a record that is stored as one part.
#[derive(Debug, Clone, Copy)]
pub struct SinglePartRecord {
    kind: FrameKind,
    offset: u64,
    data_len: usize,
    end: u64,
}

impl SinglePartRecord {
    /// Reads the header at `offset`. Returns None if there is no record, or if the record has several parts, a fault,
    /// or a payload of more than `max_payload_bytes`.
    pub fn locate<S: ReadAt + ?Sized>(
        source: &S,
        kind: FrameKind,
        offset: u64,
        max_payload_bytes: u64,
    ) -> Option<Self> {
        let mut memory = [MaybeUninit::uninit(); MAX_MARGIN];
        let bytes = source.read_into_at(offset, &mut memory[..kind.header_len()]).ok()??;
        let header = kind.parse_header(Some(&*bytes).filter(|bytes| bytes.len() == kind.header_len())?, offset).ok()?;
        let end = offset
            .checked_add(header.stored_len)
            .filter(|&end| source.num_bytes().is_some_and(|total| end <= total))?;
        let is_supported = header.part == PartKind::Whole && header.data_len <= max_payload_bytes;
        is_supported.then_some(Self { kind, offset, data_len: header.data_len as usize, end })
    }

    /// Returns the length of the payload.
    pub fn num_bytes(&self) -> usize {
        self.data_len
    }

    /// Returns the offset of the next record.
    pub fn next_offset(&self) -> u64 {
        self.end
    }

    /// Reads the payload into `out`, whose length must be [`num_bytes`](Self::num_bytes). Returns None if a read fails
    /// or, with `verify`, the checksum is wrong.
    pub fn read_payload<S: ReadAt + ?Sized>(
        &self,
        source: &S,
        verify: bool,
        out: &mut [MaybeUninit<u8>],
    ) -> Option<()> {
        let start = self.offset + self.kind.header_len() as u64;
        let payload = &*source.read_into_at(start, out).ok()?.filter(|payload| payload.len() == self.data_len)?;
        if verify && self.kind.has_checksum() {
            let (mut memory, footer_len) = ([MaybeUninit::uninit(); MAX_MARGIN], self.kind.footer_len()?);
            let footer = &*source.read_into_at(start + self.data_len as u64, &mut memory[..footer_len]).ok()??;
            let footer = Some(footer).filter(|footer| footer.len() == footer_len)?;
            self.kind.check_footer(crc32c(payload), footer, self.offset).ok()?;
        }
        Some(())
    }
}
