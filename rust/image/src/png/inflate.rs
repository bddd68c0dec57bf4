//! Inflates the zlib stream in the IDAT chunks to the size that the header implies.
use super::layout::ImageData;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use libdeflater::{Adler32, DecompressionError, Decompressor};

/// Largest expansion factor of a deflate stream: 258 bytes for two bits (RFC 1951, section 3.2.5).
const MAX_GROWTH: u64 = 1032;
/// Maximum number of bytes after the last row that are inflated and then ignored, as other decoders do.
const MAX_TRAILING_BYTES: usize = 1 << 16;
/// Number of spare bytes after the rows. libdeflate leaves its fast loop when less output space is left. Without the
/// spare bytes, a small image would be decoded in the slow loop from halfway on.
const FAST_LOOP_MARGIN: usize = 320;
/// Largest size in bytes of a buffer that is kept after an image.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Inflates image data into a reused buffer.
pub(super) struct Inflater {
    libdeflate: Decompressor,
    joined: Vec<u8>,
    rows: Vec<u8>,
}

impl Inflater {
    pub(super) fn new() -> Self {
        Self { libdeflate: Decompressor::new(), joined: Vec::new(), rows: Vec::new() }
    }

    /// Inflates the `length` bytes of the rows.
    pub(super) fn inflate(&mut self, data: &ImageData, length: u64, checksums: bool) -> Result<&mut [u8]> {
        let Ok(length) = usize::try_from(length) else {
            let expected = "rows that fit into memory";
            return Err(ImageFault::new(ImageFaultKind::LimitExceeded, data.offset, expected, length.to_string()));
        };
        let rows = ensure_len(&mut self.rows, length.saturating_add(FAST_LOOP_MARGIN))?;
        if checksums && inflate_single_chunk(&mut self.libdeflate, data, rows, length).is_some() {
            return Ok(&mut self.rows[..length]);
        }
        let stream = join_chunks(data, &mut self.joined)?;
        let inflated = inflate_stream(&mut self.libdeflate, stream, rows, length, checksums);
        let inflated = match inflated {
            Err(InflateError::TooLong) => {
                let rows = ensure_len(&mut self.rows, length + MAX_TRAILING_BYTES)?;
                inflate_stream(&mut self.libdeflate, stream, rows, length, checksums)
            }
            other => other,
        };
        inflated.map_err(|error| error.into_fault(data.offset, length))?;
        Ok(&mut self.rows[..length])
    }

    /// Frees buffers of more than `MAX_KEPT_BYTES`, which only very large images need.
    pub(super) fn free_large_buffers(&mut self) {
        for buffer in [&mut self.joined, &mut self.rows] {
            if buffer.capacity() > MAX_KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// Rejects data that cannot inflate to `length` bytes, before memory is allocated.
pub(super) fn check_expansion(data: &ImageData, length: u64) -> Result<()> {
    if length.div_ceil(MAX_GROWTH) <= data.length as u64 {
        return Ok(());
    }
    let expected = format!("compressed data for {length} bytes of rows");
    Err(ImageFault::new(ImageFaultKind::Truncated, data.offset, expected, format!("{} bytes", data.length)))
}

/// Returns the data of all IDAT chunks as one slice. Copies only if several chunks are not empty.
fn join_chunks<'a>(data: &ImageData<'a>, joined: &'a mut Vec<u8>) -> Result<&'a [u8], OutOfMemory> {
    if let Some(part) = data.parts().find(|part| !part.is_empty())
        && part.len() == data.length
    {
        return Ok(part);
    }
    joined.clear();
    memory::reserve(joined, data.length)?;
    data.parts().for_each(|part| joined.extend_from_slice(part));
    Ok(joined)
}

/// Returns the first `length` bytes of a buffer that never shrinks, so that it is zeroed only once.
fn ensure_len(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8], OutOfMemory> {
    if buffer.len() < length {
        buffer.clear();
        memory::resize(buffer, length, 0)?;
    }
    Ok(&mut buffer[..length])
}

enum InflateError {
    Header,
    Deflate,
    Adler,
    TooShort(usize),
    TooLong,
}

impl InflateError {
    fn into_fault(self, offset: usize, length: usize) -> ImageFault {
        let (kind, expected, found) = match self {
            Self::Header => (ImageFaultKind::BadCompression, "a zlib header".into(), "other bytes".into()),
            Self::Deflate => (ImageFaultKind::BadCompression, "a deflate stream".into(), "damaged data".into()),
            Self::Adler => (ImageFaultKind::BadChecksum, "the Adler-32 of the rows".into(), "another value".into()),
            Self::TooShort(found) => (ImageFaultKind::Truncated, format!("{length} bytes of rows"), found.to_string()),
            Self::TooLong => {
                (ImageFaultKind::BadCompression, format!("{length} bytes of rows"), "far more bytes".into())
            }
        };
        ImageFault::new(kind, offset, expected, found)
    }
}

/// Inflates the data of a valid file with one IDAT chunk. Returns `None` for anything else; [`inflate_stream`] then
/// determines the exact error.
///
/// libdeflate leaves its fast loop near the end of its input. To delay this, its input includes the rest of the file
/// after the chunk. If a damaged stream continued into that rest, the Adler-32 at the end of the chunk would match only
/// by chance.
fn inflate_single_chunk(libdeflate: &mut Decompressor, data: &ImageData, out: &mut [u8], length: usize) -> Option<()> {
    let data_to_file_end = data.data_to_file_end()?;
    let (header, sum) = data_to_file_end.get(..data.length)?.split_at_checked(data.length.checked_sub(4)?)?;
    if !is_zlib(header.first_chunk()?) {
        return None;
    }
    let count = libdeflate.deflate_decompress(&data_to_file_end[2..], out).ok()?;
    let mut adler = Adler32::new();
    adler.update(out.get(..count)?);
    (count >= length && adler.sum().to_be_bytes() == sum).then_some(())
}

fn is_zlib([method, flags]: &[u8; 2]) -> bool {
    let checked = (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0;
    checked && method & 0x0f == 8 && method >> 4 <= 7 && flags & 0x20 == 0
}

/// Inflates a zlib stream (RFC 1950) to at least `length` bytes in `out`.
fn inflate_stream(
    libdeflate: &mut Decompressor,
    stream: &[u8],
    out: &mut [u8],
    length: usize,
    checksums: bool,
) -> std::result::Result<(), InflateError> {
    let Some((header, deflated)) = stream.split_first_chunk() else { return Err(InflateError::TooShort(0)) };
    if !is_zlib(header) {
        return Err(InflateError::Header);
    }
    let inflated = match checksums {
        true => libdeflate.zlib_decompress(stream, out),
        false => libdeflate.deflate_decompress(deflated, out),
    };
    match inflated {
        Ok(count) if count >= length => Ok(()),
        Ok(count) => Err(InflateError::TooShort(count)),
        Err(DecompressionError::InsufficientSpace) => Err(InflateError::TooLong),
        Err(DecompressionError::BadData) if checksums && libdeflate.deflate_decompress(deflated, out).is_ok() => {
            Err(InflateError::Adler)
        }
        Err(DecompressionError::BadData) => Err(InflateError::Deflate),
    }
}
