//! Parses the orientation tag of EXIF data (EXIF 2.32 section 4.6.4, TIFF 6.0 section 2).

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;
const LONG: u16 = 4;
const SIGNED_SHORT: u16 = 8;
const SIGNED_LONG: u16 = 9;
const ENTRY_BYTES: usize = 12;

/// Returns the orientation, 1 to 8, of a JPEG APP1 segment body that starts with the EXIF identifier.
pub(crate) fn orientation_in_segment(body: &[u8]) -> Option<u8> {
    orientation(body.strip_prefix(b"Exif\0\0")?)
}

/// Returns the orientation, 1 to 8, from the first image file directory, or `None` if it is absent or malformed.
pub(crate) fn orientation(tiff: &[u8]) -> Option<u8> {
    let reader = TiffReader::new(tiff)?;
    let start = reader.read_u32(4)? as usize;
    let count = usize::from(reader.read_u16(start)?);
    let entries = start.checked_add(2)?;
    let entry = (0..count).map(|k| entries + k * ENTRY_BYTES).find(|&at| reader.read_u16(at) == Some(ORIENTATION))?;
    u8::try_from(reader.first_number(entry)?).ok().filter(|value| (1..=8).contains(value))
}

/// Reads integers from a TIFF structure in the byte order that its header states.
struct TiffReader<'a> {
    data: &'a [u8],
    little: bool,
}

impl<'a> TiffReader<'a> {
    fn new(data: &'a [u8]) -> Option<Self> {
        let little = match data.get(..4)? {
            b"II\x2a\0" => true,
            b"MM\0\x2a" => false,
            _ => return None,
        };
        Some(Self { data, little })
    }

    fn bytes_at<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..)?.first_chunk::<N>().copied()
    }

    /// Returns the first value of a directory entry, or `None` if its data does not lie within the file. EXIF requires
    /// exactly one SHORT for the orientation. A LONG, or several values, are accepted too, because other libraries
    /// accept them.
    fn first_number(&self, entry: usize) -> Option<u32> {
        self.bytes_at::<ENTRY_BYTES>(entry)?;
        let width = match self.read_u16(entry + 2)? {
            SHORT | SIGNED_SHORT => 2,
            LONG | SIGNED_LONG => 4,
            _ => return None,
        };
        let length = (self.read_u32(entry + 4)? as usize).checked_mul(width).filter(|&length| length > 0)?;
        let value_offset = if length > 4 { self.read_u32(entry + 8)? as usize } else { entry + 8 };
        self.data.get(value_offset..value_offset.checked_add(length)?)?;
        if width == 2 { self.read_u16(value_offset).map(u32::from) } else { self.read_u32(value_offset) }
    }

    fn read_u16(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes_at(at)?;
        Some(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn read_u32(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes_at(at)?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}
