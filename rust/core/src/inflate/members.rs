//! Headers and trailers of gzip members and zlib streams.
use super::Container;
use super::buffered_input::BufferedInput;
use crate::checksum::crc32;
use crate::error::{Fault, FaultKind};
use crate::source::{ReadAt, SourceError};
use miniz_oxide::mz_adler32_oxide;

const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];
const METHOD_DEFLATE: u8 = 8;
const FLAG_HEADER_CRC: u8 = 0x02;
const FLAG_EXTRA: u8 = 0x04;
const FLAG_NAME: u8 = 0x08;
const FLAG_COMMENT: u8 = 0x10;
const FLAGS_RESERVED: u8 = 0xE0;
const FLAG_DICTIONARY: u8 = 0x20;

/// Returns whether two bytes are a supported zlib header: deflate, window up to 32 KiB, no preset dictionary.
pub(super) fn is_zlib_header(cmf: u8, flg: u8) -> bool {
    zlib_header_error(cmf, flg).is_none()
}

fn zlib_header_error(cmf: u8, flg: u8) -> Option<&'static str> {
    if (u16::from(cmf) << 8 | u16::from(flg)) % 31 != 0 {
        Some("not a zlib stream: the check bits of the header are wrong")
    } else if cmf & 0x0F != METHOD_DEFLATE || cmf >> 4 > 7 {
        Some("not a zlib stream: the compression method in the header is not deflate")
    } else if flg & FLAG_DICTIONARY != 0 {
        Some("the zlib stream needs a preset dictionary")
    } else {
        None
    }
}

/// Result of looking for the next member, at the start of the file or after a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextMember {
    /// There is a member; its header has been read.
    Member,
    /// The end of the file, possibly after padding.
    End,
}

/// Reads the bytes before, between and after the deflate data of members.
pub(super) struct MemberReader<'a> {
    pub(super) container: Container,
    pub(super) input: &'a mut BufferedInput,
    pub(super) file: &'a dyn ReadAt,
    /// Offset in the decompressed data that is reported in faults.
    pub(super) offset: u64,
}

