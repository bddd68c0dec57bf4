//! Reading big-endian fields from a marker's segment, with the offset of whatever is missing.
use crate::fault::{ImageFault, ImageFaultKind, Result};

/// The bytes of one segment that are still unread, and where they stand in the image.
#[derive(Clone, Copy)]
pub(in crate::jpeg) struct Bytes<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Bytes<'a> {
    /// The bytes `rest`, of which the first stands at `offset` of the image.
    pub(in crate::jpeg) fn new(rest: &'a [u8], offset: usize) -> Self {
        Self { rest, offset }
    }

    /// Where the next byte stands in the image.
    pub(in crate::jpeg) fn offset(&self) -> usize {
        self.offset
    }

    /// How many bytes are left.
    pub(in crate::jpeg) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The next `count` bytes; a segment that is too short is a fault of `kind`.
    pub(in crate::jpeg) fn take(&mut self, count: usize, kind: ImageFaultKind) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.rest.split_at_checked(count) else {
            let found = format!("{} bytes", self.rest.len());
            return Err(ImageFault::new(kind, self.offset, format!("{count} more bytes in the segment"), found));
        };
        (self.rest, self.offset) = (rest, self.offset + count);
        Ok(head)
    }

    /// The next byte.
    pub(in crate::jpeg) fn byte(&mut self, kind: ImageFaultKind) -> Result<u8> {
        Ok(self.take(1, kind)?[0])
    }

    /// The next two bytes as one number.
    pub(in crate::jpeg) fn pair(&mut self, kind: ImageFaultKind) -> Result<u16> {
        let bytes = self.take(2, kind)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Demands that nothing is left.
    pub(in crate::jpeg) fn end(&self, kind: ImageFaultKind) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let found = format!("{} more bytes", self.rest.len());
        Err(ImageFault::new(kind, self.offset, "the end of the segment", found))
    }
}
