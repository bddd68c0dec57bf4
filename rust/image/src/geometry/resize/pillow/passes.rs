//! The two passes over eight-bit values, in fixed point with 22 bits after the point.
use super::spans::{PRECISION, Span};
#[cfg(target_arch = "x86_64")]
use super::{across_avx2, down_avx2};
use crate::geometry::dispatch::{self, Kernel};

/// Values that one load takes; those beyond the pixel's channels are not used.
const LANES: usize = 4;
/// Values of a row that the downward pass holds in registers.
const BLOCK: usize = 32;

/// All rows resized across, side by side in memory.
pub(super) fn across(rows: &[&[u8]], channels: usize, columns: &[Span]) -> Vec<u8> {
    #[cfg(target_arch = "x86_64")]
    if channels >= 3 && dispatch::has_avx2() {
        return across_wide(rows, channels, columns);
    }
    across_portable(rows, channels, columns)
}

#[cfg(target_arch = "x86_64")]
fn across_wide(rows: &[&[u8]], channels: usize, columns: &[Span]) -> Vec<u8> {
    let length = columns.len() * channels;
    let columns = across_avx2::Columns::new(columns, channels);
    let mut output = vec![0; rows.len() * length];
    let mut padded = [Vec::new(), Vec::new()];
    let mut spare = vec![0; length];
    for (rows, output) in rows.chunks(2).zip(output.chunks_mut(2 * length)) {
        for (padded, row) in padded.iter_mut().zip(rows) {
            padded.clear();
            padded.extend_from_slice(row);
            padded.resize(row.len() + columns.padding(channels), 0);
        }
        let (upper, lower) = output.split_at_mut(length);
        let lower = if lower.is_empty() { &mut spare[..] } else { lower };
        let padded = [&padded[0][..], &padded[rows.len() - 1][..]];
        // SAFETY: the function needs AVX2 alone, and `across` comes here only where `has_avx2` has found it.
        #[allow(unsafe_code)]
        unsafe {
            match channels {
                3 => across_avx2::across::<3>(padded, &columns, [upper, lower]),
                _ => across_avx2::across::<4>(padded, &columns, [upper, lower]),
            }
        }
    }
    output
}

fn across_portable(rows: &[&[u8]], channels: usize, columns: &[Span]) -> Vec<u8> {
    let taps = columns.iter().map(|span| span.weights.len()).max().unwrap_or(0);
    let starts: Vec<u32> = columns.iter().map(|span| (span.start * channels) as u32).collect();
    let mut weights = vec![0; taps * columns.len()];
    for (weights, span) in weights.chunks_exact_mut(taps.max(1)).zip(columns) {
        weights.iter_mut().zip(span.fixed()).for_each(|(to, from)| *to = from);
    }
    let (mut output, mut wide) = (Vec::new(), Vec::new());
    for row in rows {
        // Spans shorter than the longest run on into the padding with weight 0.
        wide.resize(row.len() + (taps + 1) * channels + LANES, 0);
        let start = output.len();
        output.resize(start + columns.len() * channels, 0);
        let (starts, weights, output) = (&*starts, &*weights, &mut output[start..]);
        match channels {
            1 => dispatch::run(Across::<1> { row, wide: &mut wide, starts, weights, taps, output }),
            2 => dispatch::run(Across::<2> { row, wide: &mut wide, starts, weights, taps, output }),
            3 => dispatch::run(Across::<3> { row, wide: &mut wide, starts, weights, taps, output }),
            _ => dispatch::run(Across::<4> { row, wide: &mut wide, starts, weights, taps, output }),
        }
    }
    output
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

#[inline(always)]
fn clip(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// `rows`, the first being row `first`, resized down.
pub(super) fn down(rows: &[&[u8]], lines: &[Span], first: usize) -> Vec<u8> {
    let length = rows.first().map_or(0, |row| row.len());
    let mut output = vec![0; lines.len() * length];
    for (output, span) in output.chunks_exact_mut(length).zip(lines) {
        let weights: Vec<i32> = span.fixed().collect();
        let rows = &rows[span.start - first..][..weights.len()];
        let done = down_wide(rows, &weights, output);
        dispatch::run(Down { rows, weights: &weights, done, output });
    }
    output
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
