//! Places in a compressed file from which inflating can begin, and the ordered list of them.
use super::members::MemberChecksum;
use crate::error::{Fault, FaultKind};
use miniz_oxide::inflate::core::{BlockBoundaryState, DecompressorOxide};
use miniz_oxide::{deflate, inflate};
use std::sync::Arc;

/// Most points that are kept. One more, and every second one goes while the spacing doubles: memory stays bounded
/// (windows of 32 KiB: 128 MiB) however much a file expands.
pub(super) const MAX_POINTS: usize = 4096;

const WINDOW_LEVEL: u8 = 3;

/// A place from which inflating can begin: the start of a gzip member, or a boundary between deflate blocks.
#[derive(Debug, Clone)]
pub struct SeekPoint {
    /// Offset in the compressed file of the next byte to read.
    pub offset_in: u64,
    /// Offset in the decompressed data of the next byte that comes out.
    pub offset_out: u64,
    /// What inflating needs in the middle of a member; `None` where a member's header begins.
    pub(super) block: Option<BlockStart>,
}

/// The state of a decompressor between two deflate blocks.
#[derive(Debug, Clone)]
pub(super) struct BlockStart {
    /// Number of bits (0 to 7) of the byte before `offset_in` that belong to the next block.
    pub(super) num_bits: u8,
    /// Those bits, lowest first.
    pub(super) bits: u8,
    /// Checksum and length of the member up to here, so that its trailer can be checked from here too.
    pub(super) check: MemberChecksum,
    pub(super) window: Window,
}

/// The last bytes of a member before a point (up to 32 KiB), which the next block may refer to.
#[derive(Debug, Clone)]
pub(super) enum Window {
    Plain(Arc<[u8]>),
    Deflated { num_bytes: usize, data: Arc<[u8]> },
}

impl BlockStart {
    /// A decompressor that goes on with the next block.
    pub(super) fn decompressor(&self) -> DecompressorOxide {
        let state = BlockBoundaryState { num_bits: self.num_bits, bit_buf: self.bits, ..BlockBoundaryState::default() };
        DecompressorOxide::from_block_boundary_state(&state)
    }
}

impl Window {
    /// The same window, deflated.
    pub(super) fn deflated(&self) -> Self {
        match self {
            Self::Plain(plain) => {
                let data = deflate::compress_to_vec(plain, WINDOW_LEVEL).into();
                Self::Deflated { num_bytes: plain.len(), data }
            }
            Self::Deflated { .. } => self.clone(),
        }
    }

    /// The bytes themselves; a saved window that does not inflate to its length is a fault.
    pub(super) fn bytes(&self) -> Result<Arc<[u8]>, Fault> {
        match self {
            Self::Plain(data) => Ok(data.clone()),
            Self::Deflated { num_bytes, data } => match inflate::decompress_to_vec_with_limit(data, *num_bytes) {
                Ok(plain) if plain.len() == *num_bytes => Ok(plain.into()),
                _ => Err(Fault::new(FaultKind::BadCompression, 0, "the window of a saved seek point is damaged")),
            },
        }
    }
}

/// Seek points by rising offset, at least `spacing` decompressed bytes apart. The start of the file is always one.
#[derive(Debug, Clone)]
pub(super) struct SeekPoints {
    points: Vec<SeekPoint>,
    spacing: u64,
}

impl SeekPoints {
    pub(super) fn new(spacing: u64) -> Self {
        Self { points: Vec::new(), spacing: spacing.max(1) }
    }

    /// A list read back; the points must rise.
    pub(super) fn from_points(points: Vec<SeekPoint>, spacing: u64) -> Self {
        Self { points, spacing: spacing.max(1) }
    }

    /// Takes over the points of another list if it reaches farther, and the larger spacing.
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

    /// How far the list reaches.
    pub(super) fn last_offset(&self) -> u64 {
        self.points.last().map_or(0, |point| point.offset_out)
    }

    /// Smallest offset at which another point is welcome.
    pub(super) fn next_offset(&self) -> u64 {
        self.last_offset().saturating_add(self.spacing)
    }

    /// The last point at or before `offset`; `None` stands for the start of the file.
    pub(super) fn before(&self, offset: u64) -> Option<&SeekPoint> {
        let count = self.points.partition_point(|point| point.offset_out <= offset);
        self.points[..count].last()
    }

    /// Appends a point unless it is too near to the last one, or before it.
    pub(super) fn offer(&mut self, point: SeekPoint) {
        if point.offset_out < self.next_offset() {
            return;
        }
        self.points.push(point);
        if self.points.len() > MAX_POINTS {
            let mut count = 0;
            self.points.retain(|_| {
                count += 1;
                count % 2 == 0
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
    }

    /// Deflates every window that is still plain.
    pub(super) fn deflate_windows(&mut self) {
        for block in self.points.iter_mut().filter_map(|point| point.block.as_mut()) {
            block.window = block.window.deflated();
        }
    }

    /// Puts deflated windows in the place of plain ones.
    pub(super) fn adopt_windows(&mut self, deflated: &[SeekPoint]) {
        for point in deflated {
            let found = self.points.binary_search_by_key(&point.offset_out, |own| own.offset_out);
            if let (Ok(index), Some(block)) = (found, &point.block)
                && let Some(own) = &mut self.points[index].block
            {
                own.window = block.window.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(offset_out: u64) -> SeekPoint {
        SeekPoint { offset_in: offset_out / 3, offset_out, block: None }
    }

    #[test]
    fn offered_points_too_near_or_behind_are_refused() {
        let mut list = SeekPoints::new(100);
        [99, 100, 150, 199, 200, 50, 200, 301].into_iter().for_each(|offset| list.offer(point(offset)));
        let offsets: Vec<u64> = list.as_slice().iter().map(|point| point.offset_out).collect();
        assert_eq!(offsets, [100, 200, 301]);
        assert_eq!(list.before(99).map(|point| point.offset_out), None);
        assert_eq!(list.before(300).map(|point| point.offset_out), Some(200));
        assert_eq!(list.before(u64::MAX).map(|point| point.offset_out), Some(301));
    }

    #[test]
    fn list_past_its_capacity_keeps_every_second_point_at_twice_the_spacing() {
        let mut list = SeekPoints::new(10);
        (1..=3 * MAX_POINTS as u64).for_each(|index| list.offer(point(index * 10)));
        assert_eq!(list.spacing(), 40);
        assert!(list.as_slice().len() <= MAX_POINTS);
        assert!(list.as_slice().windows(2).all(|pair| pair[1].offset_out - pair[0].offset_out == 40));
        assert_eq!(list.last_offset(), 3 * MAX_POINTS as u64 * 10);
    }
}
