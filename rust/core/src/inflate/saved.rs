//! Serialization of seek points. Deserialization validates all fields.
//!
//! All numbers are little-endian. A blob consists of:
//!
//! - magic `RMSP`, version u16, container u8, zero u8, compressed size u64, decompressed size u64, spacing u64, number
//!   of seek points u32; an unknown size is all ones
//! - for each seek point: offset_in u64, offset_out u64, kind u8 (0 at the start of a member, 1 at a block boundary)
//! - for each seek point at a block boundary also: num_bits u8, bits u8, checksum u32, member bytes u64, window length
//!   u32, length of the deflated window u32, deflated window
//! - CRC-32 of all preceding bytes, u32
use super::members::MemberChecksum;
use super::seek_points::{BlockStart, HistoryWindow, MAX_POINTS, SeekPoint, SeekPoints};
use super::{Container, WINDOW_BYTES};
use crate::checksum::crc32;
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use std::sync::Arc;

const MAGIC: [u8; 4] = *b"RMSP";
const VERSION: u16 = 1;
const UNKNOWN: u64 = u64::MAX;
const KIND_MEMBER: u8 = 0;
const KIND_BLOCK: u8 = 1;
/// Size in bytes of a blob without seek points: its header and its CRC.
const FRAME_BYTES: usize = 40;
/// Size in bytes of a serialized seek point at a block boundary, not counting its deflated window.
const POINT_BYTES: usize = 39;

/// Content of a blob: the seek points that earlier reads of a file have found, and the decompressed size of the file.
pub(super) struct SavedPoints {
    pub(super) points: SeekPoints,
    /// Decompressed size, if the valid end of the stream was read.
    pub(super) num_bytes: Option<u64>,
}

/// Serializes seek points; `compressed` is the size of the compressed file, if known.
pub(super) fn encode_seek_points(
    saved: &SavedPoints,
    container: Container,
    compressed: Option<u64>,
) -> Result<Vec<u8>, OutOfMemory> {
    let points = saved.points.as_slice();
    let mut blob = memory::with_capacity(FRAME_BYTES)?;
    blob.extend(MAGIC);
    blob.extend(VERSION.to_le_bytes());
    blob.extend([container_code(container), 0]);
    for word in [compressed.unwrap_or(UNKNOWN), saved.num_bytes.unwrap_or(UNKNOWN), saved.points.spacing()] {
        blob.extend(word.to_le_bytes());
    }
    blob.extend((points.len() as u32).to_le_bytes());
    for point in points {
        encode_point(point, &mut blob)?;
    }
    let crc = crc32(0, &blob);
    memory::extend_from_slice(&mut blob, &crc.to_le_bytes())?;
    Ok(blob)
}

fn encode_point(point: &SeekPoint, blob: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    memory::reserve(blob, POINT_BYTES)?;
    blob.extend(point.offset_in.to_le_bytes());
    blob.extend(point.offset_out.to_le_bytes());
    let Some(block) = &point.block else {
        blob.push(KIND_MEMBER);
        return Ok(());
    };
    let HistoryWindow::Deflated { num_bytes, data } = &block.window.deflated()? else {
        unreachable!("deflated() deflates")
    };
    blob.extend([KIND_BLOCK, block.num_bits, block.bits]);
    blob.extend(block.checksum.value.to_le_bytes());
    blob.extend(block.checksum.num_bytes.to_le_bytes());
    blob.extend((*num_bytes as u32).to_le_bytes());
    blob.extend((data.len() as u32).to_le_bytes());
    memory::extend_from_slice(blob, data)
}

/// Deserializes the result of [`encode_seek_points`]. Fails if it belongs to another `container` or to a file of
/// another compressed size.
pub(super) fn decode_seek_points(
    blob: &[u8],
    container: Container,
    compressed: Option<u64>,
) -> Result<SavedPoints, Fault> {
    let blob = strip_valid_crc(blob)?;
    let mut reader = BlobReader { blob, pos: 0, container, max_in: UNKNOWN, max_out: UNKNOWN };
    reader.check_magic_and_version()?;
    let [found, _] = reader.read_array()?;
    reader.ensure(found == container_code(container), "the saved seek points belong to another compression format")?;
    let size = reader.read_u64()?;
    let same_size = size == UNKNOWN || compressed.is_none_or(|compressed| compressed == size);
    reader.ensure(same_size, "the saved seek points belong to a file of another size")?;
    let num_bytes = Some(reader.read_u64()?).filter(|&num_bytes| num_bytes != UNKNOWN);
    (reader.max_in, reader.max_out) = (size, num_bytes.unwrap_or(UNKNOWN));
    let spacing = reader.read_u64()?;
    let points = reader.read_points()?;
    reader.ensure(reader.pos == reader.blob.len(), "there are bytes after the last saved seek point")?;
    Ok(SavedPoints { points: SeekPoints::from_points(points, spacing), num_bytes })
}

