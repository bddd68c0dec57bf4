//! The two passes over levels of more than eight bits: sums in float64, kept as float32, as in Pillow's mode `F`.
use super::spans::Spans;

/// All rows resized across, side by side in memory.
pub(super) fn across<T: Copy + Into<f32>>(rows: &[&[T]], channels: usize, columns: &Spans<f64>) -> Vec<f32> {
    let mut output = Vec::with_capacity(rows.len() * columns.len() * channels);
    for row in rows {
        for span in columns.iter() {
            let taps = |channel: usize| row[span.start * channels + channel..].iter().step_by(channels);
            output.extend((0..channels).map(|channel| weigh(taps(channel), span.weights)));
        }
    }
    output
}

/// `rows`, the first being row `first`, resized down.
pub(super) fn down<T: Copy + Into<f32>>(rows: &[&[T]], lines: &Spans<f64>, first: usize) -> Vec<f32> {
    let length = rows.first().map_or(0, |row| row.len());
    let mut output = Vec::with_capacity(lines.len() * length);
    for span in lines.iter() {
        let rows = &rows[span.start - first..];
        let value = |place: usize| weigh(rows.iter().map(|row| &row[place]), span.weights);
        output.extend((0..length).map(value));
    }
    output
}

fn weigh<'a, T: Copy + Into<f32> + 'a>(values: impl Iterator<Item = &'a T>, weights: &[f64]) -> f32 {
    let sum = |sum: f64, (value, weight): (&T, &f64)| sum + f64::from((*value).into()) * weight;
    values.zip(weights).fold(0.0, sum) as f32
}
