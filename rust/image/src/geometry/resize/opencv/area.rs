//! `INTER_AREA` for images that shrink: every output is the mean of the source pixels that it covers. With integer
//! scales, the sums are exact. With other scales, partly covered pixels are weighted in float32.
use std::marker::PhantomData;

use super::coefficients::Axis;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// Resizes `source` to `size`. Every output is the mean of the source pixels that it covers, rounded to the output
/// type.
pub(super) fn resize_area<T: PixelType, O: PixelType>(
    source: View<T>,
    size: Size,
    across: Axis,
    down: Axis,
) -> Result<Vec<O>, OutOfMemory> {
    match (across.integer_scale(), down.integer_scale()) {
        (Some(width), Some(height)) => average_blocks(source, size, width, height),
        _ => average_fractional(source, size, across, down),
    }
}

/// Computes the mean of every block of `width` x `height` source pixels.
pub(super) fn average_blocks<T: PixelType, O: PixelType>(
    source: View<T>,
    size: Size,
    width: usize,
    height: usize,
) -> Result<Vec<O>, OutOfMemory> {
    let channels = source.channels();
    let mut output = memory::with_capacity(size.width * size.height * channels)?;
    let mut sums = memory::filled(size.width * channels, 0.0_f64)?;
    let scale = 1.0 / (width * height) as f32;
    // OpenCV has vector code for 2 x 2 blocks, except for images of two channels. This code rounds halves up.
    let quarters = (width, height) == (2, 2) && channels != 2 && T::IS_INTEGER;
    for y in 0..size.height {
        sums.fill(0.0);
        for row in 0..height {
            add_blocks(source.row(y * height + row), channels, width, &mut sums);
        }
        let mean = |sum: &f64| if quarters { ((sum + 2.0) / 4.0).floor() as f32 } else { *sum as f32 * scale };
        output.extend(sums.iter().map(|sum| O::round_from_f32(mean(sum))));
    }
    Ok(output)
}

fn add_blocks<T: PixelType>(row: &[T], channels: usize, width: usize, sums: &mut [f64]) {
    for (block, sums) in row.chunks_exact(width * channels).zip(sums.chunks_exact_mut(channels)) {
        for pixel in block.chunks_exact(channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += f64::from((*value).into()));
        }
    }
}

/// Computes the means of areas that may cover pixels partially, in float32 and with OpenCV's order of operations.
/// `size` must not exceed the source on either axis.
pub(super) fn average_fractional<T: PixelType, O: PixelType>(
    source: View<T>,
    size: Size,
    across: Axis,
    down: Axis,
) -> Result<Vec<O>, OutOfMemory> {
    let columns = AreaWeights::new(source.size().width, size.width, across.scale)?;
    let lines = AreaWeights::new(source.size().height, size.height, down.scale)?;
    match source.channels() {
        1 => dispatch::run(AreaMeans::<T, O, 1, 1> { source, columns, lines, output: PhantomData }),
        2 => dispatch::run(AreaMeans::<T, O, 2, 2> { source, columns, lines, output: PhantomData }),
        3 => dispatch::run(AreaMeans::<T, O, 3, 4> { source, columns, lines, output: PhantomData }),
        _ => dispatch::run(AreaMeans::<T, O, 4, 4> { source, columns, lines, output: PhantomData }),
    }
}

/// The consecutive input positions that each output position of an axis covers, and their weights.
struct AreaWeights {
    firsts: Vec<usize>,
    /// For each output position, the index in `weights` after its last weight.
    ends: Vec<usize>,
    weights: Vec<f32>,
}

impl AreaWeights {
    fn new(input: usize, output: usize, scale: f64) -> Result<Self, OutOfMemory> {
        let weights = memory::with_capacity(input + 2 * output)?;
        let (firsts, ends) = (memory::with_capacity(output)?, memory::with_capacity(output)?);
        let mut weights_of_axis = Self { firsts, ends, weights };
        (0..output).for_each(|index| weights_of_axis.push(index, input, scale));
        Ok(weights_of_axis)
    }

    fn push(&mut self, index: usize, input: usize, scale: f64) {
        let begin = index as f64 * scale;
        let end = begin + scale;
        let cell = scale.min(input as f64 - begin);
        let last = (end.floor() as usize).min(input - 1);
        let first = (begin.ceil() as usize).min(last);
        let cut = first as f64 - begin > 1e-3;
        if cut {
            self.weights.push(((first as f64 - begin) / cell) as f32);
        }
        self.weights.extend(std::iter::repeat_n((1.0 / cell) as f32, last - first));
        if end - last as f64 > 1e-3 {
            self.weights.push(((end - last as f64).min(1.0).min(cell) / cell) as f32);
        }
        self.firsts.push(first - usize::from(cut));
        self.ends.push(self.weights.len());
    }