impl MemberReader<'_> {
    /// Reads the header of the next member, or finds the end of the stream. An empty file is an empty stream.
    pub(super) fn read_header(&mut self) -> Result<NextMember, SourceError> {
        let start = self.input.position();
        if !self.input.refill_if_empty(self.file)? {
            return Ok(NextMember::End);
        }
        match self.container {
            Container::Gzip => self.read_next_gzip_header(start),
            Container::Zlib if start == 0 => self.read_zlib_header(),
            Container::Zlib => Err(self.garbage_error(start, "after the zlib stream")),
        }
    }

    /// Reads the trailer of a member and compares it with the checksum and length of the member's data.
    pub(super) fn check_trailer(&mut self, computed: &MemberChecksum) -> Result<(), SourceError> {
        match self.container {
            Container::Gzip => {
                let [crc, length] =
                    [self.read_trailer_word(0, 8)?, self.read_trailer_word(4, 8)?].map(u32::from_le_bytes);
                self.compare_checksum("the CRC-32 of the gzip member is wrong", computed.value, crc)?;
                self.compare_length(computed.num_bytes, length)
            }
            Container::Zlib => {
                let adler = u32::from_be_bytes(self.read_trailer_word(0, 4)?);
                self.compare_checksum("the Adler-32 of the zlib stream is wrong", computed.value, adler)
            }
        }
    }

    fn read_next_gzip_header(&mut self, start: u64) -> Result<NextMember, SourceError> {
        if start != 0 && self.input.buffered_bytes()[0] != GZIP_MAGIC[0] {
            return self.skip_padding(start);
        }
        let magic = [self.input.next_byte(self.file)?, self.input.next_byte(self.file)?];
        if magic == GZIP_MAGIC.map(Some) {
            return self.read_gzip_fields();
        }
        if start != 0 {
            return Err(self.garbage_error(start, "after the last gzip member"));
        }
        let found: String = magic.iter().flatten().map(|byte| format!("{byte:02x}")).collect();
        let fault = self.fault("not a gzip stream: the magic bytes are wrong");
        Err(fault.with_values("1f8b", found).into())
    }

    /// Reads the fields of a gzip header that follow the magic bytes (RFC 1952, section 2.3).
    fn read_gzip_fields(&mut self) -> Result<NextMember, SourceError> {
        let mut crc = crc32(0, &GZIP_MAGIC);
        let [method, flags, ..] = self.read_header_bytes::<8>(&mut crc)?;
        if method != METHOD_DEFLATE {
            return Err(self
                .fault("unknown compression method in a gzip header")
                .with_values(METHOD_DEFLATE, method)
                .into());
        }
        if flags & FLAGS_RESERVED != 0 {
            return Err(self.fault("reserved flags are set in a gzip header").into());
        }
        if flags & FLAG_EXTRA != 0 {
            let length = u16::from_le_bytes(self.read_header_bytes(&mut crc)?);
            self.skip_header_bytes(usize::from(length), &mut crc)?;
        }
        for flag in [FLAG_NAME, FLAG_COMMENT] {
            if flags & flag != 0 {
                self.skip_header_text(&mut crc)?;
            }
        }
        if flags & FLAG_HEADER_CRC != 0 {
            let computed = crc as u16;
            let stored = u16::from_le_bytes(self.read_header_bytes(&mut crc)?);
            self.compare_checksum("the CRC-16 of a gzip header is wrong", computed.into(), stored.into())?;
        }
        Ok(NextMember::Member)
    }

    fn read_zlib_header(&mut self) -> Result<NextMember, SourceError> {
        let [cmf, flg] = self.read_header_bytes(&mut 0)?;
        match zlib_header_error(cmf, flg) {
            Some(message) => {
                Err(self.fault(message).with_values("a header such as 789c", format!("{cmf:02x}{flg:02x}")).into())
            }
            None => Ok(NextMember::Member),
        }
    }

    fn read_header_bytes<const N: usize>(&mut self, crc: &mut u32) -> Result<[u8; N], SourceError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.input.next_byte(self.file)?.ok_or_else(|| self.truncated_header_error())?;
        }
        *crc = crc32(*crc, &bytes);
        Ok(bytes)
    }

    fn skip_header_bytes(&mut self, mut count: usize, crc: &mut u32) -> Result<(), SourceError> {
        while count > 0 {
            if !self.input.refill_if_empty(self.file)? {
                return Err(self.truncated_header_error());
            }
            let chunk = self.input.buffered_bytes();
            let step = count.min(chunk.len());
            *crc = crc32(*crc, &chunk[..step]);
            self.input.consume(step);
            count -= step;
        }
        Ok(())
    }

    /// Skips text including its terminating zero byte.
    fn skip_header_text(&mut self, crc: &mut u32) -> Result<(), SourceError> {
        while self.input.refill_if_empty(self.file)? {
            let chunk = self.input.buffered_bytes();
            let end = chunk.iter().position(|&byte| byte == 0);
            let step = end.map_or(chunk.len(), |position| position + 1);
            *crc = crc32(*crc, &chunk[..step]);
            self.input.consume(step);
            if end.is_some() {
                return Ok(());
            }
        }
        Err(self.truncated_header_error())
    }

    /// Reads four bytes of a trailer of `total` bytes, of which `num_read` bytes were read before.
    fn read_trailer_word(&mut self, num_read: usize, total: usize) -> Result<[u8; 4], SourceError> {
        let mut bytes = [0; 4];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = self
                .input
                .next_byte(self.file)?
                .ok_or_else(|| self.truncated_trailer_error(num_read + index, total))?;
        }
        Ok(bytes)
    }

    /// Skips the zero bytes that tapes and block devices add at the end of a file. Fails if there are other bytes.
    fn skip_padding(&mut self, start: u64) -> Result<NextMember, SourceError> {
        while self.input.refill_if_empty(self.file)? {
            let chunk = self.input.buffered_bytes();
            if chunk.iter().any(|&byte| byte != 0) {
                return Err(self.garbage_error(start, "after the last gzip member"));
            }
            self.input.consume(chunk.len());
        }
        Ok(NextMember::End)
    }

    fn compare_checksum(&self, message: &str, computed: u32, stored: u32) -> Result<(), SourceError> {
        if computed == stored {
            return Ok(());
        }
        Err(self.fault(message).with_values(format!("{computed:#010x}"), format!("{stored:#010x}")).into())
    }

    fn compare_length(&self, num_bytes: u64, stored: u32) -> Result<(), SourceError> {
        let computed = num_bytes as u32;
        if computed == stored {
            return Ok(());
        }
        let fault = self.fault("the length of the gzip member (modulo 2^32) is wrong");
        Err(fault.with_values(format!("{computed} bytes"), format!("{stored} bytes")).into())
    }

    fn truncated_header_error(&self) -> SourceError {
        self.fault(format!("stream ends early: inside a {} header", self.container.name())).into()
    }

    fn truncated_trailer_error(&self, found: usize, total: usize) -> SourceError {
        let what = if found == 0 { "missing" } else { "truncated" };
        let message = format!("stream ends early: {} trailer {what}", self.container.name());
        self.fault(message).with_values(format!("{total} bytes"), format!("{found} bytes")).into()
    }

    fn garbage_error(&self, start: u64, position: &str) -> SourceError {
        let count = self.file.num_bytes().map(|size| format!("{} bytes of ", size.saturating_sub(start)));
        let message = format!("{}garbage {position}", count.unwrap_or_default());
        self.fault(message).into()
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::BadCompression, self.offset, message)
    }
}

/// Checksum (CRC-32 or Adler-32) and number of the bytes of a member that have been decompressed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemberChecksum {
    pub(super) container: Container,
    pub(super) value: u32,
    pub(super) num_bytes: u64,
}

impl MemberChecksum {
    /// Creates the checksum of a member of which nothing has been decompressed.
    pub(super) fn new(container: Container) -> Self {
        let value = match container {
            Container::Gzip => 0,
            Container::Zlib => 1,
        };
        Self { container, value, num_bytes: 0 }
    }

    /// Adds the next bytes of the member.
    pub(super) fn update(&mut self, data: &[u8]) {
        self.value = match self.container {
            Container::Gzip => crc32(self.value, data),
            Container::Zlib => mz_adler32_oxide(self.value, data),
        };
        self.num_bytes += data.len() as u64;
    }
}
