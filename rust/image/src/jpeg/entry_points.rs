//! Entry points of a JPEG image, and their serialized form.
//!
//! Entry points are a table that belongs to one image. It lists rows of MCUs at which decoding can begin without
//! decoding the rows above.
//!
//! Serialized layout: magic `RMJE`, version u8, fingerprint u64 (length and CRC-32 of the image), then LEB128
//! variable-length integers: the number of components, the number of MCUs between entry points, and the number of entry
//! points. Each entry point follows as signed (zigzag-encoded) integers: the second-order difference of its bit
//! position in the file, and for each component the difference of its DC predictor from that of the previous entry
//! point. The last four bytes are the CRC-32 of everything before them. Fixed-width integers are little-endian.
use super::decoder::Scratch;
use super::header::Reader;
use super::samples::{Job, Kernel, run};
use super::scan_cursor::{EntryPoint, ScanCursor};
use super::sequential::{ComponentTables, build_component_tables, mcu_blocks, skip_to};
use super::stream::Stream;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use libdeflater::Crc;

const MAGIC: [u8; 5] = *b"RMJE\x01";
const HEAD: usize = MAGIC.len() + 8;
const CHECKSUM: usize = 4;
/// Largest length of a variable-length integer.
const MAX_VARINT_LEN: usize = 10;
/// Serialized length of a single entry point of a grayscale image: the minimum for any entry points.
pub(super) const MIN_ENCODED_LEN: usize = HEAD + 5 + CHECKSUM;

impl EntryPoints {
    /// Serializes the entry points; each takes a few bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, OutOfMemory> {
        let max_len = HEAD + CHECKSUM + MAX_VARINT_LEN * (3 + self.points.len() * (1 + self.num_components));
        let mut bytes = memory::with_capacity(max_len)?;
        bytes.extend(MAGIC);
        bytes.extend(self.fingerprint.to_le_bytes());
        for number in [self.num_components, self.spacing, self.points.len()] {
            write_varint(&mut bytes, number as u64);
        }
        let (mut bit, mut distance, mut predictors) = (0, 0, [0; 4]);
        for point in &self.points {
            let next = point.offset as i64 * 8 + i64::from(point.bit);
            write_signed(&mut bytes, next - bit - distance);
            (distance, bit) = (next - bit, next);
            for (now, before) in point.predictors.iter().zip(predictors).take(self.num_components) {
                write_signed(&mut bytes, now - before);
            }
            predictors = point.predictors;
        }
        let checksum = crc32(&bytes);
        bytes.extend(checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Parses the output of [`EntryPoints::to_bytes`].
    ///
    /// # Errors
    /// `BadEntryPoints` if the bytes are not serialized entry points, or if their values are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let body = bytes.len().checked_sub(CHECKSUM).and_then(|length| bytes.split_at_checked(length));
        let Some((body, stored)) = body.filter(|(body, _)| body.len() >= HEAD && body.starts_with(&MAGIC)) else {
            return Err(invalid_fault(0, "other data"));
        };
        if crc32(body).to_le_bytes() != stored {
            let found = format!("{stored:02x?}");
            return Err(ImageFault::new(
                ImageFaultKind::BadEntryPoints,
                body.len(),
                format!("{:08x}", crc32(body)),
                found,
            ));
        }
        let mut fields = FieldReader { body, next: HEAD };
        let fingerprint = body[MAGIC.len()..HEAD].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let points = fields.read_entry_points(fingerprint)?;
        if fields.next < body.len() {
            return Err(invalid_fault(fields.next, "trailing bytes"));
        }
        Ok(points)
    }
}

/// Reads variable-length integers from the serialized form.
struct FieldReader<'a> {
    body: &'a [u8],
    next: usize,
}

