//! Entry points: a side table of an image with which decoding can begin at any row of MCUs, without the rows above it.
mod bytes;
mod fingerprint;

use super::header::Reader;
use super::header::scan::Scan;
use super::samples::{Job, Kernel, run};
use super::scratch::TableCaches;
use super::sequential::{Coder, coders, pass_to, slots};
use super::stream::Stream;
use super::walk::{Place, Walk};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use fingerprint::fingerprint;

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
        let (mut reader, scan) = Reader::open(data)?;
        if !scan.is_whole(&reader.frame) {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, scan.offset, "an image of one scan", "several"));
        }
        let mcus = reader.frame.mcus();
        let coders = coders(&reader, &scan, &mut TableCaches::default(), true)?;
        let mut stream = Stream::new(data, Vec::new());
        let walk = Walk::new(&mut stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, 0, &[])?;
        let spacing = mcus.width.saturating_mul(every_rows);
        let (places, end) =
            run(Survey { walk, reader: &reader, coders: &coders, spacing, num_mcus: mcus.width * mcus.height })?;
        let fingerprint = fingerprint(&reader, &scan);
        reader.expect_end(end)?;
        Ok(Self { fingerprint, num_components: reader.frame.components.len(), spacing, places })
    }

    /// Entry points, the start of the image not counted.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none: the image has too few rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The places, if they belong to the image whose first scan is `scan`.
    pub(super) fn places(&self, reader: &Reader<'_>, scan: &Scan) -> Result<&[Place]> {
        let (mcus, range) = (reader.frame.mcus(), scan.data..reader.data.len());
        let fits = |place: &Place| range.contains(&place.offset) && place.mcu < mcus.width * mcus.height;
        if self.fingerprint == fingerprint(reader, scan) && self.places.iter().all(fits) {
            return Ok(&self.places);
        }
        Err(ImageFault::new(ImageFaultKind::BadArgument, 0, "entry points of this image", "those of another"))
    }
}

/// A pass over all MCUs that notes where some begin.
struct Survey<'j, 's, 'a> {
    walk: Walk<'s, 'a>,
    reader: &'j Reader<'a>,
    coders: &'j [Coder],
    spacing: usize,
    num_mcus: usize,
}

impl Job for Survey<'_, '_, '_> {
    /// The places, and the offset of the marker behind the scan.
    type Output = Result<(Vec<Place>, usize)>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Self::Output {
        let Self { mut walk, reader, coders, spacing, num_mcus } = self;
        let slots = slots(reader, coders, &[], None);
        let mut places = Vec::new();
        while walk.mcu() < num_mcus {
            let target = walk.mcu().saturating_add(spacing).min(num_mcus);
            pass_to(&mut walk, &slots, target)?;
            walk.check_row()?;
            if walk.mcu() < num_mcus {
                places.push(walk.place()?);
            }
        }
        Ok((places, walk.finish()?))
    }
}
