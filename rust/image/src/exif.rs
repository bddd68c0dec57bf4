//! The orientation that a camera notes in EXIF data (EXIF 2.32 section 4.6.4, TIFF 6.0 section 2).

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;
const ENTRY_BYTES: usize = 12;

/// The orientation, 1 to 8, in a segment that begins with the word EXIF, as JPEG has it.
pub(crate) fn orientation_in_segment(body: &[u8]) -> Option<u8> {
    orientation(body.strip_prefix(b"Exif\0")?.get(1..)?)
}

/// The orientation, 1 to 8, of the first directory; none if there is none or the data make no sense.
pub(crate) fn orientation(tiff: &[u8]) -> Option<u8> {
    let reader = Reader::of(tiff)?;
    let start = reader.u32(4)? as usize;
    let count = usize::from(reader.u16(start)?);
    let entries = start.checked_add(2)?;
    let entry = (0..count).map(|k| entries + k * ENTRY_BYTES).find(|&at| reader.u16(at) == Some(ORIENTATION))?;
    if reader.u16(entry + 2)? != SHORT || reader.u32(entry + 4)? != 1 {
        return None;
    }
    let value = reader.u16(entry + 8)?;
    u8::try_from(value).ok().filter(|value| (1..=8).contains(value))
}

/// Numbers of a TIFF structure of either byte order.
struct Reader<'a> {
    data: &'a [u8],
    little: bool,
}

impl<'a> Reader<'a> {
    fn of(data: &'a [u8]) -> Option<Self> {
        let little = match data.get(..4)? {
            b"II\x2a\0" => true,
            b"MM\0\x2a" => false,
            _ => return None,
        };
        Some(Self { data, little })
    }

    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..)?.first_chunk::<N>().copied()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes(at)?;
        Some(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes(at)?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}
