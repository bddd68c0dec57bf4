//! The kernels over levels of more than eight bits, in float32 as OpenCV computes 16-bit images;
//! the caller rounds.
use super::Interpolation;
use super::area;
use super::coefficients::{Axis, Taps};
use crate::geometry::level::Level;
use crate::geometry::view::View;
use crate::pixels::Size;

/// `source` at `size`, which is another than its own.
pub(super) fn resize<T: Level>(source: View<T>, size: Size, interpolation: Interpolation) -> Vec<f32> {
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

fn linear<T: Level>(source: View<T>, columns: Vec<Taps<2>>, lines: Vec<Taps<2>>) -> Vec<f32> {
    let columns: Vec<Taps<2>> = columns.into_iter().map(Taps::joined).collect();
    separable(source, &columns, &lines)
}

fn separable<T: Level, const K: usize>(source: View<T>, columns: &[Taps<K>], lines: &[Taps<K>]) -> Vec<f32> {
    let channels = source.channels();
    let rows: Vec<Vec<f32>> = source.rows().map(|row| stretched(row, channels, columns)).collect();
    let length = columns.len() * channels;
    let mut output = Vec::with_capacity(lines.len() * length);
    let whole = length / BLOCK * BLOCK;
    for line in lines {
        let taps = |place: usize| line.places.map(|y| rows[y][place]);
        output.extend((0..whole).map(|place| weigh_backwards(taps(place), line.exact)));
        output.extend((whole..length).map(|place| weigh(taps(place), line.exact)));
    }
    output
}

fn stretched<T: Level, const K: usize>(row: &[T], channels: usize, columns: &[Taps<K>]) -> Vec<f32> {
    let mut output = Vec::with_capacity(columns.len() * channels);
    for taps in columns {
        let value = |channel: usize| weigh(taps.places.map(|x| row[x * channels + channel].into()), taps.exact);
        output.extend((0..channels).map(value));
    }
    output
}

fn weigh<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

fn weigh_backwards<const K: usize>(values: [f32; K], weights: [f32; K]) -> f32 {
    let terms: [f32; K] = std::array::from_fn(|tap| values[tap] * weights[tap]);
    terms.into_iter().rev().reduce(|sum, term| term + sum).unwrap_or(0.0)
}