impl FieldReader<'_> {
    fn read_entry_points(&mut self, fingerprint: u64) -> Result<EntryPoints> {
        let num_components = self.read_number()?;
        let (spacing, num_points) = (self.read_number()?, self.read_number()?);
        let left = self.body.len() - self.next;
        if !matches!(num_components, 1 | 3 | 4) || spacing == 0 || num_points > left / (1 + num_components) {
            return Err(invalid_fault(self.next, "invalid counts"));
        }
        let (mut bit, mut distance, mut predictors) = (0_i64, 0_i64, [0_i64; 4]);
        let mut points = memory::with_capacity(num_points)?;
        for number in 1..=num_points {
            distance = distance
                .checked_add(self.read_signed()?)
                .filter(|&distance| distance > 0)
                .ok_or_else(|| invalid_fault(self.next, "a bit position that does not increase"))?;
            bit = bit.checked_add(distance).ok_or_else(|| invalid_fault(self.next, "a bit position that overflows"))?;
            for predictor in &mut predictors[..num_components] {
                let next = predictor.checked_add(self.read_signed()?).filter(|&next| i32::try_from(next).is_ok());
                *predictor = next.ok_or_else(|| invalid_fault(self.next, "a DC predictor beyond 32 bits"))?;
            }
            let mcu =
                number.checked_mul(spacing).ok_or_else(|| invalid_fault(self.next, "an MCU number that overflows"))?;
            points.push(EntryPoint { mcu, offset: (bit / 8) as usize, bit: (bit % 8) as u32, predictors });
        }
        Ok(EntryPoints { fingerprint, num_components, spacing, points })
    }

    fn read_number(&mut self) -> Result<usize> {
        usize::try_from(self.read_varint()?).map_err(|_| invalid_fault(self.next, "an integer that overflows"))
    }

    fn read_signed(&mut self) -> Result<i64> {
        let word = self.read_varint()?;
        Ok((word >> 1) as i64 ^ -((word & 1) as i64))
    }

    fn read_varint(&mut self) -> Result<u64> {
        let mut word = 0;
        for shift in (0..63).step_by(7) {
            let Some(&byte) = self.body.get(self.next) else { break };
            self.next += 1;
            word |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(word);
            }
        }
        Err(invalid_fault(self.next, "an unterminated integer"))
    }
}

fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn write_signed(bytes: &mut Vec<u8>, number: i64) {
    write_varint(bytes, (number << 1 ^ number >> 63) as u64);
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn invalid_fault(offset: usize, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadEntryPoints, offset, "serialized entry points of a JPEG image", found)
}

/// The entry points of one image: for every n-th row of MCUs, the bit position at which the row begins and the DC
/// predictors at that point.
///
/// Entry points are valid only for the bytes of one file. The decoder rejects entry points of another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoints {
    /// Length and CRC-32 of the file, which identify it.
    fingerprint: u64,
    num_components: usize,
    /// Number of MCUs from one entry point to the next.
    spacing: usize,
    points: Vec<EntryPoint>,
}

