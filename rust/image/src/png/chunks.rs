//! The chunk layer: signature, lengths, types and CRCs (PNG specification, section 5).
use crate::fault::{ImageFault, ImageFaultKind, Result};

pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const MAX_LENGTH: usize = 0x7fff_ffff;
/// Number of bytes in a chunk besides its data: length, type and CRC.
const OVERHEAD: usize = 12;

/// One chunk of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    pub(super) kind: [u8; 4],
    pub(super) body: &'a [u8],
    /// Offset of the chunk in the file.
    pub(super) offset: usize,
    checked: &'a [u8],
    stored: u32,
}

impl Chunk<'_> {
    /// Returns whether the chunk type is critical, so that a decoder that does not know it must reject the image.
    pub(super) fn is_critical(&self) -> bool {
        self.kind[0].is_ascii_uppercase()
    }

    /// Returns the offset of the first byte after the chunk.
    pub(super) fn end(&self) -> usize {
        self.offset + OVERHEAD + self.body.len()
    }

    /// Returns an error unless the stored CRC equals the CRC of the chunk's type and data.
    pub(super) fn check_crc(&self) -> Result<()> {
        let mut crc = libdeflater::Crc::new();
        crc.update(self.checked);
        if crc.sum() == self.stored {
            return Ok(());
        }
        let name = self.name();
        let expected = format!("CRC-32 0x{:08x} of chunk {name}", self.stored);
        Err(ImageFault::new(ImageFaultKind::BadChecksum, self.offset, expected, format!("0x{:08x}", crc.sum())))
    }

    /// Returns the chunk type as text.
    pub(super) fn name(&self) -> String {
        self.kind.escape_ascii().to_string()
    }

    /// Creates a `BadChunk` error at this chunk.
    pub(super) fn fault(&self, expected: impl Into<String>, found: impl Into<String>) -> ImageFault {
        ImageFault::new(ImageFaultKind::BadChunk, self.offset, expected, found)
    }
}

/// Reads the chunks of a file one after another.
pub(super) struct Chunks<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Chunks<'a> {
    /// Creates a reader that starts after the signature of a file. Returns an error if the signature is wrong.
    pub(super) fn after_signature(data: &'a [u8]) -> Result<Self> {
        let head =
            data.get(..SIGNATURE.len()).ok_or_else(|| truncated_fault(data.len(), "the PNG signature", data.len()))?;
        if head != SIGNATURE {
            return Err(ImageFault::new(
                ImageFaultKind::BadMarker,
                0,
                "the PNG signature",
                head.escape_ascii().to_string(),
            ));
        }
        Ok(Self { data, at: SIGNATURE.len() })
    }

    /// Creates a reader that starts at byte `at`, where a chunk must begin.
    pub(super) fn at_offset(data: &'a [u8], at: usize) -> Self {
        Self { data, at }
    }

    /// Returns the next chunk, or an error if its length exceeds the rest of the file.
    pub(super) fn next(&mut self) -> Result<Chunk<'a>> {
        let rest = &self.data[self.at..];
        let Some((head, rest)) = rest.split_first_chunk::<8>() else {
            return Err(truncated_fault(self.at, "a chunk", rest.len()));
        };
        let [l0, l1, l2, l3, kind @ ..] = *head;
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        self.check_length(length, kind)?;
        let Some((body, rest)) = rest.split_at_checked(length) else {
            return Err(truncated_fault(
                self.at,
                &format!("{length} bytes of chunk {}", kind.escape_ascii()),
                rest.len(),
            ));
        };
        let Some((stored, _)) = rest.split_first_chunk::<4>() else {
            return Err(truncated_fault(self.at, "a CRC", rest.len()));
        };
        let checked = &self.data[self.at + 4..self.at + 8 + length];
        let chunk = Chunk { kind, body, offset: self.at, checked, stored: u32::from_be_bytes(*stored) };
        self.at = chunk.end();
        Ok(chunk)
    }

    fn check_length(&self, length: usize, kind: [u8; 4]) -> Result<()> {
        let fault = |expected: &str, found| Err(ImageFault::new(ImageFaultKind::BadChunk, self.at, expected, found));
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return fault("a chunk type of four letters", kind.escape_ascii().to_string());
        }
        if length > MAX_LENGTH {
            return fault("a chunk of at most 2147483647 bytes", length.to_string());
        }
        Ok(())
    }
}

fn truncated_fault(offset: usize, expected: &str, rest: usize) -> ImageFault {
    ImageFault::new(ImageFaultKind::Truncated, offset, expected, format!("{rest} bytes"))
}
