//! Seek points: positions in a compressed file at which decompression can start.
use super::members::MemberChecksum;
use crate::error::{Fault, FaultKind};
use crate::memory::{self, OutOfMemory};
use miniz_oxide::inflate::core::{BlockBoundaryState, DecompressorOxide};
use miniz_oxide::{deflate, inflate};
use std::sync::Arc;

/// Maximum number of seek points. When it is exceeded, every second seek point is dropped and the spacing doubles. This
/// limits the memory of the windows to 128 MiB for any compression ratio.
pub(super) const MAX_POINTS: usize = 4096;

const WINDOW_LEVEL: u8 = 3;
/// Upper bound of the memory that the compressor allocates for a window. It aborts the process if the allocation fails.
const COMPRESSOR_BYTES: usize = 512 << 10;

/// A position at which decompression can start: the start of a gzip member, or a boundary between deflate blocks.
#[derive(Debug, Clone)]
pub struct SeekPoint {
    /// Offset in the compressed file of the next byte to read.
    pub offset_in: u64,
    /// Offset in the decompressed data of the next output byte.
    pub offset_out: u64,
    /// State of the decompressor; None at the start of a member.
    pub(super) block: Option<BlockStart>,
}

/// State of a decompressor between two deflate blocks.
#[derive(Debug, Clone)]
pub(super) struct BlockStart {
    /// Number of bits (0 to 7) of the byte before `offset_in` that belong to the next block.
    pub(super) num_bits: u8,
    /// The bits that `num_bits` counts; the lowest one is the first of the next block.
    pub(super) bits: u8,
    /// Checksum and length of the member so far, so that its trailer can be verified.
    pub(super) checksum: MemberChecksum,
    pub(super) window: HistoryWindow,
}

/// The last bytes of a member before a seek point (up to 32 KiB), to which the next block may refer.
#[derive(Debug, Clone)]
pub(super) enum HistoryWindow {
    Plain(Arc<Vec<u8>>),
    Deflated { num_bytes: usize, data: Arc<Vec<u8>> },
}

impl BlockStart {
    /// Returns a decompressor that continues with the next block.
    pub(super) fn decompressor(&self) -> DecompressorOxide {
        let state = BlockBoundaryState { num_bits: self.num_bits, bit_buf: self.bits, ..BlockBoundaryState::default() };
        DecompressorOxide::from_block_boundary_state(&state)
    }
}

impl HistoryWindow {
    /// Returns the window in deflated form.
    pub(super) fn deflated(&self) -> Result<Self, OutOfMemory> {
        match self {
            Self::Plain(plain) => {
                memory::check_available(COMPRESSOR_BYTES)?;
                let data = deflate::compress_to_vec(plain, WINDOW_LEVEL).into();
                Ok(Self::Deflated { num_bytes: plain.len(), data })
            }
            Self::Deflated { .. } => Ok(self.clone()),
        }
    }

    /// Returns the bytes of the window. Fails if a saved window is damaged.
    pub(super) fn bytes(&self) -> Result<Arc<Vec<u8>>, Fault> {
        let (num_bytes, data) = match self {
            Self::Plain(data) => return Ok(data.clone()),
            Self::Deflated { num_bytes, data } => (*num_bytes, &data[..]),
        };
        let mut plain = memory::filled(num_bytes, 0)?;
        match inflate::decompress_slice_iter_to_slice(&mut plain, std::iter::once(data), false, true) {
            Ok(len) if len == num_bytes => Ok(plain.into()),
            _ => Err(Fault::new(FaultKind::BadCompression, 0, "the window of a saved seek point is damaged")),
        }
    }
}

/// Seek points in ascending order, at least `spacing` decompressed bytes apart. The start of the file is not in the
/// list.
#[derive(Debug)]
pub(super) struct SeekPoints {
    points: Vec<SeekPoint>,
    spacing: u64,
}

impl SeekPoints {
    pub(super) fn new(spacing: u64) -> Self {
        Self { points: Vec::new(), spacing: spacing.max(1) }
    }

    /// Creates a list from seek points in ascending order.
    pub(super) fn from_points(points: Vec<SeekPoint>, spacing: u64) -> Self {
        Self { points, spacing: spacing.max(1) }
    }

