//! The compressed rows: the IDAT chunks as one zlib stream, inflated to the size that the header promises.
use super::layout::ImageData;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use libdeflater::{Adler32, DecompressionError, Decompressor};

/// A deflate stream cannot grow by more than this factor: 258 bytes for two bits (RFC 1951, section 3.2.5).
const MAX_GROWTH: u64 = 1032;
/// Bytes after the last row that are inflated and dropped, as all readers do.
const SLACK: usize = 1 << 16;
/// Room behind the rows: libdeflate leaves its fast loop when less than this is left, in small images half way through.
const AHEAD: usize = 320;
/// Buffers larger than this are given back after an image.
const KEPT: usize = 32 << 20;

/// Inflates image after image into the same memory.
pub(super) struct Inflater {
    libdeflate: Decompressor,
    joined: Vec<u8>,
    rows: Vec<u8>,
}

impl Inflater {
    pub(super) fn new() -> Self {
        Self { libdeflate: Decompressor::new(), joined: Vec::new(), rows: Vec::new() }
    }

    /// The `length` bytes of the rows.
    pub(super) fn inflate(&mut self, data: &ImageData, length: u64, checksums: bool) -> Result<&mut [u8]> {
        let Ok(length) = usize::try_from(length) else {
            let expected = "rows that fit into memory";
            return Err(ImageFault::new(ImageFaultKind::LimitExceeded, data.offset, expected, length.to_string()));
        };
        let rows = grown(&mut self.rows, length.saturating_add(AHEAD));
        if checksums && fill_onward(&mut self.libdeflate, data, rows, length).is_some() {
            return Ok(&mut self.rows[..length]);
        }
        let stream = join(data, &mut self.joined);
        let inflated = fill(&mut self.libdeflate, stream, rows, length, checksums);
        let inflated = match inflated {
            Err(Flaw::TooLong) => {
                let rows = grown(&mut self.rows, length + SLACK);
                fill(&mut self.libdeflate, stream, rows, length, checksums)
            }
            other => other,
        };
        inflated.map_err(|flaw| flaw.fault(data.offset, length))?;
        Ok(&mut self.rows[..length])
    }

    /// Gives back memory that only a very large image needs.
    pub(super) fn trim(&mut self) {
        for buffer in [&mut self.joined, &mut self.rows] {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
    }
}

/// Refuses data that cannot inflate to `length` bytes, before memory is taken for them.
pub(super) fn check(data: &ImageData, length: u64) -> Result<()> {
    if length.div_ceil(MAX_GROWTH) <= data.length as u64 {
        return Ok(());
    }
    let expected = format!("compressed data for {length} bytes of rows");
    Err(ImageFault::new(ImageFaultKind::Truncated, data.offset, expected, format!("{} bytes", data.length)))
}

/// One slice with all data: that of the only chunk with data, or a copy.
fn join<'a>(data: &ImageData<'a>, joined: &'a mut Vec<u8>) -> &'a [u8] {
    if let Some(part) = data.parts().find(|part| !part.is_empty())
        && part.len() == data.length
    {
        return part;
    }
    joined.clear();
    data.parts().for_each(|part| joined.extend_from_slice(part));
    joined
}

/// The first `length` bytes of a buffer that never shrinks, so that it is cleared only once.
fn grown(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.clear();
        buffer.resize(length, 0);
    }
    &mut buffer[..length]
}

enum Flaw {
    Header,
    Deflate,
    Adler,
    TooShort(usize),
    TooLong,
}

impl Flaw {
    fn fault(self, offset: usize, length: usize) -> ImageFault {
        let (kind, expected, found) = match self {
            Self::Header => (ImageFaultKind::BadCompression, "a zlib header".into(), "other bytes".into()),
            Self::Deflate => (ImageFaultKind::BadCompression, "a deflate stream".into(), "damaged data".into()),
            Self::Adler => (ImageFaultKind::BadChecksum, "the Adler-32 of the rows".into(), "another".into()),
            Self::TooShort(found) => (ImageFaultKind::Truncated, format!("{length} bytes of rows"), found.to_string()),
            Self::TooLong => {
                (ImageFaultKind::BadCompression, format!("{length} bytes of rows"), "far more than that".into())
            }
        };
        ImageFault::new(kind, offset, expected, found)
    }
}

/// Inflates the data of a sound file with one IDAT chunk; None leaves it to [`fill`], which is exact about flaws.
///
/// libdeflate also leaves its fast loop near the end of what it reads, so it is shown what follows in the file. Rows of a
/// stream that went on there have the sum in front of it by chance alone.
fn fill_onward(libdeflate: &mut Decompressor, data: &ImageData, out: &mut [u8], length: usize) -> Option<()> {
    let onward = data.onward()?;
    let (header, sum) = onward.get(..data.length)?.split_at_checked(data.length.checked_sub(4)?)?;
    if !is_zlib(header.first_chunk()?) {
        return None;
    }
    let count = libdeflate.deflate_decompress(&onward[2..], out).ok()?;
    let mut adler = Adler32::new();
    adler.update(out.get(..count)?);
    (count >= length && adler.sum().to_be_bytes() == sum).then_some(())
}

fn is_zlib([method, flags]: &[u8; 2]) -> bool {
    let checked = (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0;
    checked && method & 0x0f == 8 && method >> 4 <= 7 && flags & 0x20 == 0
}

/// Inflates a zlib stream (RFC 1950) of at least `length` bytes into `out`.
fn fill(
    libdeflate: &mut Decompressor,
    stream: &[u8],
    out: &mut [u8],
    length: usize,
    checksums: bool,
) -> std::result::Result<(), Flaw> {
    let Some((header, deflated)) = stream.split_first_chunk() else { return Err(Flaw::TooShort(0)) };
    if !is_zlib(header) {
        return Err(Flaw::Header);
    }
    let inflated = match checksums {
        true => libdeflate.zlib_decompress(stream, out),
        false => libdeflate.deflate_decompress(deflated, out),
    };
    match inflated {
        Ok(count) if count >= length => Ok(()),
        Ok(count) => Err(Flaw::TooShort(count)),
        Err(DecompressionError::InsufficientSpace) => Err(Flaw::TooLong),
        Err(DecompressionError::BadData) if checksums && libdeflate.deflate_decompress(deflated, out).is_ok() => {
            Err(Flaw::Adler)
        }
        Err(DecompressionError::BadData) => Err(Flaw::Deflate),
    }
}
