//! Entry points: a side table of an image with which decoding can begin at any row of MCUs, without the rows above it.
mod bytes;
mod survey;

use super::decoder::Scratch;
use super::header::Reader;
use super::walk::Place;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use libdeflater::Crc;

/// The entry points of one image: for every so many rows of MCUs the bit at which the row begins, and the DC of the blocks before.
///
/// They belong to the bytes of one file: the decoder refuses those of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoints {
    /// Tells the file.
    fingerprint: u64,
    num_components: usize,
    /// MCUs from an entry point to the next.
    spacing: usize,
    places: Vec<Place>,
}

impl EntryPoints {
    /// Finds the entry points of `data` at every `every_rows`-th row of MCUs. Reads all of the file, so that it is checked too.
    ///
    /// # Errors
    /// `Unsupported` for images of several scans; `BadArgument` if `every_rows` is zero; else those of decoding.
    pub fn build(data: &[u8], every_rows: usize) -> Result<Self> {
        if every_rows == 0 {
            return Err(ImageFault::new(
                ImageFaultKind::BadArgument,
                0,
                "entry points at every row or fewer",
                "every 0 rows",
            ));
        }
        Self::survey(data, &mut Scratch::default()).map(|points| points.thinned(every_rows))
    }

    /// The entry points of `data` at so many of its rows that they take at most `max_bytes` as bytes; none if that are too few, or
    /// if restart markers at each row of MCUs serve as well.
    ///
    /// # Errors
    /// As [`EntryPoints::build`].
    pub(super) fn within(data: &[u8], max_bytes: usize, scratch: &mut Scratch) -> Result<Option<Self>> {
        if max_bytes < bytes::LEAST {
            return Ok(None);
        }
        let (reader, _) = Reader::open(data)?;
        if (1..=reader.frame.mcus().width).contains(&reader.state.restart_interval) {
            return Ok(None);
        }
        let mut points = Self::survey(data, scratch)?;
        while !points.is_empty() && points.to_bytes().len() > max_bytes {
            points = points.thinned(2);
        }
        Ok(Some(points).filter(|points| !points.is_empty()))
    }

    /// Every so manieth of the entry points.
    fn thinned(self, every: usize) -> Self {
        let places = self.places.into_iter().skip(every - 1).step_by(every).collect();
        Self { spacing: self.spacing.saturating_mul(every), places, ..self }
    }

    /// Entry points, the start of the image not counted.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none: the image has too few rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The places, if they belong to the image that `reader` reads and whose scan begins at byte `start`.
    pub(super) fn places(&self, reader: &Reader<'_>, start: usize) -> Result<&[Place]> {
        let (mcus, range) = (reader.frame.mcus(), start..reader.data.len());
        let fits = |place: &Place| range.contains(&place.offset) && place.mcu < mcus.width * mcus.height;
        let same = self.num_components == reader.frame.components.len() && self.fingerprint == fingerprint(reader.data);
        if same && self.places.iter().all(fits) {
            return Ok(&self.places);
        }
        Err(ImageFault::new(ImageFaultKind::BadEntryPoints, 0, "entry points of this image", "those of another"))
    }
}

/// Tells a file from others: its length and the CRC-32 of all its bytes.
fn fingerprint(data: &[u8]) -> u64 {
    let mut crc = Crc::new();
    crc.update(data);
    (data.len() as u64) << 32 | u64::from(crc.sum())
}
