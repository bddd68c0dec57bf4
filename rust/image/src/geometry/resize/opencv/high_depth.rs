//! OpenCV's kernels for images of more than 8 bits, in float32 as OpenCV computes 16-bit images. The caller rounds the
//! results.
use super::Interpolation;
use super::area;
use super::coefficients::{Axis, Taps};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// Resizes `source` to `size`, which must differ from its own size.
pub(super) fn resize<T: PixelType>(
    source: View<T>,
    size: Size,
    interpolation: Interpolation,
) -> Result<Vec<f32>, OutOfMemory> {
    let (across, down) = (Axis::new(source.size().width, size.width), Axis::new(source.size().height, size.height));
    let halves = across.integer_scale() == Some(2) && down.integer_scale() == Some(2);
    let shrinks = across.scale >= 1.0 && down.scale >= 1.0;
    match interpolation {
        Interpolation::Linear if halves => area::average_blocks(source, size, 2, 2),
        Interpolation::Area if shrinks => area::resize_area(source, size, across, down),
        Interpolation::Area => resize_linear(source, across.area_taps()?, &down.area_taps()?),
        Interpolation::Linear | Interpolation::Auto | Interpolation::AreaOrLinear => {
            resize_linear(source, across.linear_taps()?, &down.linear_taps()?)
        }
        Interpolation::Cubic => resize_separable(source, &across.cubic_taps()?, &down.cubic_taps()?),
        Interpolation::Lanczos4 => resize_separable(source, &across.lanczos_taps()?, &down.lanczos_taps()?),
    }
}

/// Number of values that OpenCV's vector code processes at a time in the vertical pass. This code adds the rows in
/// reverse order, starting with the last row.
const BLOCK: usize = 8;

fn resize_linear<T: PixelType>(
    source: View<T>,
    mut columns: Vec<Taps<2>>,
    lines: &[Taps<2>],
) -> Result<Vec<f32>, OutOfMemory> {
    columns.iter_mut().for_each(|taps| *taps = taps.clamp_at_border());
    resize_separable(source, &columns, lines)
}

fn resize_separable<T: PixelType, const K: usize>(
    source: View<T>,
    columns: &[Taps<K>],
    lines: &[Taps<K>],
) -> Result<Vec<f32>, OutOfMemory> {
    match source.channels() {
        1 => dispatch::run(SeparableResize::<T, K, 1> { source, columns, lines }),
        2 => dispatch::run(SeparableResize::<T, K, 2> { source, columns, lines }),
        3 => dispatch::run(SeparableResize::<T, K, 3> { source, columns, lines }),
        _ => dispatch::run(SeparableResize::<T, K, 4> { source, columns, lines }),
    }
}

struct SeparableResize<'a, T, const K: usize, const CHANNELS: usize> {
    source: View<'a, T>,
    columns: &'a [Taps<K>],
    lines: &'a [Taps<K>],
}

impl<T: PixelType, const K: usize, const CHANNELS: usize> Kernel for SeparableResize<'_, T, K, CHANNELS> {
    type Output = Result<Vec<f32>, OutOfMemory>;

    #[inline(always)]
    fn run(self) -> Result<Vec<f32>, OutOfMemory> {
        let length = self.columns.len() * CHANNELS;
        let mut output = memory::filled(self.lines.len() * length, 0.0)?;
        // Cache of horizontally resized source rows, and their row numbers. Consecutive output lines share most source
        // rows.
        let mut rows: [Vec<f32>; K] = memory::filled_rows(length, 0.0)?;
        let mut cached = [usize::MAX; K];
        for (line, out) in self.lines.iter().zip(output.chunks_exact_mut(length)) {
            for y in line.indices {
                if !cached.contains(&y) {
                    let free = cached.iter().position(|row| !line.indices.contains(row)).unwrap_or(0);
                    resize_row::<T, K, CHANNELS>(self.source.row(y), self.columns, &mut rows[free]);
                    cached[free] = y;
                }
            }
            let slots = line.indices.map(|y| cached.iter().position(|row| *row == y).unwrap_or(0));
            combine_rows(slots.map(|slot| &rows[slot][..length]), line.exact, out);
        }
        Ok(output)
    }
}

/// Resizes one row horizontally.
#[inline(always)]
fn resize_row<T: PixelType, const K: usize, const CHANNELS: usize>(row: &[T], columns: &[Taps<K>], output: &mut [f32]) {
    let (pixels, (output, _)) = (row.as_chunks::<CHANNELS>().0, output.as_chunks_mut::<CHANNELS>());
    for (taps, out) in columns.iter().zip(output) {
        let near = taps.indices.map(|x| pixels[x]);
        *out = std::array::from_fn(|channel| weighted_sum(near.map(|pixel| pixel[channel].into()), taps.exact));
    }
}

/// Computes the weighted sum of rows.
#[inline(always)]
fn combine_rows<const K: usize>(rows: [&[f32]; K], weights: [f32; K], output: &mut [f32]) {
    let length = output.len();
    let (whole, rows) = (length / BLOCK * BLOCK, rows.map(|row| &row[..length]));
    let (front, back) = output.split_at_mut(whole);
    let fronts = rows.map(|row| &row[..whole]);
    for (index, out) in front.iter_mut().enumerate() {
        *out = weighted_sum_backwards(fronts.map(|row| row[index]), weights);
    }
    for (index, out) in back.iter_mut().enumerate() {
        *out = weighted_sum(rows.map(|row| row[whole + index]), weights);
    }
}

#[inline(always)]
fn weighted_sum<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

#[inline(always)]
fn weighted_sum_backwards<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().rev().reduce(|sum, term| term + sum).unwrap_or(0.0)
}