    /// Iterates over the output positions. Yields the first input position of each, and the weights of the inputs from
    /// there on.
    fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let weights = begins.zip(&self.ends).map(|(begin, end)| &self.weights[begin..*end]);
        self.firsts.iter().copied().zip(weights)
    }
}

/// Number of rows that are resized horizontally at a time.
const ROWS: usize = 4;

/// Computes the means of areas. Pixels of `CHANNELS` values are summed in vectors of `LANES` values. When the next
/// pixel is stored, it overwrites the additional lanes.
struct AreaMeans<'a, T, O, const CHANNELS: usize, const LANES: usize> {
    source: View<'a, T>,
    columns: AreaWeights,
    lines: AreaWeights,
    output: PhantomData<O>,
}

impl<T: PixelType, O: PixelType, const CHANNELS: usize, const LANES: usize> Kernel
    for AreaMeans<'_, T, O, CHANNELS, LANES>
{
    type Output = Result<Vec<O>, OutOfMemory>;

    #[inline(always)]
    fn run(self) -> Result<Vec<O>, OutOfMemory> {
        let length = self.columns.firsts.len() * CHANNELS;
        let mut output = memory::with_capacity(length * self.lines.firsts.len())?;
        let mut values: [_; ROWS] = memory::filled_rows(self.source.size().width * CHANNELS + LANES, 0.0_f32)?;
        let mut rows: [_; ROWS] = memory::filled_rows(length + LANES, 0.0_f32)?;
        let mut sums = memory::filled(length, 0.0_f32)?;
        let mut cached = usize::MAX;
        for (first, weights) in self.lines.iter() {
            sums.fill(0.0);
            for (y, weight) in (first..).zip(weights) {
                if cached != y / ROWS {
                    cached = y / ROWS;
                    self.load_rows(cached * ROWS, &mut values);
                    sum_columns::<CHANNELS, LANES>(&values, &self.columns, &mut rows);
                }
                sums.iter_mut().zip(&rows[y % ROWS]).for_each(|(sum, value)| *sum += weight * value);
            }
            output.extend(sums.iter().map(|sum| O::round_from_f32(*sum)));
        }
        Ok(output)
    }
}

impl<T: PixelType, O: PixelType, const CHANNELS: usize, const LANES: usize> AreaMeans<'_, T, O, CHANNELS, LANES> {
    /// Converts up to `ROWS` source rows, from row `first` on, to floats.
    #[inline(always)]
    fn load_rows(&self, first: usize, values: &mut [Vec<f32>; ROWS]) {
        for (row, y) in values.iter_mut().zip(first..self.source.size().height) {
            row.iter_mut().zip(self.source.row(y)).for_each(|(to, value)| *to = (*value).into());
        }
    }
}

#[inline(always)]
fn sum_columns<const CHANNELS: usize, const LANES: usize>(
    values: &[Vec<f32>; ROWS],
    columns: &AreaWeights,
    rows: &mut [Vec<f32>; ROWS],
) {
    for (index, (first, weights)) in columns.iter().enumerate() {
        let reach = (weights.len() * CHANNELS).saturating_sub(CHANNELS) + LANES;
        let mut parts = [[].as_slice(); ROWS];
        parts.iter_mut().zip(values).for_each(|(part, values)| *part = &values[first * CHANNELS..][..reach]);
        let mut sums = [[0.0_f32; LANES]; ROWS];
        for (tap, weight) in weights.iter().enumerate() {
            for (sums, part) in sums.iter_mut().zip(parts) {
                // SAFETY: every `part` has `reach` values. `tap` is at most `weights.len() - 1`, so the range ends at
                // most at `(weights.len() - 1) * CHANNELS + LANES`, which is `reach`.
                #[allow(unsafe_code)]
                let pixel = unsafe { part.get_unchecked(tap * CHANNELS..tap * CHANNELS + LANES) };
                *sums = std::array::from_fn(|lane| sums[lane] + pixel[lane] * weight);
            }
        }
        for (row, sums) in rows.iter_mut().zip(&sums) {
            row[index * CHANNELS..][..LANES].copy_from_slice(sums);
        }
    }
}
