//! The two passes over whole images of eight-bit values, in fixed point with 22 bits after the point.
use super::path::Path;
use super::quads::Quads;
use super::spans::{PRECISION, Span, Spans};
use super::stretch::{ROWS, Stretcher};
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
use crate::geometry::dispatch::{self, Kernel};

/// Values of a row that the portable downward pass holds in registers.
const BLOCK: usize = 32;

/// All rows resized across, side by side in memory.
pub(super) fn across(rows: &[&[u8]], channels: usize, columns: &Spans<i32>) -> Vec<u8> {
    let length = columns.len() * channels;
    let mut output = Vec::with_capacity(rows.len() * length);
    let mut stretcher = Stretcher::new(columns, channels);
    let mut made: [Vec<u8>; ROWS] = std::array::from_fn(|_| vec![0; stretcher.room()]);
    for rows in rows.chunks(ROWS) {
        let from = std::array::from_fn(|row| rows[row.min(rows.len() - 1)]);
        stretcher.rows(from, made.each_mut().map(Vec::as_mut_slice));
        made[..rows.len()].iter().for_each(|row| output.extend_from_slice(&row[..length]));
    }
    output
}

/// `rows`, the first being row `first`, resized down.
pub(super) fn down(rows: &[&[u8]], lines: &Spans<i32>, first: usize) -> Vec<u8> {
    let length = rows.first().map_or(0, |row| row.len());
    let (mut output, shrinker) = (vec![0; lines.len() * length], Shrinker::new(lines));
    for (y, (output, span)) in output.chunks_exact_mut(length).zip(lines.iter()).enumerate() {
        shrinker.row(y, &rows[span.start - first..][..span.weights.len()], span, output);
    }
    output
}

#[inline(always)]
pub(super) fn clip(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// Resizes rows down.
pub(super) struct Shrinker {
    path: Path,
    quads: Quads,
}

impl Shrinker {
    /// Makes `lines` ready.
    pub fn new(lines: &Spans<i32>) -> Self {
        let path = Path::of(lines);
        Self { path, quads: Quads::new(lines, path.cut()) }
    }

    /// The weighted sum of the rows of `span`, which is that of output row `y`.
    pub fn row(&self, y: usize, rows: &[&[u8]], span: Span<'_, i32>, output: &mut [u8]) {
        let done = match self.path {
            Path::Portable => 0,
            // SAFETY: the function needs AVX2 alone, and this path is taken only where `has_avx2` has found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Path::Avx2 => unsafe { avx2::down(rows, self.quads.of(y), output) },
            // SAFETY: the function needs what `has_vnni` looks for, and this path is taken only where it has found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Path::Vnni => unsafe { vnni::down(rows, self.quads.of(y), output) },
        };
        if done < output.len() {
            dispatch::run(Down { rows, weights: span.weights, done, output });
        }
    }
}

struct Down<'a> {
    rows: &'a [&'a [u8]],
    weights: &'a [i32],
    done: usize,
    output: &'a mut [u8],
}

impl Kernel for Down<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (blocks, rest) = self.output[self.done..].as_chunks_mut::<BLOCK>();
        let rest_start = self.done + blocks.len() * BLOCK;
        for (index, block) in blocks.iter_mut().enumerate() {
            let mut sum = [1 << (PRECISION - 1); BLOCK];
            for (row, weight) in self.rows.iter().zip(self.weights) {
                let values: &[u8; BLOCK] = row[self.done + index * BLOCK..].first_chunk().expect("a block of the row");
                sum = std::array::from_fn(|lane| i32::from(values[lane]).wrapping_mul(*weight).wrapping_add(sum[lane]));
            }
            *block = sum.map(clip);
        }
        for (index, value) in rest.iter_mut().enumerate() {
            let rows = self.rows.iter().zip(self.weights);
            let add = |sum: i32, (row, weight): (&&[u8], &i32)| {
                i32::from(row[rest_start + index]).wrapping_mul(*weight).wrapping_add(sum)
            };
            *value = clip(rows.fold(1 << (PRECISION - 1), add));
        }
    }
}
