//! The protobuf wire format: varints, tags, lengths, and skipping of fields.
use crate::error::{Fault, FaultKind};
use crate::memory::OutOfMemory;

/// Tag of field 1 with a length-delimited value.
pub const LEN_1: u32 = 0x0a;
/// Tag of field 2 with a length-delimited value.
pub const LEN_2: u32 = 0x12;
/// Tag of field 1 with a varint as its value.
pub const VARINT_1: u32 = 0x08;
/// Tag of field 1 with a value of eight bytes.
pub const FIXED64_1: u32 = 0x09;
/// Tag of field 1 with a value of four bytes.
pub const FIXED32_1: u32 = 0x0d;

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LEN: u32 = 2;
const GROUP: u32 = 3;
const END_GROUP: u32 = 4;
const FIXED32: u32 = 5;

/// Maximum nesting depth of messages and groups.
const MAX_DEPTH: u32 = 100;
const MAX_LEN: u64 = i32::MAX as u64;
const MAX_VARINT: usize = 10;
/// Tags and lengths are 32-bit numbers, so their varints end within five bytes.
const MAX_SHORT_VARINT: usize = 5;

/// An encoding error. It is smaller than a [`Fault`], because it is part of every result on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// Offset in the payload.
    pub offset: usize,
    /// Description of the error.
    pub what: &'static str,
}

/// Result of reading from a message: a value or an encoding error.
pub type WireResult<T> = Result<T, WireError>;

/// Reason why a payload could not be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// The payload has an encoding error.
    Wire(WireError),
    /// There is not enough memory for the values.
    OutOfMemory(OutOfMemory),
}

/// Result of parsing values into a sink.
pub type ParseResult<T> = Result<T, ParseError>;

impl From<WireError> for ParseError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<OutOfMemory> for ParseError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Wire(error) => error.into(),
            ParseError::OutOfMemory(error) => error.into(),
        }
    }
}

impl From<WireError> for Fault {
    fn from(error: WireError) -> Self {
        Self::new(FaultKind::BadPayload, error.offset as u64, error.what)
    }
}

/// Reader of one message, which may be nested in others. Its buffer starts with the payload, so that positions are
/// offsets in the payload.
#[derive(Debug, Clone, Copy)]
pub struct WireReader<'a> {
    /// The payload up to the end of this message.
    pub buf: &'a [u8],
    /// Position of the next byte; at most `buf.len()`.
    pub pos: usize,
    /// Remaining nesting depth.
    depth: u32,
}