    /// If the last seek point of `other` has a larger offset, adopts the seek points of `other` and the larger of the
    /// two spacings.
    pub(super) fn merge(&mut self, other: Self) {
        if other.last_offset() > self.last_offset() {
            self.points = other.points;
            self.spacing = self.spacing.max(other.spacing);
        }
    }

    pub(super) fn as_slice(&self) -> &[SeekPoint] {
        &self.points
    }

    pub(super) fn spacing(&self) -> u64 {
        self.spacing
    }

    /// Returns the offset of the last seek point in the decompressed data; 0 if there is none.
    pub(super) fn last_offset(&self) -> u64 {
        self.points.last().map_or(0, |point| point.offset_out)
    }

    /// Returns the smallest offset in the decompressed data at which another seek point may be added.
    pub(super) fn next_offset(&self) -> u64 {
        self.last_offset().saturating_add(self.spacing)
    }

    /// Returns the last seek point at or before `offset`; None means the start of the file.
    pub(super) fn last_at_or_before(&self, offset: u64) -> Option<&SeekPoint> {
        let count = self.points.partition_point(|point| point.offset_out <= offset);
        self.points[..count].last()
    }

    /// Appends a seek point. Does nothing if it is before the last seek point or too close to it, or if there is not
    /// enough memory.
    pub(super) fn push_if_spaced(&mut self, point: SeekPoint) {
        if point.offset_out < self.next_offset() {
            return;
        }
        if memory::push(&mut self.points, point).is_err() {
            return;
        }
        if self.points.len() > MAX_POINTS {
            let mut count = 0;
            self.points.retain(|_| {
                count += 1;
                count % 2 == 0
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
    }

    /// Compresses the windows that are not compressed yet.
    pub(super) fn deflate_windows(&mut self) -> Result<(), OutOfMemory> {
        for block in self.points.iter_mut().filter_map(|point| point.block.as_mut()) {
            block.window = block.window.deflated()?;
        }
        Ok(())
    }

    /// Returns a copy that shares the memory of the windows.
    pub(super) fn copy(&self) -> Result<Self, OutOfMemory> {
        Ok(Self { points: memory::copy(&self.points)?, spacing: self.spacing })
    }

    /// Replaces the window of each seek point by that of the seek point in `deflated` at the same offset, if any.
    pub(super) fn replace_windows(&mut self, deflated: &[SeekPoint]) {
        for point in deflated {
            let found = self.points.binary_search_by_key(&point.offset_out, |known| known.offset_out);
            if let (Ok(index), Some(block)) = (found, &point.block)
                && let Some(known) = &mut self.points[index].block
            {
                known.window = block.window.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member_point(offset_out: u64) -> SeekPoint {
        SeekPoint { offset_in: offset_out / 3, offset_out, block: None }
    }

    #[test]
    fn push_if_spaced_ignores_points_before_or_close_to_the_last_one() {
        let mut list = SeekPoints::new(100);
        [99, 100, 150, 199, 200, 50, 200, 301].into_iter().for_each(|offset| list.push_if_spaced(member_point(offset)));
        let offsets: Vec<u64> = list.as_slice().iter().map(|point| point.offset_out).collect();
        assert_eq!(offsets, [100, 200, 301]);
        assert_eq!(list.last_at_or_before(99).map(|point| point.offset_out), None);
        assert_eq!(list.last_at_or_before(300).map(|point| point.offset_out), Some(200));
        assert_eq!(list.last_at_or_before(u64::MAX).map(|point| point.offset_out), Some(301));
    }

    #[test]
    fn full_list_drops_every_second_point_and_doubles_the_spacing() {
        let mut list = SeekPoints::new(10);
        (1..=3 * MAX_POINTS as u64).for_each(|index| list.push_if_spaced(member_point(index * 10)));
        assert_eq!(list.spacing(), 40);
        assert!(list.as_slice().len() <= MAX_POINTS);
        assert!(list.as_slice().windows(2).all(|pair| pair[1].offset_out - pair[0].offset_out == 40));
        assert_eq!(list.last_offset(), 3 * MAX_POINTS as u64 * 10);
    }
}
