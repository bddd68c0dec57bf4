//! Seek points as bytes: written by `save`, read back by `restore`, and refused unless they make sense.
//!
//! Layout, little-endian: magic `RMSP`, version u16, container u8, zero u8, compressed size u64, decompressed size u64
//! (all ones where unknown), spacing u64, number of points u32; then per point: offset_in u64, offset_out u64,
//! kind u8 (0 member, 1 block), and for a block: num_bits u8, bits u8, checksum u32, member bytes u64, window length u32,
//! deflated length u32, deflated window. CRC-32 of all that at the end, u32.
use super::members::MemberChecksum;
use super::seek_points::{BlockStart, MAX_POINTS, SeekPoint, SeekPoints, Window};
use super::{Container, WINDOW_BYTES};
use crate::checksum::crc32;
use crate::error::{Fault, FaultKind};

const MAGIC: [u8; 4] = *b"RMSP";
const VERSION: u16 = 1;
const UNKNOWN: u64 = u64::MAX;
const KIND_MEMBER: u8 = 0;
const KIND_BLOCK: u8 = 1;

/// What is kept between two openings of the same file.
pub(super) struct Saved {
    pub(super) points: SeekPoints,
    /// Decompressed size, if the sound end of the stream was seen.
    pub(super) num_bytes: Option<u64>,
}

/// Writes seek points whose windows are deflated.
pub(super) fn encode(saved: &Saved, container: Container, compressed: Option<u64>) -> Vec<u8> {
    let points = saved.points.as_slice();
    let mut blob = Vec::new();
    blob.extend(MAGIC);
    blob.extend(VERSION.to_le_bytes());
    blob.extend([code(container), 0]);
    for word in [compressed.unwrap_or(UNKNOWN), saved.num_bytes.unwrap_or(UNKNOWN), saved.points.spacing()] {
        blob.extend(word.to_le_bytes());
    }
    blob.extend((points.len() as u32).to_le_bytes());
    for point in points {
        encode_point(point, &mut blob);
    }
    let crc = crc32(0, &blob);
    blob.extend(crc.to_le_bytes());
    blob
}

fn encode_point(point: &SeekPoint, blob: &mut Vec<u8>) {
    blob.extend(point.offset_in.to_le_bytes());
    blob.extend(point.offset_out.to_le_bytes());
    let Some(block) = &point.block else {
        blob.push(KIND_MEMBER);
        return;
    };
    let Window::Deflated { num_bytes, data } = &block.window.deflated() else { unreachable!("deflated() deflates") };
    blob.extend([KIND_BLOCK, block.num_bits, block.bits]);
    blob.extend(block.check.value.to_le_bytes());
    blob.extend(block.check.num_bytes.to_le_bytes());
    blob.extend((*num_bytes as u32).to_le_bytes());
    blob.extend((data.len() as u32).to_le_bytes());
    blob.extend(&data[..]);
}

/// Reads what `encode` wrote for a file in `container` with `compressed` bytes.
pub(super) fn decode(blob: &[u8], container: Container, compressed: Option<u64>) -> Result<Saved, Fault> {
    let mut fields = Fields { blob: checked(blob)?, pos: 0, container, max_in: UNKNOWN, max_out: UNKNOWN };
    fields.magic_and_version()?;
    let [found, _] = fields.bytes()?;
    fields.demand(found == code(container), "the saved seek points belong to another container")?;
    let size = fields.word()?;
    let same_size = size == UNKNOWN || compressed.is_none_or(|compressed| compressed == size);
    fields.demand(same_size, "the saved seek points belong to a file of another size")?;
    let num_bytes = Some(fields.word()?).filter(|&num_bytes| num_bytes != UNKNOWN);
    (fields.max_in, fields.max_out) = (size, num_bytes.unwrap_or(UNKNOWN));
    let spacing = fields.word()?;
    let points = fields.points()?;
    fields.demand(fields.pos == fields.blob.len(), "there are bytes after the last saved seek point")?;
    Ok(Saved { points: SeekPoints::from_points(points, spacing), num_bytes })
}