impl<'a> WireReader<'a> {
    /// Creates a reader at the start of a payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { buf: payload, pos: 0, depth: MAX_DEPTH }
    }

    /// Returns whether the end of the message is reached.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pos >= self.buf.len()
    }

    /// Returns the bytes that are not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.buf[self.pos..]
    }

    /// Returns an error at the current position.
    fn error_here<T>(&self, what: &'static str) -> WireResult<T> {
        Err(WireError { offset: self.pos, what })
    }

    /// Reads a varint of up to ten bytes. Bits beyond the 64th are dropped.
    #[inline]
    pub fn read_varint(&mut self) -> WireResult<u64> {
        match self.buf.get(self.pos) {
            Some(&byte) if byte < 0x80 => {
                self.pos += 1;
                Ok(u64::from(byte))
            }
            _ => self.read_long_varint(),
        }
    }

    fn read_long_varint(&mut self) -> WireResult<u64> {
        let mut value = 0;
        for (i, &byte) in self.rest().iter().take(MAX_VARINT).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.pos += i + 1;
                return Ok(value);
            }
        }
        let is_truncated = self.buf.len() - self.pos < MAX_VARINT;
        self.error_here(if is_truncated {
            "a varint runs past the end of its message"
        } else {
            "a varint is longer than 10 bytes"
        })
    }

    /// Reads a varint of up to five bytes whose value is at most `max`.
    #[inline]
    fn read_short_varint(&mut self, max: u64, what: &'static str) -> WireResult<usize> {
        let start = self.pos;
        let value = self.read_varint()?;
        if value > max || self.pos - start > MAX_SHORT_VARINT {
            return Err(WireError { offset: start, what });
        }
        Ok(value as usize)
    }

    /// Reads the tag of the next field: field number and wire type.
    #[inline]
    pub fn read_tag(&mut self) -> WireResult<u32> {
        let start = self.pos;
        let tag = self.read_any_tag()?;
        if tag >> 3 == 0 {
            return Err(WireError { offset: start, what: "a field number is 0" });
        }
        Ok(tag)
    }

    #[inline]
    fn read_any_tag(&mut self) -> WireResult<u32> {
        Ok(self.read_short_varint(u64::from(u32::MAX), "a tag does not fit into 32 bits")? as u32)
    }

    /// Reads `len` bytes.
    #[inline]
    fn take_bytes(&mut self, len: usize) -> WireResult<&'a [u8]> {
        match self.rest().get(..len) {
            Some(bytes) => {
                self.pos += len;
                Ok(bytes)
            }
            None => self.error_here("a field runs past the end of its message"),
        }
    }

    /// Reads a length-delimited field after its tag.
    #[inline]
    pub fn read_length_delimited(&mut self) -> WireResult<&'a [u8]> {
        let start = self.pos;
        let len = self.read_short_varint(MAX_LEN, "a length is 2 GiB or more")?;
        self.take_bytes(len).map_err(|error| WireError { offset: start, ..error })
    }

    /// Returns a reader of the message in a length-delimited field, after its tag.
    #[inline]
    pub fn read_message(&mut self) -> WireResult<WireReader<'a>> {
        let len = self.read_length_delimited()?.len();
        Ok(WireReader { buf: &self.buf[..self.pos], pos: self.pos - len, depth: self.depth - 1 })
    }

    /// Reads a four-byte field after its tag.
    pub fn read_fixed32(&mut self) -> WireResult<&'a [u8]> {
        self.take_bytes(4)
    }

    /// Reads an eight-byte field after its tag.
    pub fn read_fixed64(&mut self) -> WireResult<&'a [u8]> {
        self.take_bytes(8)
    }

    /// Skips the content of a field whose `tag` has been read.
    pub fn skip_field(&mut self, tag: u32) -> WireResult<()> {
        self.skip_nested_field(tag, self.depth)
    }

    fn skip_nested_field(&mut self, tag: u32, depth: u32) -> WireResult<()> {
        match tag & 7 {
            VARINT => self.read_varint().map(drop),
            FIXED64 => self.take_bytes(8).map(drop),
            LEN => self.read_length_delimited().map(drop),
            GROUP if depth == 0 => self.error_here("groups are nested more than 100 levels deep"),
            GROUP => self.skip_group(tag >> 3, depth - 1),
            FIXED32 => self.take_bytes(4).map(drop),
            END_GROUP => self.error_here("the end of a group has no matching start"),
            _ => self.error_here("a field has an unknown wire type"),
        }
    }

    /// Skips a group. Like protobuf, accepts fields with number 0 inside it.
    fn skip_group(&mut self, field: u32, depth: u32) -> WireResult<()> {
        loop {
            let start = self.pos;
            let tag = self.read_any_tag()?;
            if tag & 7 != END_GROUP {
                self.skip_nested_field(tag, depth)?;
            } else if tag >> 3 == field {
                return Ok(());
            } else {
                return Err(WireError { offset: start, what: "the end of a group has no matching start" });
            }
        }
    }

    /// Returns a reader of the bytes from `start` to `end` of the payload, which must be in this message.
    #[inline]
    pub fn subreader(&self, start: usize, end: usize) -> WireReader<'a> {
        WireReader { buf: &self.buf[..end], pos: start, depth: self.depth }
    }

    /// Reads a varint after its tag; returns a reader of its bytes.
    pub fn read_varint_field(&mut self) -> WireResult<WireReader<'a>> {
        let start = self.pos;
        self.read_varint()?;
        Ok(self.subreader(start, self.pos))
    }
}

/// Returns the number of bytes of `value` as a varint.
#[inline]
pub fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Appends `value` as a varint.
#[inline]
pub fn append_varint(out: &mut Vec<u8>, mut value: u64) {
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
    fn varint_round_trips_known_encodings() {
        let cases: [(u64, &[u8]); 5] = [
            (0, &[0]),
            (127, &[0x7f]),
            (300, &[0xac, 0x02]),
            (1 << 32, &[0x80, 0x80, 0x80, 0x80, 0x10]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ];
        for (value, bytes) in cases {
            let mut out = Vec::new();
            append_varint(&mut out, value);
            assert_eq!((&out[..], varint_len(value)), (bytes, bytes.len()));
            assert_eq!(WireReader::new(bytes).read_varint(), Ok(value));
        }
    }

    #[test]
    fn nested_message_positions_are_payload_offsets() {
        let payload = [0x0a, 0x03, 0x12, 0x01, 0x07, 0x50];
        let mut outer = WireReader::new(&payload);
        assert_eq!(outer.read_tag(), Ok(LEN_1));
        let mut inner = outer.read_message().expect("three bytes");
        assert_eq!((inner.pos, inner.buf.len(), outer.pos), (2, 5, 5));
        assert_eq!(inner.read_tag(), Ok(LEN_2));
        assert_eq!(inner.read_length_delimited(), Ok(&[7][..]));
        assert!(inner.is_empty());
        assert_eq!(inner.read_tag().map_err(|error| error.offset), Err(5));
    }
}
