//! One record found by its first byte alone, and read straight to where it is wanted.
use std::mem::MaybeUninit;

use super::{FrameKind, MAX_MARGIN, Place};
use crate::checksum::crc32c;
use crate::source::ReadAt;

/// A record of one part, as its head tells it.
#[derive(Debug, Clone, Copy)]
pub struct Single {
    kind: FrameKind,
    offset: u64,
    data_len: usize,
    end: u64,
}

impl Single {
    /// Looks at the record at `offset`. None where the source has none, or anything about it is unusual, faults included.
    pub fn look<S: ReadAt + ?Sized>(source: &S, kind: FrameKind, offset: u64) -> Option<Self> {
        let mut memory = [MaybeUninit::uninit(); MAX_MARGIN];
        let bytes = source.read_into_at(offset, &mut memory[..kind.head_len()]).ok()??;
        let head = kind.head(Some(&*bytes).filter(|bytes| bytes.len() == kind.head_len())?, offset).ok()?;
        let end =
            offset.checked_add(head.stored_len).filter(|&end| source.num_bytes().is_some_and(|total| end <= total))?;
        (head.place == Place::Whole).then_some(Self { kind, offset, data_len: head.data_len as usize, end })
    }

    /// Bytes of its payload.
    pub fn num_bytes(&self) -> usize {
        self.data_len
    }

    /// Where the next record begins.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Reads the payload to `place`, which is as long. None where something is wrong; `place` is filled otherwise.
    pub fn read<S: ReadAt + ?Sized>(&self, source: &S, verify: bool, place: &mut [MaybeUninit<u8>]) -> Option<()> {
        let start = self.offset + self.kind.head_len() as u64;
        let payload = &*source.read_into_at(start, place).ok()?.filter(|payload| payload.len() == self.data_len)?;
        if verify && self.kind.has_checksum() {
            let (mut memory, foot_len) = ([MaybeUninit::uninit(); MAX_MARGIN], self.kind.foot_len()?);
            let foot = &*source.read_into_at(start + self.data_len as u64, &mut memory[..foot_len]).ok()??;
            let foot = Some(foot).filter(|foot| foot.len() == foot_len)?;
            self.kind.check_foot(crc32c(payload), foot, self.offset).ok()?;
        }
        Some(())
    }
}
