//! Marker codes, and readers for markers and their segments (T.81 B.1.1).
use crate::fault::{ImageFault, ImageFaultKind, Result};

pub(in crate::jpeg) const TEM: u8 = 0x01;
pub(in crate::jpeg) const SOF0: u8 = 0xc0;
pub(in crate::jpeg) const SOF1: u8 = 0xc1;
pub(in crate::jpeg) const SOF2: u8 = 0xc2;
pub(in crate::jpeg) const DHT: u8 = 0xc4;
pub(in crate::jpeg) const DAC: u8 = 0xcc;
pub(in crate::jpeg) const RST0: u8 = 0xd0;
pub(in crate::jpeg) const RST7: u8 = 0xd7;
pub(in crate::jpeg) const SOI: u8 = 0xd8;
pub(in crate::jpeg) const EOI: u8 = 0xd9;
pub(in crate::jpeg) const SOS: u8 = 0xda;
pub(in crate::jpeg) const DQT: u8 = 0xdb;
pub(in crate::jpeg) const DNL: u8 = 0xdc;
pub(in crate::jpeg) const DRI: u8 = 0xdd;
pub(in crate::jpeg) const APP0: u8 = 0xe0;
pub(in crate::jpeg) const APP1: u8 = 0xe1;
pub(in crate::jpeg) const APP14: u8 = 0xee;
pub(in crate::jpeg) const APP15: u8 = 0xef;
pub(in crate::jpeg) const COM: u8 = 0xfe;

/// Reads the markers of an image one after another.
#[derive(Clone, Copy)]
pub(in crate::jpeg) struct MarkerReader<'a> {
    data: &'a [u8],
    next: usize,
}

impl<'a> MarkerReader<'a> {
    /// Creates a reader that starts after the SOI marker at the start of the image.
    pub(in crate::jpeg) fn new(data: &'a [u8]) -> Result<Self> {
        match data {
            [0xff, SOI, ..] => Ok(Self { data, next: 2 }),
            [] | [0xff] => {
                Err(ImageFault::new(ImageFaultKind::Truncated, data.len(), "a start-of-image marker", "the end"))
            }
            _ => Err(ImageFault::new(ImageFaultKind::BadMarker, 0, "a start-of-image marker", format_bytes(data))),
        }
    }

    /// Creates a reader that starts at byte `next` of `data`.
    pub(in crate::jpeg) fn resume(data: &'a [u8], next: usize) -> Self {
        Self { data, next }
    }

    /// Returns the offset of the next unread byte.
    pub(in crate::jpeg) fn offset(&self) -> usize {
        self.next
    }

    /// Returns the code of the next marker. Any number of 0xff fill bytes may precede it.
    pub(in crate::jpeg) fn next(&mut self) -> Result<u8> {
        let start = self.next;
        if let Some(&first) = self.data.get(start)
            && first != 0xff
        {
            return Err(ImageFault::new(
                ImageFaultKind::BadMarker,
                start,
                "a marker",
                format_bytes(&self.data[start..]),
            ));
        }
        let rest = self.data.get(start..).unwrap_or_default();
        let Some(fill) = rest.iter().position(|&byte| byte != 0xff) else {
            return Err(ImageFault::new(ImageFaultKind::Truncated, self.data.len(), "a marker", "the end"));
        };
        self.next = start + fill + 1;
        if rest[fill] == 0 {
            return Err(ImageFault::new(ImageFaultKind::BadMarker, start, "a marker", "a stuffed byte"));
        }
        Ok(rest[fill])
    }

    /// Returns the segment of the marker just read, without its length field.
    pub(in crate::jpeg) fn segment(&mut self) -> Result<SegmentReader<'a>> {
        let start = self.next;
        let truncated =
            |found: String| ImageFault::new(ImageFaultKind::Truncated, self.data.len(), "a whole segment", found);
        let Some(length) = self.data.get(start..start + 2) else { return Err(truncated("no length".into())) };
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        if length < 2 {
            return Err(ImageFault::new(ImageFaultKind::BadMarker, start, "a length of 2 or more", length.to_string()));
        }
        let Some(body) = self.data.get(start + 2..start + length) else {
            return Err(truncated(format!("{} of {length} bytes", self.data.len() - start)));
        };
        self.next = start + length;
        Ok(SegmentReader::new(body, start + 2))
    }
}

/// Formats the first four bytes of `data` in hexadecimal for an error.
fn format_bytes(data: &[u8]) -> String {
    let shown: Vec<String> = data.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    shown.join(" ")
}

/// Reads big-endian fields of one marker segment. Errors state the offset of the missing field.
#[derive(Clone, Copy)]
pub(in crate::jpeg) struct SegmentReader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> SegmentReader<'a> {
    /// Creates a reader of `rest`, whose first byte is at byte `offset` of the file.
    pub(in crate::jpeg) fn new(rest: &'a [u8], offset: usize) -> Self {
        Self { rest, offset }
    }

    /// Returns the byte offset in the file of the next unread byte.
    pub(in crate::jpeg) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of unread bytes.
    pub(in crate::jpeg) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Returns the next `count` bytes, or an error of `kind` if the segment is too short.
    pub(in crate::jpeg) fn take(&mut self, count: usize, kind: ImageFaultKind) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.rest.split_at_checked(count) else {
            let found = format!("{} bytes", self.rest.len());
            return Err(ImageFault::new(kind, self.offset, format!("{count} more bytes in the segment"), found));
        };
        (self.rest, self.offset) = (rest, self.offset + count);
        Ok(head)
    }

    /// Reads the next byte of the segment.
    pub(in crate::jpeg) fn byte(&mut self, kind: ImageFaultKind) -> Result<u8> {
        Ok(self.take(1, kind)?[0])
    }

    /// Reads the next two bytes of the segment as a big-endian integer.
    pub(in crate::jpeg) fn pair(&mut self, kind: ImageFaultKind) -> Result<u16> {
        let bytes = self.take(2, kind)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Returns an error if the segment has unread bytes.
    pub(in crate::jpeg) fn end(&self, kind: ImageFaultKind) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let found = format!("{} more bytes", self.rest.len());
        Err(ImageFault::new(kind, self.offset, "the end of the segment", found))
    }
}
