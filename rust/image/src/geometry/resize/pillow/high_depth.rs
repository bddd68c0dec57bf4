//! The passes for images of more than 8 bits: sums in float64, stored as float32, as in Pillow's mode `F`.
use super::spans::Spans;
use crate::memory::{self, OutOfMemory};

/// Resizes all rows horizontally. The result is contiguous.
pub(super) fn resize_horizontally<T: Copy + Into<f32>>(
    rows: &[&[T]],
    channels: usize,
    columns: &Spans<f64>,
) -> Result<Vec<f32>, OutOfMemory> {
    let mut output = memory::with_capacity(rows.len() * columns.len() * channels)?;
    for row in rows {
        for span in columns.iter() {
            let taps = |channel: usize| row[span.start * channels + channel..].iter().step_by(channels);
            output.extend((0..channels).map(|channel| weighted_sum(taps(channel), span.weights)));
        }
    }
    Ok(output)
}

/// Resizes vertically. `rows` begin with source row `first`.
pub(super) fn resize_vertically<T: Copy + Into<f32>>(
    rows: &[&[T]],
    lines: &Spans<f64>,
    first: usize,
) -> Result<Vec<f32>, OutOfMemory> {
    let length = rows.first().map_or(0, |row| row.len());
    let mut output = memory::with_capacity(lines.len() * length)?;
    for span in lines.iter() {
        let rows = &rows[span.start - first..];
        let value = |index: usize| weighted_sum(rows.iter().map(|row| &row[index]), span.weights);
        output.extend((0..length).map(value));
    }
    Ok(output)
}

fn weighted_sum<'a, T: Copy + Into<f32> + 'a>(values: impl Iterator<Item = &'a T>, weights: &[f64]) -> f32 {
    let sum = |sum: f64, (value, weight): (&T, &f64)| sum + f64::from((*value).into()) * weight;
    values.zip(weights).fold(0.0, sum) as f32
}
