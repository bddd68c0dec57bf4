//! Nearest-neighbor resize by the rules of Pillow, OpenCV and TensorFlow.
use crate::fault::Result;
use crate::geometry::view::{View, count_values};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// The rule for nearest-neighbor source positions, named by the library that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearest {
    /// Pillow: the source pixel at the center of each output pixel, with positions summed in float64.
    Pillow,
    /// OpenCV and MXNet: the source pixel at the upper left corner of each output pixel.
    Opencv,
    /// TensorFlow: the source pixel at the center of each output pixel, with positions in float32.
    Tensorflow,
}

impl Nearest {
    /// Returns the source index of each of `output` positions on an axis of `input` pixels.
    fn source_indices(self, input: usize, output: usize) -> Result<Vec<usize>, OutOfMemory> {
        let last = input - 1;
        match self {
            Self::Pillow => {
                let positions = pillow_positions(input, output);
                memory::collect_count(positions.map(|position| (position as usize).min(last)), output)
            }
            Self::Opencv => {
                // OpenCV computes the scale as the reciprocal of its inverse, which rounds differently from `input /
                // output`.
                let scale = 1.0 / (output as f64 / input as f64);
                memory::collect((0..output).map(|index| ((index as f64 * scale) as usize).min(last)))
            }
            Self::Tensorflow => {
                let scale = input as f32 / output as f32;
                memory::collect((0..output).map(|index| (((index as f32 + 0.5) * scale) as usize).min(last)))
            }
        }
    }
}

/// Returns the source position of the center of each output pixel, computed by repeated addition (Geometry.c,
/// `ImagingScaleAffine`).
fn pillow_positions(input: usize, output: usize) -> impl Iterator<Item = f64> {
    let step = input as f64 / output as f64;
    std::iter::successors(Some(step * 0.5), move |position| Some(position + step)).take(output)
}

/// Resizes an image of any type by copying the source pixel that `rule` selects for each output pixel.
pub fn resize_nearest<T: Copy>(source: View<T>, size: Size, rule: Nearest) -> Result<Vec<T>> {
    count_values(size, source.channels())?;
    let columns = rule.source_indices(source.size().width, size.width)?;
    let rows = rule.source_indices(source.size().height, size.height)?;
    Ok(gather_pixels(source, &columns, &rows)?)
}

/// Returns the pixels of `source` at the intersections of `columns` and `rows`.
pub(crate) fn gather_pixels<T: Copy>(
    source: View<T>,
    columns: &[usize],
    rows: &[usize],
) -> Result<Vec<T>, OutOfMemory> {
    match source.channels() {
        1 => gather_pixels_of::<T, 1>(source, columns, rows),
        2 => gather_pixels_of::<T, 2>(source, columns, rows),
        3 => gather_pixels_of::<T, 3>(source, columns, rows),
        _ => gather_pixels_of::<T, 4>(source, columns, rows),
    }
}

fn gather_pixels_of<T: Copy, const CHANNELS: usize>(
    source: View<T>,
    columns: &[usize],
    rows: &[usize],
) -> Result<Vec<T>, OutOfMemory> {
    let mut output: Vec<T> = memory::with_capacity(columns.len() * rows.len() * CHANNELS)?;
    let length = columns.len() * CHANNELS;
    let (mut row, mut previous) = (memory::filled(columns.len(), [source.row(0)[0]; CHANNELS])?, None);
    for y in rows {
        if previous == Some(y) {
            output.extend_from_within(output.len() - length..);
            continue;
        }
        let (pixels, _) = source.row(*y).as_chunks::<CHANNELS>();
        row.iter_mut().zip(columns).for_each(|(out, x)| *out = pixels[*x]);
        output.extend_from_slice(row.as_flattened());
        previous = Some(y);
    }
    Ok(output)
}
