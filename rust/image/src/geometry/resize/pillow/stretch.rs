//! The pass across over eight-bit values, two rows at a time: spans made ready once, and the path that the machine allows.
#[cfg(target_arch = "x86_64")]
use super::across_avx2;
use super::passes::clip;
use super::spans::{PRECISION, Span};
use crate::geometry::dispatch::{self, Kernel};

/// Values that one load takes; those beyond the pixel's channels are not used.
const LANES: usize = 4;

/// Resizes rows across.
pub(super) struct Stretcher {
    channels: usize,
    path: Path,
}

enum Path {
    Portable {
        taps: usize,
        starts: Vec<u32>,
        weights: Vec<i32>,
        wide: Vec<i32>,
    },
    #[cfg(target_arch = "x86_64")]
    Avx2 {
        columns: across_avx2::Columns,
        padded: [Vec<u8>; 2],
    },
}

impl Stretcher {
    /// Makes `columns` ready for pixels of `channels`.
    pub fn new(columns: &[Span], channels: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        if channels >= 3 && dispatch::has_avx2() {
            let columns = across_avx2::Columns::new(columns, channels);
            return Self { channels, path: Path::Avx2 { columns, padded: [Vec::new(), Vec::new()] } };
        }
        let taps = columns.iter().map(|span| span.weights.len()).max().unwrap_or(1);
        let starts = columns.iter().map(|span| (span.start * channels) as u32).collect();
        let mut weights = vec![0; taps * columns.len()];
        for (weights, span) in weights.chunks_exact_mut(taps).zip(columns) {
            weights.iter_mut().zip(span.fixed()).for_each(|(to, from)| *to = from);
        }
        Self { channels, path: Path::Portable { taps, starts, weights, wide: Vec::new() } }
    }

    /// Two rows resized across.
    pub fn pair(&mut self, rows: [&[u8]; 2], output: [&mut [u8]; 2]) {
        let channels = self.channels;
        match &mut self.path {
            Path::Portable { taps, starts, weights, wide } => {
                for (row, output) in rows.into_iter().zip(output) {
                    // Spans shorter than the longest run on into the padding with weight 0.
                    wide.resize(row.len() + (*taps + 1) * channels + LANES, 0);
                    portable(channels, row, wide, (starts, weights, *taps), output);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 { columns, padded } => {
                for (padded, row) in padded.iter_mut().zip(rows) {
                    padded.clear();
                    padded.extend_from_slice(row);
                    padded.resize(row.len() + columns.padding(channels), 0);
                }
                let padded = [&padded[0][..], &padded[1][..]];
                // SAFETY: the function needs AVX2 alone, and `new` takes this path only where `has_avx2` has found it.
                #[allow(unsafe_code)]
                unsafe {
                    match channels {
                        3 => across_avx2::across::<3>(padded, columns, output),
                        _ => across_avx2::across::<4>(padded, columns, output),
                    }
                }
            }
        }
    }
}

fn portable(channels: usize, row: &[u8], wide: &mut [i32], spans: (&[u32], &[i32], usize), output: &mut [u8]) {
    let (starts, weights, taps) = spans;
    match channels {
        1 => dispatch::run(Across::<1> { row, wide, starts, weights, taps, output }),
        2 => dispatch::run(Across::<2> { row, wide, starts, weights, taps, output }),
        3 => dispatch::run(Across::<3> { row, wide, starts, weights, taps, output }),
        _ => dispatch::run(Across::<4> { row, wide, starts, weights, taps, output }),
    }
}

struct Across<'a, const CHANNELS: usize> {
    row: &'a [u8],
    wide: &'a mut [i32],
    starts: &'a [u32],
    weights: &'a [i32],
    taps: usize,
    output: &'a mut [u8],
}

impl<const CHANNELS: usize> Kernel for Across<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.wide.iter_mut().zip(self.row).for_each(|(to, from)| *to = i32::from(*from));
        let (pixels, _) = self.output.as_chunks_mut::<CHANNELS>();
        for ((pixel, start), weights) in pixels.iter_mut().zip(self.starts).zip(self.weights.chunks_exact(self.taps)) {
            let from = &self.wide[*start as usize..][..(self.taps - 1) * CHANNELS + LANES];
            let mut sum = [1 << (PRECISION - 1); LANES];
            for (tap, weight) in weights.iter().enumerate() {
                let values: &[i32; LANES] = from[tap * CHANNELS..].first_chunk().expect("the row is padded");
                sum = std::array::from_fn(|lane| values[lane].wrapping_mul(*weight).wrapping_add(sum[lane]));
            }
            let bytes = sum.map(clip);
            *pixel = std::array::from_fn(|channel| bytes[channel]);
        }
    }
}
