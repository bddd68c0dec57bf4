//! The pass across over eight-bit values, four rows at a time: spans made ready once, and the path that the machine allows.
use super::passes::clip;
use super::path::Path;
use super::quads::{Columns, TAPS};
use super::spans::{PRECISION, Spans};
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
use crate::geometry::dispatch::{self, Kernel};

/// Rows that are resized at once.
pub(super) const ROWS: usize = 4;
/// Values that one step of the portable path takes; those beyond the pixel's channels are not used.
const LANES: usize = 4;

/// Resizes rows across.
pub(super) struct Stretcher {
    channels: usize,
    path: Path,
    columns: Columns,
    padded: [Vec<u8>; ROWS],
    wide: Vec<i32>,
}

impl Stretcher {
    /// Makes `columns` ready for pixels of `channels`.
    pub fn new(columns: &Spans<i32>, channels: usize) -> Self {
        let path = Path::of(columns);
        let columns = Columns::new(columns, channels, path.cut());
        Self { channels, path, columns, padded: Default::default(), wide: Vec::new() }
    }

    /// Values that an output row needs room for; those beyond the row have no meaning.
    pub fn room(&self) -> usize {
        self.columns.starts.len() * self.channels + Columns::LOAD
    }

    /// Rows resized across. Rows may go on beyond their last pixel, with anything.
    pub fn rows(&mut self, rows: [&[u8]; ROWS], output: [&mut [u8]; ROWS]) {
        match self.channels {
            1 => self.stretch::<1>(rows, output),
            2 => self.stretch::<2>(rows, output),
            3 => self.stretch::<3>(rows, output),
            _ => self.stretch::<4>(rows, output),
        }
    }

    fn stretch<'a, const CHANNELS: usize>(&'a mut self, mut rows: [&'a [u8]; ROWS], output: [&mut [u8]; ROWS]) {
        let Self { path, columns, padded, wide, .. } = self;
        for (row, padded) in rows.iter_mut().zip(padded) {
            if row.len() < columns.reach {
                padded.clear();
                padded.extend_from_slice(row);
                padded.resize(columns.reach, 0);
                *row = padded;
            }
        }
        match path {
            Path::Portable => {
                for (row, output) in rows.into_iter().zip(output) {
                    wide.resize(columns.reach, 0);
                    dispatch::run(Across::<CHANNELS> { row, wide, columns, output });
                }
            }
            // SAFETY: the function needs AVX2 alone, and this path is taken only where `has_avx2` has found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Path::Avx2 => unsafe { avx2::across::<CHANNELS>(rows, columns, output) },
            // SAFETY: the function needs what `has_vnni` looks for, and this path is taken only where it has found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Path::Vnni => unsafe { vnni::across::<CHANNELS>(rows, columns, output) },
        }
    }
}

struct Across<'a, const CHANNELS: usize> {
    row: &'a [u8],
    wide: &'a mut [i32],
    columns: &'a Columns,
    output: &'a mut [u8],
}

impl<const CHANNELS: usize> Kernel for Across<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Columns { groups, starts, weights, .. } = self.columns;
        self.wide.iter_mut().zip(self.row).for_each(|(to, from)| *to = i32::from(*from));
        let (pixels, _) = self.output.as_chunks_mut::<CHANNELS>();
        for ((pixel, start), weights) in pixels.iter_mut().zip(starts).zip(weights.chunks_exact(*groups)) {
            let from = &self.wide[*start as usize..];
            let mut sum = [1 << (PRECISION - 1); LANES];
            for (tap, weight) in weights.as_flattened().iter().enumerate() {
                let values: &[i32; LANES] = from[tap * CHANNELS..].first_chunk().expect("the row is padded");
                sum = std::array::from_fn(|lane| values[lane].wrapping_mul(*weight).wrapping_add(sum[lane]));
            }
            let bytes = sum.map(clip);
            *pixel = std::array::from_fn(|channel| bytes[channel]);
        }
    }
}

const _: () = assert!(Columns::LOAD >= TAPS * LANES, "the last tap's values lie within a load");
