//! The protobuf wire format: varints, tags, lengths, and fields to step over.
use crate::error::{Fault, FaultKind};

/// Tag of field 1, length-delimited.
pub const LEN_1: u32 = 0x0a;
/// Tag of field 2, length-delimited.
pub const LEN_2: u32 = 0x12;
/// Tag of field 1, varint.
pub const VARINT_1: u32 = 0x08;
/// Tag of field 1, eight bytes.
pub const FIXED64_1: u32 = 0x09;
/// Tag of field 1, four bytes.
pub const FIXED32_1: u32 = 0x0d;

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LEN: u32 = 2;
const GROUP: u32 = 3;
const END_GROUP: u32 = 4;
const FIXED32: u32 = 5;

/// Messages and groups may lie in one another this deep.
const MAX_DEPTH: u32 = 100;
const MAX_LEN: u64 = i32::MAX as u64;
const MAX_VARINT: usize = 10;
/// Tags and lengths are 32-bit numbers, so their varints end within five bytes.
const MAX_SHORT_VARINT: usize = 5;

/// Why bytes are no message, and where: small, so that the hot path carries no strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Bytes from the start of the payload.
    pub offset: usize,
    /// The reason in words.
    pub what: &'static str,
}

/// The result of reading.
pub type Wire<T> = Result<T, Broken>;

impl From<Broken> for Fault {
    fn from(broken: Broken) -> Self {
        Self::new(FaultKind::BadPayload, broken.offset as u64, broken.what)
    }
}

