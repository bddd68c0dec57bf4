//! The orientation that a camera notes in the EXIF segment (EXIF 2.32 section 4.6.4, TIFF 6.0 section 2).
use super::bytes::Bytes;
use crate::fault::ImageFaultKind;

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;

/// The orientation 1 to 8 in an APP1 segment; none where the segment is not EXIF, is damaged, or does not say.
pub(in crate::jpeg) fn orientation(mut segment: Bytes<'_>) -> Option<u8> {
    let body = segment.take(segment.len(), ImageFaultKind::BadMarker).ok()?;
    let tiff = Tiff::new(body.strip_prefix(b"Exif\0")?.get(1..)?)?;
    let directory = tiff.long(4)? as usize;
    let num_entries = usize::from(tiff.short(directory)?);
    let entries = (0..num_entries).map(|entry| directory + 2 + 12 * entry);
    for entry in entries {
        if tiff.short(entry)? == ORIENTATION {
            let stored_short = tiff.short(entry + 2)? == SHORT && tiff.long(entry + 4)? == 1;
            let value = tiff.short(entry + 8).filter(|value| stored_short && (1..=8).contains(value))?;
            return u8::try_from(value).ok();
        }
    }
    None
}

/// A TIFF structure of either byte order.
struct Tiff<'a> {
    body: &'a [u8],
    big: bool,
}

impl<'a> Tiff<'a> {
    fn new(body: &'a [u8]) -> Option<Self> {
        let big = match body.get(..4)? {
            b"MM\0*" => true,
            b"II*\0" => false,
            _ => return None,
        };
        Some(Self { body, big })
    }

    fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.body.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, at: usize) -> Option<u32> {
        let bytes = self.body.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}
