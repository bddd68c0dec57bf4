//! The two passes over 16-bit values, in float64.
use super::spans::Span;

/// All rows resized across, side by side in memory.
pub(super) fn across(rows: &[&[u16]], channels: usize, columns: &[Span]) -> Vec<u16> {
    let mut output = Vec::new();
    for row in rows {
        for span in columns {
            let taps = |channel: usize| row[span.start * channels + channel..].iter().step_by(channels);
            output.extend((0..channels).map(|channel| round(weigh(taps(channel), &span.weights))));
        }
    }
    output
}

/// `rows`, the first being row `first`, resized down.
pub(super) fn down(rows: &[&[u16]], lines: &[Span], first: usize) -> Vec<u16> {
    let length = rows.first().map_or(0, |row| row.len());
    let mut output = Vec::with_capacity(lines.len() * length);
    for span in lines {
        let rows = &rows[span.start - first..];
        let value = |place: usize| round(weigh(rows.iter().map(|row| &row[place]), &span.weights));
        output.extend((0..length).map(value));
    }
    output
}

fn weigh<'a>(values: impl Iterator<Item = &'a u16>, weights: &[f64]) -> f64 {
    values.zip(weights).fold(0.0, |sum, (value, weight)| sum + f64::from(*value) * weight)
}

/// Halves away from zero, held within 16 bits.
fn round(sum: f64) -> u16 {
    (sum + 0.5_f64.copysign(sum)).clamp(0.0, 65535.0) as u16
}
