//! `ResizeArea`: every output is the mean of the area it covers, summed in float32 row by row.
use crate::geometry::level::Level;
use crate::geometry::view::View;
use crate::pixels::Size;

/// The inputs of one output, and how much of the first and the last it covers.
struct Cell {
    start: usize,
    end: usize,
    shares: Vec<f32>,
}

/// `source` at `size`.
pub(super) fn resize<T: Level>(source: View<T>, size: Size) -> Vec<f32> {
    let from = source.size();
    let (width_scale, height_scale) = (from.width as f32 / size.width as f32, from.height as f32 / size.height as f32);
    let columns: Vec<Cell> = (0..size.width).map(|x| cell(x, width_scale)).collect();
    let channels = source.channels();
    let factor = (1.0 / f64::from(height_scale * width_scale)) as f32;
    let mut output = vec![0.0; size.width * size.height * channels];
    for (y, output) in output.chunks_exact_mut(size.width * channels).enumerate() {
        let line = cell(y, height_scale);
        for (y, share) in (line.start..line.end).zip(&line.shares) {
            add_row(source.row(y.min(from.height - 1)), channels, &columns, *share, output);
        }
        output.iter_mut().for_each(|sum| *sum *= factor);
    }
    output
}

fn add_row<T: Level>(row: &[T], channels: usize, columns: &[Cell], share: f32, sums: &mut [f32]) {
    let last = row.len() / channels - 1;
    for (cell, sums) in columns.iter().zip(sums.chunks_exact_mut(channels)) {
        for (channel, sum) in sums.iter_mut().enumerate() {
            let value = |x: usize| -> f32 { row[x.min(last) * channels + channel].into() };
            let terms = (cell.start..cell.end).zip(&cell.shares).map(|(x, share)| value(x) * share);
            *sum += terms.reduce(|sum, term| sum + term).unwrap_or(0.0) * share;
        }
    }
}

/// The cell of output `place`.
fn cell(place: usize, scale: f32) -> Cell {
    let (begin, past) = (place as f32 * scale, (place + 1) as f32 * scale);
    let (start, end) = (begin.floor() as usize, past.ceil() as usize);
    let share = |input: usize| {
        let (low, high) = (input as f32, (input + 1) as f32);
        match (low < begin, high > past) {
            (true, true) => scale,
            (true, false) => high - begin,
            (false, true) => past - low,
            (false, false) => 1.0,
        }
    };
    // Inputs between the first and the last always count in full.
    let shares = (start..end).map(|input| if input == start || input + 1 == end { share(input) } else { 1.0 });
    Cell { start, end, shares: shares.collect() }
}
