//! The passes over whole 8-bit images, in fixed point with 22 fraction bits.
use super::horizontal::{HorizontalPass, ROWS};
use super::implementation::Implementation;
use super::spans::{PRECISION, Span, Spans};
use super::weight_groups::WeightGroups;
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
use crate::geometry::dispatch::{self, Kernel};
use crate::memory::{self, OutOfMemory};

/// Number of values of a row that the portable vertical pass keeps in registers.
const BLOCK: usize = 32;

/// Resizes all rows horizontally. The result is contiguous.
pub(super) fn resize_horizontally(
    rows: &[&[u8]],
    channels: usize,
    columns: &Spans<i32>,
) -> Result<Vec<u8>, OutOfMemory> {
    let length = columns.len() * channels;
    let mut output = memory::with_capacity(rows.len() * length)?;
    let mut horizontal = HorizontalPass::new(columns, channels)?;
    let mut resized: [Vec<u8>; ROWS] = memory::filled_rows(horizontal.padded_len(), 0)?;
    for rows in rows.chunks(ROWS) {
        let from = std::array::from_fn(|row| rows[row.min(rows.len() - 1)]);
        horizontal.resize_rows(from, resized.each_mut().map(Vec::as_mut_slice));
        resized[..rows.len()].iter().for_each(|row| output.extend_from_slice(&row[..length]));
    }
    Ok(output)
}

/// Resizes vertically. `rows` begin with source row `first`.
pub(super) fn resize_vertically(rows: &[&[u8]], lines: &Spans<i32>, first: usize) -> Result<Vec<u8>, OutOfMemory> {
    let length = rows.first().map_or(0, |row| row.len());
    let (mut output, vertical) = (memory::filled(lines.len() * length, 0)?, VerticalPass::new(lines)?);
    for (y, (output, span)) in output.chunks_exact_mut(length).zip(lines.iter()).enumerate() {
        vertical.compute_row(y, &rows[span.start - first..][..span.weights.len()], span, output);
    }
    Ok(output)
}

#[inline(always)]
pub(super) fn shift_to_byte(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// The vertical pass with its prepared weights, for one output row at a time.
pub(super) struct VerticalPass {
    implementation: Implementation,
    weights: WeightGroups,
}

impl VerticalPass {
    /// Prepares the weights of `lines`.
    pub fn new(lines: &Spans<i32>) -> Result<Self, OutOfMemory> {
        let implementation = Implementation::select(lines);
        Ok(Self { implementation, weights: WeightGroups::new(lines, implementation.weight_splitter())? })
    }

    /// Computes output row `y`, the weighted sum of the source rows of `span`.
    pub fn compute_row(&self, y: usize, rows: &[&[u8]], span: Span<'_, i32>, output: &mut [u8]) {
        let done = match self.implementation {
            Implementation::Portable => 0,
            // SAFETY: the function needs only AVX2, and this implementation is selected only if `has_avx2` found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Implementation::Avx2 => unsafe { avx2::resize_vertically(rows, self.weights.groups_of_span(y), output) },
            // SAFETY: the function needs only what `has_vnni` checks, and this implementation is selected only if that
            // succeeded.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Implementation::Vnni => unsafe { vnni::resize_vertically(rows, self.weights.groups_of_span(y), output) },
        };
        if done < output.len() {
            dispatch::run(PortableVerticalPass { rows, weights: span.weights, done, output });
        }
    }
}

struct PortableVerticalPass<'a> {
    rows: &'a [&'a [u8]],
    weights: &'a [i32],
    done: usize,
    output: &'a mut [u8],
}

impl Kernel for PortableVerticalPass<'_> {
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
            *block = sum.map(shift_to_byte);
        }
        for (index, value) in rest.iter_mut().enumerate() {
            let rows = self.rows.iter().zip(self.weights);
            let add = |sum: i32, (row, weight): (&&[u8], &i32)| {
                i32::from(row[rest_start + index]).wrapping_mul(*weight).wrapping_add(sum)
            };
            *value = shift_to_byte(rows.fold(1 << (PRECISION - 1), add));
        }
    }
}
