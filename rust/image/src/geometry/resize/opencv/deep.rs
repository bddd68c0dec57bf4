//! The kernels over levels of more than eight bits, in float32 as OpenCV computes 16-bit images;
//! the caller rounds.
use super::Interpolation;
use super::area;
use super::coefficients::{Axis, Taps};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::pixels::Size;

/// `source` at `size`, which is another than its own.
pub(super) fn resize<T: PixelType>(source: View<T>, size: Size, interpolation: Interpolation) -> Vec<f32> {
    let (across, down) = (Axis::new(source.size().width, size.width), Axis::new(source.size().height, size.height));
    let halves = across.whole_scale() == Some(2) && down.whole_scale() == Some(2);
    let shrinks = across.scale >= 1.0 && down.scale >= 1.0;
    match interpolation {
        Interpolation::Linear if halves => area::blocks(source, size, 2, 2),
        Interpolation::Area if shrinks => area::shrunk(source, size, across, down),
        Interpolation::Area => linear(source, across.area_taps(), down.area_taps()),
        Interpolation::Linear | Interpolation::Auto | Interpolation::AreaOrLinear => {
            linear(source, across.linear_taps(), down.linear_taps())
        }
        Interpolation::Cubic => separable(source, &across.cubic_taps(), &down.cubic_taps()),
        Interpolation::Lanczos4 => separable(source, &across.lanczos_taps(), &down.lanczos_taps()),
    }
}

/// Values that OpenCV's vector code takes at once down the image; it sums them from the last row on.
const BLOCK: usize = 8;

fn linear<T: PixelType>(source: View<T>, columns: Vec<Taps<2>>, lines: Vec<Taps<2>>) -> Vec<f32> {
    let columns: Vec<Taps<2>> = columns.into_iter().map(Taps::joined).collect();
    separable(source, &columns, &lines)
}

fn separable<T: PixelType, const K: usize>(source: View<T>, columns: &[Taps<K>], lines: &[Taps<K>]) -> Vec<f32> {
    match source.channels() {
        1 => dispatch::run(Separable::<T, K, 1> { source, columns, lines }),
        2 => dispatch::run(Separable::<T, K, 2> { source, columns, lines }),
        3 => dispatch::run(Separable::<T, K, 3> { source, columns, lines }),
        _ => dispatch::run(Separable::<T, K, 4> { source, columns, lines }),
    }
}

struct Separable<'a, T, const K: usize, const CHANNELS: usize> {
    source: View<'a, T>,
    columns: &'a [Taps<K>],
    lines: &'a [Taps<K>],
}

impl<T: PixelType, const K: usize, const CHANNELS: usize> Kernel for Separable<'_, T, K, CHANNELS> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run(self) -> Vec<f32> {
        let length = self.columns.len() * CHANNELS;
        let mut output = vec![0.0; self.lines.len() * length];
        // The rows that a line weighs, and their numbers: the next one shares most of them.
        let mut rows: [Vec<f32>; K] = std::array::from_fn(|_| vec![0.0; length]);
        let mut held = [usize::MAX; K];
        for (line, out) in self.lines.iter().zip(output.chunks_exact_mut(length)) {
            for y in line.places {
                if !held.contains(&y) {
                    let free = held.iter().position(|row| !line.places.contains(row)).unwrap_or(0);
                    stretch::<T, K, CHANNELS>(self.source.row(y), self.columns, &mut rows[free]);
                    held[free] = y;
                }
            }
            let slots = line.places.map(|y| held.iter().position(|row| *row == y).unwrap_or(0));
            combine(slots.map(|slot| &rows[slot][..length]), line.exact, out);
        }
        output
    }
}

/// One row at another width.
#[inline(always)]
fn stretch<T: PixelType, const K: usize, const CHANNELS: usize>(row: &[T], columns: &[Taps<K>], output: &mut [f32]) {
    let (pixels, (output, _)) = (row.as_chunks::<CHANNELS>().0, output.as_chunks_mut::<CHANNELS>());
    for (taps, out) in columns.iter().zip(output) {
        let near = taps.places.map(|x| pixels[x]);
        *out = std::array::from_fn(|channel| weigh(near.map(|pixel| pixel[channel].into()), taps.exact));
    }
}

/// One row of several.
#[inline(always)]
fn combine<const K: usize>(rows: [&[f32]; K], weights: [f32; K], output: &mut [f32]) {
    let length = output.len();
    let (whole, rows) = (length / BLOCK * BLOCK, rows.map(|row| &row[..length]));
    let (front, back) = output.split_at_mut(whole);
    let fronts = rows.map(|row| &row[..whole]);
    for (place, out) in front.iter_mut().enumerate() {
        *out = weigh_backwards(fronts.map(|row| row[place]), weights);
    }
    for (place, out) in back.iter_mut().enumerate() {
        *out = weigh(rows.map(|row| row[whole + place]), weights);
    }
}

#[inline(always)]
fn weigh<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

#[inline(always)]
fn weigh_backwards<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().rev().reduce(|sum, term| term + sum).unwrap_or(0.0)
}