fn code(container: Container) -> u8 {
    match container {
        Container::Gzip => 1,
        Container::Zlib => 2,
    }
}

/// The blob without its checksum, if that is right.
fn checked(blob: &[u8]) -> Result<&[u8], Fault> {
    let fault = |message| Fault::new(FaultKind::BadCompression, blob.len() as u64, message);
    let (body, stored) = blob.split_last_chunk::<4>().ok_or_else(|| fault("the saved seek points are cut short"))?;
    if crc32(0, body) != u32::from_le_bytes(*stored) {
        return Err(fault("the checksum of the saved seek points is wrong"));
    }
    Ok(body)
}

/// A bounds-checked reader of the blob, with the limits that its points must keep.
struct Fields<'a> {
    blob: &'a [u8],
    pos: usize,
    container: Container,
    max_in: u64,
    max_out: u64,
}

impl<'a> Fields<'a> {
    fn magic_and_version(&mut self) -> Result<(), Fault> {
        let magic: [u8; 4] = self.bytes()?;
        self.demand(magic == MAGIC, "these are not saved seek points")?;
        let version = u16::from_le_bytes(self.bytes()?);
        self.demand(version == VERSION, "the saved seek points are of another version")
    }

    fn points(&mut self) -> Result<Vec<SeekPoint>, Fault> {
        let count = self.half_word()? as usize;
        self.demand(count <= MAX_POINTS, "there are too many saved seek points")?;
        let mut points: Vec<SeekPoint> = Vec::new();
        for _ in 0..count {
            let point = self.point()?;
            let last = points.last().map_or((0, 0), |last| (last.offset_in, last.offset_out));
            let rises = point.offset_in > last.0 && point.offset_out > last.1;
            let fits = point.offset_in <= self.max_in && point.offset_out <= self.max_out;
            self.demand(rises && fits, "the offsets of saved seek points do not rise within the file")?;
            points.push(point);
        }
        Ok(points)
    }

    fn point(&mut self) -> Result<SeekPoint, Fault> {
        let [offset_in, offset_out] = [self.word()?, self.word()?];
        let block = match self.bytes()? {
            [KIND_MEMBER] if self.container == Container::Gzip => None,
            [KIND_BLOCK] => Some(self.block(offset_out)?),
            _ => return Err(self.fault("a saved seek point is of no known kind")),
        };
        Ok(SeekPoint { offset_in, offset_out, block })
    }

    fn block(&mut self, offset_out: u64) -> Result<BlockStart, Fault> {
        let [num_bits, bits] = self.bytes()?;
        self.demand(num_bits < 8 && bits >> num_bits == 0, "a saved seek point has impossible bits")?;
        let value = self.half_word()?;
        let check = MemberChecksum { container: self.container, value, num_bytes: self.word()? };
        let window = self.half_word()?;
        let sound = check.num_bytes <= offset_out && u64::from(window) == check.num_bytes.min(WINDOW_BYTES as u64);
        self.demand(sound, "the window of a saved seek point has an impossible length")?;
        let length = self.half_word()? as usize;
        let data = self.slice(length)?;
        let window = Window::Deflated { num_bytes: window as usize, data: data.into() };
        Ok(BlockStart { num_bits, bits, check, window })
    }

    fn slice(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let rest = &self.blob[self.pos..];
        let slice = rest.get(..length).ok_or_else(|| self.fault("the saved seek points are cut short"))?;
        self.pos += length;
        Ok(slice)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let slice = self.slice(N)?;
        slice.try_into().map_err(|_| self.fault("the saved seek points are cut short"))
    }

    fn half_word(&mut self) -> Result<u32, Fault> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn word(&mut self) -> Result<u64, Fault> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn demand(&self, sound: bool, message: &str) -> Result<(), Fault> {
        if sound { Ok(()) } else { Err(self.fault(message)) }
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::new(FaultKind::BadCompression, self.pos as u64, message)
    }
}
