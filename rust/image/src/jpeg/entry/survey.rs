//! One pass over all MCUs of an image that notes where its rows begin.
use super::{EntryPoints, fingerprint};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::decoder::Scratch;
use crate::jpeg::header::Reader;
use crate::jpeg::samples::{Job, Kernel, run};
use crate::jpeg::sequential::{Coder, coders, pass_to, slots};
use crate::jpeg::stream::Stream;
use crate::jpeg::walk::{Place, Walk};

impl EntryPoints {
    /// The entry points of `data` at each row of MCUs.
    pub(super) fn survey(data: &[u8], scratch: &mut Scratch) -> Result<Self> {
        let (mut reader, scan) = Reader::open(data)?;
        if !scan.is_whole(&reader.frame) {
            return Err(ImageFault::new(ImageFaultKind::Unsupported, scan.offset, "an image of one scan", "several"));
        }
        let mcus = reader.frame.mcus();
        let coders = coders(&reader, &scan, &mut scratch.caches, true)?;
        let mut stream = Stream::new(data, std::mem::take(&mut scratch.clean));
        let found = Walk::new(&mut stream, scan.data, reader.state.restart_interval, mcus.width * mcus.height, 0, &[])
            .and_then(|walk| run(Survey { walk, reader: &reader, coders: &coders }));
        scratch.clean = stream.into_scratch();
        let (places, end) = found?;
        reader.expect_end(end)?;
        let num_components = reader.frame.components.len();
        Ok(Self { fingerprint: fingerprint(data), num_components, spacing: mcus.width, places })
    }
}

struct Survey<'j, 's, 'a> {
    walk: Walk<'s, 'a>,
    reader: &'j Reader<'a>,
    coders: &'j [Coder],
}

impl Job for Survey<'_, '_, '_> {
    /// The places, and the offset of the marker behind the scan.
    type Output = Result<(Vec<Place>, usize)>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Self::Output {
        let Self { mut walk, reader, coders } = self;
        let slots = slots(reader, coders, &[], None);
        let mcus = reader.frame.mcus();
        let mut places = Vec::new();
        for row in 1..=mcus.height {
            pass_to(&mut walk, &slots, row * mcus.width)?;
            walk.check_row()?;
            if row < mcus.height {
                places.push(walk.place()?);
            }
        }
        Ok((places, walk.finish()?))
    }
}
