//! The two passes over eight-bit values, in fixed point with 22 bits after the point.
#[cfg(target_arch = "x86_64")]
use super::down_avx2;
use super::spans::{PRECISION, Span};
use super::stretch::Stretcher;
use crate::geometry::dispatch::{self, Kernel};

/// Values of a row that the downward pass holds in registers.
const BLOCK: usize = 32;

/// All rows resized across, side by side in memory.
pub(super) fn across(rows: &[&[u8]], channels: usize, columns: &[Span]) -> Vec<u8> {
    let length = columns.len() * channels;
    let mut output = vec![0; rows.len() * length];
    let mut stretcher = Stretcher::new(columns, channels);
    let mut spare = vec![0; length];
    for (rows, output) in rows.chunks(2).zip(output.chunks_mut(2 * length)) {
        let (upper, lower) = output.split_at_mut(length);
        let lower = if lower.is_empty() { &mut spare[..] } else { lower };
        stretcher.pair([rows[0], rows[rows.len() - 1]], [upper, lower]);
    }
    output
}

#[inline(always)]
pub(super) fn clip(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// `rows`, the first being row `first`, resized down.
pub(super) fn down(rows: &[&[u8]], lines: &[Span], first: usize) -> Vec<u8> {
    let length = rows.first().map_or(0, |row| row.len());
    let mut output = vec![0; lines.len() * length];
    for (output, span) in output.chunks_exact_mut(length).zip(lines) {
        down_row(&rows[span.start - first..][..span.weights.len()], span, output);
    }
    output
}

/// The weighted sum of the rows of `span`.
pub(super) fn down_row(rows: &[&[u8]], span: &Span, output: &mut [u8]) {
    let weights: Vec<i32> = span.fixed().collect();
    let done = down_wide(rows, &weights, output);
    dispatch::run(Down { rows, weights: &weights, done, output });
}

/// Does what can be done with wide instructions; how many values that are.
fn down_wide(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if dispatch::has_avx2() {
        // SAFETY: the function needs AVX2 alone, and `has_avx2` has just found it on this machine.
        #[allow(unsafe_code)]
        return unsafe { down_avx2::down(rows, weights, output) };
    }
    0
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
