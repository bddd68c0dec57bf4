//! Records with one long string, which is read straight to where it is wanted; the rest of them is read around it.
use std::mem::MaybeUninit;

use crate::checksum::Crc32c;
use crate::framing::{FrameKind, Place};
use crate::payload::{Cut, LONG, Plan};
use crate::source::ReadAt;

/// Bytes of a record that are looked at first: what stands in front of its long string has to be among them.
const HEAD: usize = 512;
/// Most bytes behind the string.
const TAIL: usize = 64 << 10;

/// One record, as its first bytes tell it.
pub struct Around {
    kind: FrameKind,
    offset: u64,
    /// The record's first bytes, without the head of its frame.
    head: [u8; HEAD],
    head_len: usize,
    data_len: usize,
    foot_len: usize,
    cut: Cut,
}

impl Around {
    /// Looks at the record of `length` stored bytes at `offset`. None where it has no long string that is wanted, or anything about
    /// it is unusual.
    pub fn look<S: ReadAt>(source: &S, kind: FrameKind, plan: &Plan, (offset, length): (u64, usize)) -> Option<Self> {
        let (mut head, mut read) = ([0; HEAD], [MaybeUninit::uninit(); HEAD]);
        if length < LONG {
            return None;
        }
        // By this way of reading a file is not taken for one of short records, which would be kept in memory.
        head.copy_from_slice(source.read_into_at(offset, &mut read).ok()?.filter(|read| read.len() == HEAD)?);
        let (frame, payload) = head.split_at(kind.head_len());
        let found = kind.head(frame, offset).ok()?;
        if found.place != Place::Whole || found.stored_len != length as u64 {
            return None;
        }
        let (head_len, data_len) = (kind.head_len(), found.data_len as usize);
        let cut = Cut::find(plan, payload, data_len)?;
        let behind = data_len.checked_sub(cut.start + cut.len)?;
        let foot_len = length.checked_sub(head_len + data_len)?;
        head.copy_within(head_len.., 0);
        (behind + foot_len <= TAIL).then_some(Self { kind, offset, head, head_len, data_len, foot_len, cut })
    }

    /// The column of the string.
    pub fn column(&self) -> usize {
        self.cut.column
    }

    /// Bytes of the string.
    pub fn num_bytes(&self) -> usize {
        self.cut.len
    }

    /// The string's first bytes, which stand for it in the rest.
    pub fn kept(&self) -> &[u8] {
        self.cut.kept(&self.head)
    }

    /// Reads the string to `place`, which is as long, and the payload without it to `rest`. None where something is wrong or unusual;
    /// `place` is filled otherwise.
    pub fn read<S: ReadAt>(
        &self,
        source: &S,
        verify: bool,
        place: &mut [MaybeUninit<u8>],
        rest: &mut Vec<u8>,
    ) -> Option<()> {
        let start = self.offset + (self.head_len + self.cut.start) as u64;
        let string = source.read_into_at(start, place).ok()?.filter(|string| string.len() == self.cut.len)?;
        let behind = self.data_len - self.cut.start - self.cut.len;
        let mut tail = vec![MaybeUninit::uninit(); behind + self.foot_len];
        let tail = &*source.read_into_at(start + self.cut.len as u64, &mut tail).ok()??;
        let (tail, foot) = tail.split_at_checked(behind).filter(|(_, foot)| foot.len() == self.foot_len)?;
        if verify && self.kind.has_checksum() {
            let mut checksum = Crc32c::new();
            [&self.head[..self.cut.start], string, tail].iter().for_each(|part| checksum.update(part));
            self.kind.check_foot(checksum.finish(), foot, self.offset).ok()?;
        }
        self.cut.rest(&self.head, tail, rest).then_some(())
    }
}