/// A position in one message. The buffer begins where the payload begins, so positions are offsets, and ends with the message.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The payload up to the end of this message.
    pub buf: &'a [u8],
    /// Where to read next; at most `buf.len()`.
    pub pos: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// At the start of a whole payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { buf: payload, pos: 0, depth: MAX_DEPTH }
    }

    /// Whether the message is read to its end.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pos >= self.buf.len()
    }

    /// The bytes not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.buf[self.pos..]
    }

    /// A fault at the current position.
    pub fn broken<T>(&self, what: &'static str) -> Wire<T> {
        Err(Broken { offset: self.pos, what })
    }

    /// A varint of up to ten bytes; bits beyond the 64th are dropped.
    #[inline]
    pub fn varint(&mut self) -> Wire<u64> {
        match self.buf.get(self.pos) {
            Some(&byte) if byte < 0x80 => {
                self.pos += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Wire<u64> {
        let mut value = 0;
        for (i, &byte) in self.rest().iter().take(MAX_VARINT).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.pos += i + 1;
                return Ok(value);
            }
        }
        let cut = self.buf.len() - self.pos < MAX_VARINT;
        self.broken(if cut { "a varint runs past the end of its message" } else { "a varint is longer than 10 bytes" })
    }

    /// A varint of up to five bytes and at most `max`.
    #[inline]
    fn short_varint(&mut self, max: u64, what: &'static str) -> Wire<usize> {
        let start = self.pos;
        let value = self.varint()?;
        if value > max || self.pos - start > MAX_SHORT_VARINT {
            return Err(Broken { offset: start, what });
        }
        Ok(value as usize)
    }

    /// The next field's tag: field number and wire type.
    #[inline]
    pub fn tag(&mut self) -> Wire<u32> {
        let start = self.pos;
        let tag = self.any_tag()?;
        if tag >> 3 == 0 {
            return Err(Broken { offset: start, what: "a field has the number 0" });
        }
        Ok(tag)
    }

    #[inline]
    fn any_tag(&mut self) -> Wire<u32> {
        Ok(self.short_varint(u64::from(u32::MAX), "a tag does not fit into 32 bits")? as u32)
    }

    /// The next `len` bytes.
    #[inline]
    fn take(&mut self, len: usize) -> Wire<&'a [u8]> {
        match self.rest().get(..len) {
            Some(bytes) => {
                self.pos += len;
                Ok(bytes)
            }
            None => self.broken("a field runs past the end of its message"),
        }
    }

    /// The bytes of a length-delimited field whose tag was read.
    #[inline]
    pub fn bytes(&mut self) -> Wire<&'a [u8]> {
        let start = self.pos;
        let len = self.short_varint(MAX_LEN, "a length is 2 GiB or more")?;
        self.take(len).map_err(|broken| Broken { offset: start, ..broken })
    }

    /// The message in a length-delimited field whose tag was read.
    #[inline]
    pub fn message(&mut self) -> Wire<Reader<'a>> {
        let len = self.bytes()?.len();
        Ok(Reader { buf: &self.buf[..self.pos], pos: self.pos - len, depth: self.depth - 1 })
    }

    /// Four bytes of a field whose tag was read.
    pub fn fixed32(&mut self) -> Wire<&'a [u8]> {
        self.take(4)
    }

    /// Eight bytes of a field whose tag was read.
    pub fn fixed64(&mut self) -> Wire<&'a [u8]> {
        self.take(8)
    }

    /// Steps over a field whose `tag` was read.
    pub fn skip(&mut self, tag: u32) -> Wire<()> {
        self.skip_nested(tag, self.depth)
    }

    fn skip_nested(&mut self, tag: u32, depth: u32) -> Wire<()> {
        match tag & 7 {
            VARINT => self.varint().map(drop),
            FIXED64 => self.take(8).map(drop),
            LEN => self.bytes().map(drop),
            GROUP if depth == 0 => self.broken("groups lie more than 100 deep in one another"),
            GROUP => self.skip_group(tag >> 3, depth - 1),
            FIXED32 => self.take(4).map(drop),
            END_GROUP => self.broken("a group ends that did not begin"),
            _ => self.broken("a field has an unknown wire type"),
        }
    }

    /// Steps over a group; protobuf lets fields with the number 0 pass in there.
    fn skip_group(&mut self, field: u32, depth: u32) -> Wire<()> {
        loop {
            let start = self.pos;
            let tag = self.any_tag()?;
            if tag & 7 != END_GROUP {
                self.skip_nested(tag, depth)?;
            } else if tag >> 3 == field {
                return Ok(());
            } else {
                return Err(Broken { offset: start, what: "a group ends that did not begin" });
            }
        }
    }

    /// The bytes from `start` to `end` of the payload, which lie in this message.
    #[inline]
    pub fn within(&self, start: usize, end: usize) -> Reader<'a> {
        Reader { buf: &self.buf[..end], pos: start, depth: self.depth }
    }

    /// The varint of a field whose tag was read, as a message of its own.
    pub fn one_varint(&mut self) -> Wire<Reader<'a>> {
        let start = self.pos;
        self.varint()?;
        Ok(self.within(start, self.pos))
    }
}

/// Bytes that the varint of `value` takes.
#[inline]
pub fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Appends the varint of `value`.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_varint_when_written_by_hand_then_bytes_are_those() {
        let cases: [(u64, &[u8]); 5] = [
            (0, &[0]),
            (127, &[0x7f]),
            (300, &[0xac, 0x02]),
            (1 << 32, &[0x80, 0x80, 0x80, 0x80, 0x10]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ];
        for (value, bytes) in cases {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!((&out[..], varint_len(value)), (bytes, bytes.len()));
            assert_eq!(Reader::new(bytes).varint(), Ok(value));
        }
    }

    #[test]
    fn test_message_when_nested_then_positions_count_from_the_payload() {
        let payload = [0x0a, 0x03, 0x12, 0x01, 0x07, 0x50];
        let mut outer = Reader::new(&payload);
        assert_eq!(outer.tag(), Ok(LEN_1));
        let mut inner = outer.message().expect("three bytes");
        assert_eq!((inner.pos, inner.buf.len(), outer.pos), (2, 5, 5));
        assert_eq!(inner.tag(), Ok(LEN_2));
        assert_eq!(inner.bytes(), Ok(&[7][..]));
        assert!(inner.is_empty());
        assert_eq!(inner.tag().map_err(|broken| broken.offset), Err(5));
    }
}