impl EntryPoints {
    /// Builds the entry points of `data` at every `every_rows`-th row of MCUs. Decodes the whole file, so it also
    /// validates it.
    ///
    /// # Errors
    /// `Unsupported` for images with several scans; `BadArgument` if `every_rows` is zero; otherwise the errors of
    /// `Decoder::decode`.
    pub fn build(data: &[u8], every_rows: usize) -> Result<Self> {
        if every_rows == 0 {
            return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, "every_rows of at least 1", "0"));
        }
        Self::find_row_starts(data, &mut Scratch::default()).map(|points| points.keep_every(every_rows))
    }

    /// Builds entry points of `data` at as many rows as fit into `max_bytes` when serialized. Returns `None` if no
    /// entry points fit, or if the file has a restart marker for each row of MCUs.
    ///
    /// # Errors
    /// The same as those of [`EntryPoints::build`].
    pub(super) fn build_within(data: &[u8], max_bytes: usize, scratch: &mut Scratch) -> Result<Option<Self>> {
        if max_bytes < MIN_ENCODED_LEN {
            return Ok(None);
        }
        let (reader, _) = Reader::open(data)?;
        if (1..=reader.frame.mcus().width).contains(&reader.state.restart_interval) {
            return Ok(None);
        }
        let mut points = Self::find_row_starts(data, scratch)?;
        while !points.is_empty() && points.to_bytes()?.len() > max_bytes {
            points = points.keep_every(2);
        }
        Ok(Some(points).filter(|points| !points.is_empty()))
    }

    /// Keeps only every `every`-th entry point.
    fn keep_every(mut self, every: usize) -> Self {
        let mut number = 0;
        self.points.retain(|_| {
            number += 1;
            number % every == 0
        });
        Self { spacing: self.spacing.saturating_mul(every), ..self }
    }

    /// Returns the number of entry points, not counting the start of the image.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns whether there are no entry points because the image has too few rows.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the entry points if they belong to the image of `reader`, otherwise an error. `start` is the byte offset
    /// of its scan data.
    pub(super) fn points_for(&self, reader: &Reader<'_>, start: usize) -> Result<&[EntryPoint]> {
        let (mcus, range) = (reader.frame.mcus(), start..reader.data.len());
        let fits = |point: &EntryPoint| range.contains(&point.offset) && point.mcu < mcus.width * mcus.height;
        let same = self.num_components == reader.frame.components.len() && self.fingerprint == fingerprint(reader.data);
        if same && self.points.iter().all(fits) {
            return Ok(&self.points);
        }
        Err(ImageFault::new(
            ImageFaultKind::BadEntryPoints,
            0,
            "entry points of this file",
            "entry points of another file",
        ))
    }
}

/// Returns a number that identifies a file: its length and the CRC-32 of all its bytes.
fn fingerprint(data: &[u8]) -> u64 {
    let mut crc = Crc::new();
    crc.update(data);
    (data.len() as u64) << 32 | u64::from(crc.sum())
}

impl EntryPoints {
    /// Decodes the whole scan and records an entry point at each row of MCUs.
    pub(super) fn find_row_starts(data: &[u8], scratch: &mut Scratch) -> Result<Self> {
        let (mut reader, scan) = Reader::open(data)?;
        if !scan.is_complete(&reader.frame) {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, scan.offset, "an image of one scan", "several"));
        }
        let mcus = reader.frame.mcus();
        let component_tables = build_component_tables(&reader, &scan, &mut scratch.caches, true)?;
        let mut stream = Stream::new(data, std::mem::take(&mut scratch.unstuffed));
        let found =
            ScanCursor::new(&mut stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, 0, &[])
                .and_then(|cursor| {
                    run(RowStartFinder { cursor, reader: &reader, component_tables: &component_tables })
                });
        scratch.unstuffed = stream.into_scratch();
        let (points, end) = found?;
        reader.expect_end(end)?;
        let num_components = reader.frame.components.len();
        Ok(Self { fingerprint: fingerprint(data), num_components, spacing: mcus.width, points })
    }
}

/// Skips all MCUs of a scan and records where each row of MCUs begins.
struct RowStartFinder<'j, 's, 'a> {
    cursor: ScanCursor<'s, 'a>,
    reader: &'j Reader<'a>,
    component_tables: &'j [ComponentTables],
}

impl Job for RowStartFinder<'_, '_, '_> {
    /// The entry points, and the byte offset in the file of the marker after the scan.
    type Output = Result<(Vec<EntryPoint>, usize)>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Self::Output {
        let Self { mut cursor, reader, component_tables } = self;
        let mcu_blocks = mcu_blocks(reader, component_tables, &[], None);
        let mcus = reader.frame.mcus();
        let mut points = memory::with_capacity(mcus.height)?;
        for row in 1..=mcus.height {
            skip_to(&mut cursor, &mcu_blocks, row * mcus.width)?;
            cursor.check_row()?;
            if row < mcus.height {
                points.push(cursor.entry_point()?);
            }
        }
        Ok((points, cursor.finish()?))
    }
}
