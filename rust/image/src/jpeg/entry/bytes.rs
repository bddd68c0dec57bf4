//! Entry points as bytes.
//!
//! Layout: magic `RMJE`, version u8, fingerprint u64 (length and CRC-32 of the image) and, as variable-length integers (seven bits a byte, lowest first), the number
//! of components, the MCUs between entry points and the number of entry points; then for each its bit in the file and its DC values,
//! signed, as differences: of the bit from what the previous difference foretells, of each DC from that of the entry point before.
//! The CRC-32 of all that at the end, u32. Fixed-width integers are little-endian.
use super::EntryPoints;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::walk::Place;
use libdeflater::Crc;

const MAGIC: [u8; 5] = *b"RMJE\x01";
const HEAD: usize = MAGIC.len() + 8;
const CHECKSUM: usize = 4;
/// Bytes that a single entry point of a gray image takes at least.
pub(super) const LEAST: usize = HEAD + 5 + CHECKSUM;

impl EntryPoints {
    /// The entry points as bytes, a few for each.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.fingerprint.to_le_bytes());
        for number in [self.num_components, self.spacing, self.places.len()] {
            write(&mut bytes, number as u64);
        }
        let (mut bit, mut distance, mut predictors) = (0, 0, [0; 4]);
        for place in &self.places {
            let next = place.offset as i64 * 8 + i64::from(place.bit);
            write_signed(&mut bytes, next - bit - distance);
            (distance, bit) = (next - bit, next);
            for (now, before) in place.predictors.iter().zip(predictors).take(self.num_components) {
                write_signed(&mut bytes, now - before);
            }
            predictors = place.predictors;
        }
        let checksum = checksum(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Reads what [`EntryPoints::to_bytes`] wrote.
    ///
    /// # Errors
    /// `BadEntryPoints` if the bytes are not those, or make no sense.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let body = bytes.len().checked_sub(CHECKSUM).and_then(|length| bytes.split_at_checked(length));
        let Some((body, stored)) = body.filter(|(body, _)| body.len() >= HEAD && body.starts_with(&MAGIC)) else {
            return Err(refused(0, "not that"));
        };
        if checksum(body).to_le_bytes() != stored {
            let found = format!("{stored:02x?}");
            return Err(ImageFault::new(
                ImageFaultKind::BadEntryPoints,
                body.len(),
                format!("{:08x}", checksum(body)),
                found,
            ));
        }
        let mut fields = Fields { body, next: HEAD };
        let fingerprint = body[MAGIC.len()..HEAD].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let points = fields.points(fingerprint)?;
        if fields.next < body.len() {
            return Err(refused(fields.next, "more bytes"));
        }
        Ok(points)
    }
}

/// Bytes that are being read.
struct Fields<'a> {
    body: &'a [u8],
    next: usize,
}

impl Fields<'_> {
    fn points(&mut self, fingerprint: u64) -> Result<EntryPoints> {
        let num_components = self.number()?;
        let (spacing, num_places) = (self.number()?, self.number()?);
        let left = self.body.len() - self.next;
        if !matches!(num_components, 1 | 3 | 4) || spacing == 0 || num_places > left / (1 + num_components) {
            return Err(refused(self.next, "impossible numbers"));
        }
        let (mut bit, mut distance, mut predictors) = (0_i64, 0_i64, [0_i64; 4]);
        let mut places = Vec::with_capacity(num_places);
        for number in 1..=num_places {
            distance = distance
                .checked_add(self.signed()?)
                .filter(|&distance| distance > 0)
                .ok_or_else(|| refused(self.next, "a step back"))?;
            bit = bit.checked_add(distance).ok_or_else(|| refused(self.next, "a bit beyond any file"))?;
            for predictor in &mut predictors[..num_components] {
                let next = predictor.checked_add(self.signed()?).filter(|&next| i32::try_from(next).is_ok());
                *predictor = next.ok_or_else(|| refused(self.next, "an impossible DC"))?;
            }
            let mcu = number.checked_mul(spacing).ok_or_else(|| refused(self.next, "an impossible MCU"))?;
            places.push(Place { mcu, offset: (bit / 8) as usize, bit: (bit % 8) as u32, predictors });
        }
        Ok(EntryPoints { fingerprint, num_components, spacing, places })
    }

    fn number(&mut self) -> Result<usize> {
        usize::try_from(self.word()?).map_err(|_| refused(self.next, "an impossible number"))
    }

    fn signed(&mut self) -> Result<i64> {
        let word = self.word()?;
        Ok((word >> 1) as i64 ^ -((word & 1) as i64))
    }

    fn word(&mut self) -> Result<u64> {
        let mut word = 0;
        for shift in (0..63).step_by(7) {
            let Some(&byte) = self.body.get(self.next) else { break };
            self.next += 1;
            word |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(word);
            }
        }
        Err(refused(self.next, "an unfinished number"))
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn write_signed(bytes: &mut Vec<u8>, number: i64) {
    write(bytes, (number << 1 ^ number >> 63) as u64);
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn refused(offset: usize, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadEntryPoints, offset, "saved entry points of a JPEG image", found)
}
