//! Reading of records that contain one long byte string: the string is read directly into the output.
//!
//! The parser receives a shortened payload, which contains only the first bytes of the string.
use std::mem::MaybeUninit;

use crate::checksum::Crc32c;
use crate::framing::{FrameKind, PartKind};
use crate::memory;
use crate::payload::{LongString, MIN_LONG_STRING, Plan};
use crate::source::ReadAt;

/// Number of bytes that are read first, from the start of a record. The long string must begin within them.
const START_LEN: usize = 512;
/// Maximum number of bytes of a record after its long string.
const MAX_TAIL: usize = 64 << 10;

/// A record that contains a long string, found by reading its first bytes.
pub struct LongStringRecord {
    kind: FrameKind,
    offset: u64,
    /// The first bytes of the payload.
    start_bytes: [u8; START_LEN],
    header_len: usize,
    data_len: usize,
    footer_len: usize,
    string: LongString,
}

impl LongStringRecord {
    /// Reads the start of the record of `length` stored bytes at `offset`, and finds its long string.
    ///
    /// Returns None if the caller must use the general code: no column of `plan` requests a long string of the record,
    /// or the record has a fault, several parts, or a payload of more than `max_payload_bytes`.
    pub fn locate<S: ReadAt>(
        source: &S,
        kind: FrameKind,
        plan: &Plan,
        (offset, length): (u64, usize),
        max_payload_bytes: u64,
    ) -> Option<Self> {
        let (mut start_bytes, mut read) = ([0; START_LEN], [MaybeUninit::uninit(); START_LEN]);
        if length < MIN_LONG_STRING {
            return None;
        }
        // `read_at` would count this read as a short read, and a file with many short reads is cached in memory.
        start_bytes
            .copy_from_slice(source.read_into_at(offset, &mut read).ok()?.filter(|read| read.len() == START_LEN)?);
        let (frame, payload) = start_bytes.split_at(kind.header_len());
        let header = kind.parse_header(frame, offset).ok()?;
        let is_readable = header.part == PartKind::Whole && header.data_len <= max_payload_bytes;
        if !is_readable || header.stored_len != length as u64 {
            return None;
        }
        let (header_len, data_len) = (kind.header_len(), header.data_len as usize);
        let string = LongString::locate(plan, payload, data_len)?;
        let tail_len = data_len.checked_sub(string.start + string.len)?;
        let footer_len = length.checked_sub(header_len + data_len)?;
        start_bytes.copy_within(header_len.., 0);
        (tail_len + footer_len <= MAX_TAIL).then_some(Self {
            kind,
            offset,
            start_bytes,
            header_len,
            data_len,
            footer_len,
            string,
        })
    }

    /// Returns the index of the column that the string belongs to.
    pub fn column_index(&self) -> usize {
        self.string.column
    }

    /// Returns the length of the string in bytes.
    pub fn num_bytes(&self) -> usize {
        self.string.len
    }

    /// Returns the first bytes of the string, which represent it in the shortened payload.
    pub fn string_prefix(&self) -> &[u8] {
        self.string.prefix(&self.start_bytes)
    }

    /// Reads the string into `out`, whose length must be [`num_bytes`](Self::num_bytes), and writes the shortened
    /// payload to `rest`. `indexed` is the checksum of the payload in the sidecar index, or -1 if unknown.
    ///
    /// Returns None if the caller must use the general code, because a read failed, a checksum is wrong, or the feature
    /// of the string may occur again.
    pub fn read_into<S: ReadAt>(
        &self,
        source: &S,
        verify: bool,
        indexed: i64,
        out: &mut [MaybeUninit<u8>],
        rest: &mut Vec<u8>,
    ) -> Option<()> {
        let start = self.offset + (self.header_len + self.string.start) as u64;
        let string = source.read_into_at(start, out).ok()?.filter(|string| string.len() == self.string.len)?;
        let tail_len = self.data_len - self.string.start - self.string.len;
        let mut tail = memory::filled(tail_len + self.footer_len, MaybeUninit::uninit()).ok()?;
        let tail = &*source.read_into_at(start + self.string.len as u64, &mut tail).ok()??;
        let (tail, footer) = tail.split_at_checked(tail_len).filter(|(_, footer)| footer.len() == self.footer_len)?;
        if (verify && self.kind.has_checksum()) || indexed >= 0 {
            let mut checksum = Crc32c::new();
            [&self.start_bytes[..self.string.start], string, tail].iter().for_each(|part| checksum.update(part));
            let found = checksum.finish();
            if verify {
                self.kind.check_footer(found, footer, self.offset).ok()?;
            }
            if indexed >= 0 && i64::from(found) != indexed {
                return None;
            }
        }
        self.string.write_shortened(&self.start_bytes, tail, rest).then_some(())
    }
}