fn container_code(container: Container) -> u8 {
    match container {
        Container::Gzip => 1,
        Container::Zlib => 2,
    }
}

/// Verifies the checksum of the blob and returns the bytes before it.
fn strip_valid_crc(blob: &[u8]) -> Result<&[u8], Fault> {
    let fault = |message| Fault::new(FaultKind::BadCompression, blob.len() as u64, message);
    let (body, stored) = blob.split_last_chunk::<4>().ok_or_else(|| fault("the saved seek points are truncated"))?;
    if crc32(0, body) != u32::from_le_bytes(*stored) {
        return Err(fault("the checksum of the saved seek points is wrong"));
    }
    Ok(body)
}

/// A bounds-checked reader of the blob.
struct BlobReader<'a> {
    blob: &'a [u8],
    pos: usize,
    container: Container,
    /// Largest valid `offset_in` of a seek point.
    max_in: u64,
    /// Largest valid `offset_out` of a seek point.
    max_out: u64,
}

impl<'a> BlobReader<'a> {
    fn check_magic_and_version(&mut self) -> Result<(), Fault> {
        let magic: [u8; 4] = self.read_array()?;
        self.ensure(magic == MAGIC, "the magic bytes of the saved seek points are wrong")?;
        let version = u16::from_le_bytes(self.read_array()?);
        self.ensure(version == VERSION, "the saved seek points have another format version")
    }

    fn read_points(&mut self) -> Result<Vec<SeekPoint>, Fault> {
        let count = self.read_u32()? as usize;
        self.ensure(count <= MAX_POINTS, "there are too many saved seek points")?;
        let mut points: Vec<SeekPoint> = Vec::new();
        for _ in 0..count {
            let point = self.read_point()?;
            let last = points.last().map_or((0, 0), |last| (last.offset_in, last.offset_out));
            let is_ascending = point.offset_in > last.0 && point.offset_out > last.1;
            let is_inside = point.offset_in <= self.max_in && point.offset_out <= self.max_out;
            let message = "the offsets of saved seek points must be strictly increasing and within the file";
            self.ensure(is_ascending && is_inside, message)?;
            memory::push(&mut points, point)?;
        }
        Ok(points)
    }

    fn read_point(&mut self) -> Result<SeekPoint, Fault> {
        let [offset_in, offset_out] = [self.read_u64()?, self.read_u64()?];
        let block = match self.read_array()? {
            [KIND_MEMBER] if self.container == Container::Gzip => None,
            [KIND_BLOCK] => Some(self.read_block_start(offset_out)?),
            _ => return Err(self.fault("a saved seek point has an unknown kind")),
        };
        Ok(SeekPoint { offset_in, offset_out, block })
    }

    fn read_block_start(&mut self, offset_out: u64) -> Result<BlockStart, Fault> {
        let [num_bits, bits] = self.read_array()?;
        self.ensure(num_bits < 8 && bits >> num_bits == 0, "the bits of a saved seek point do not match their number")?;
        let value = self.read_u32()?;
        let checksum = MemberChecksum { container: self.container, value, num_bytes: self.read_u64()? };
        let window_len = self.read_u32()?;
        let is_valid =
            checksum.num_bytes <= offset_out && u64::from(window_len) == checksum.num_bytes.min(WINDOW_BYTES as u64);
        self.ensure(is_valid, "the window of a saved seek point has the wrong length")?;
        let length = self.read_u32()? as usize;
        let data = self.read_slice(length)?;
        let window = HistoryWindow::Deflated { num_bytes: window_len as usize, data: Arc::new(memory::copy(data)?) };
        Ok(BlockStart { num_bits, bits, checksum, window })
    }

    fn read_slice(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let rest = &self.blob[self.pos..];
        let slice = rest.get(..length).ok_or_else(|| self.fault("the saved seek points are truncated"))?;
        self.pos += length;
        Ok(slice)
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let slice = self.read_slice(N)?;
        slice.try_into().map_err(|_| self.fault("the saved seek points are truncated"))
    }

    fn read_u32(&mut self) -> Result<u32, Fault> {
        self.read_array().map(u32::from_le_bytes)
    }

    fn read_u64(&mut self) -> Result<u64, Fault> {
        self.read_array().map(u64::from_le_bytes)
    }

    fn ensure(&self, condition: bool, message: &str) -> Result<(), Fault> {
        if condition { Ok(()) } else { Err(self.fault(message)) }
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::new(FaultKind::BadCompression, self.pos as u64, message)
    }
}
