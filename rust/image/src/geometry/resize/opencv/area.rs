//! `INTER_AREA` for shrinking: the mean of the covered pixels, whole blocks exactly, parts of pixels in float32; the caller rounds.
use super::coefficients::Axis;
use crate::geometry::level::Level;
use crate::geometry::view::View;
use crate::pixels::Size;

/// Means of the covered pixels.
pub(super) fn shrunk<T: Level>(source: View<T>, size: Size, across: Axis, down: Axis) -> Vec<f32> {
    match (across.whole_scale(), down.whole_scale()) {
        (Some(width), Some(height)) => blocks(source, size, width, height),
        _ => fractions(source, size, across, down),
    }
}

/// Means of blocks of `width` x `height` pixels.
pub(super) fn blocks<T: Level>(source: View<T>, size: Size, width: usize, height: usize) -> Vec<f32> {
    let channels = source.channels();
    let mut output = Vec::with_capacity(size.width * size.height * channels);
    let mut sums = vec![0.0_f64; size.width * channels];
    let scale = 1.0 / (width * height) as f32;
    // Four at a time have a vector form in OpenCV for all but two channels; it rounds halves up.
    let quarters = (width, height) == (2, 2) && channels != 2 && T::IS_WHOLE;
    for y in 0..size.height {
        sums.fill(0.0);
        for row in 0..height {
            add_blocks(source.row(y * height + row), channels, width, &mut sums);
        }
        let mean = |sum: &f64| if quarters { ((sum + 2.0) / 4.0).floor() as f32 } else { *sum as f32 * scale };
        output.extend(sums.iter().map(mean));
    }
    output
}

fn add_blocks<T: Level>(row: &[T], channels: usize, width: usize, sums: &mut [f64]) {
    for (block, sums) in row.chunks_exact(width * channels).zip(sums.chunks_exact_mut(channels)) {
        for pixel in block.chunks_exact(channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += f64::from((*value).into()));
        }
    }
}

/// A share of an input in an output.
#[derive(Debug, Clone, Copy)]
struct Share {
    output: usize,
    input: usize,
    weight: f32,
}

/// Means of areas whose borders cut pixels.
fn fractions<T: Level>(source: View<T>, size: Size, across: Axis, down: Axis) -> Vec<f32> {
    let channels = source.channels();
    let columns = shares(source.size().width, size.width, across.scale);
    let lines = shares(source.size().height, size.height, down.scale);
    let length = size.width * channels;
    let mut output = vec![0.0; length * size.height];
    let mut row = vec![0.0_f32; length];
    for line in &lines {
        row.fill(0.0);
        add_row(source.row(line.input), channels, &columns, &mut row);
        let sum = &mut output[line.output * length..][..length];
        sum.iter_mut().zip(&row).for_each(|(sum, value)| *sum += line.weight * value);
    }
    output
}

fn add_row<T: Level>(source: &[T], channels: usize, columns: &[Share], row: &mut [f32]) {
    for share in columns {
        let pixel = &source[share.input * channels..][..channels];
        let sums = &mut row[share.output * channels..][..channels];
        sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += (*value).into() * share.weight);
    }
}

/// The shares of an axis, in the order of outputs and then inputs.
fn shares(input: usize, output: usize, scale: f64) -> Vec<Share> {
    let mut shares = Vec::with_capacity(input + 2 * output);
    for place in 0..output {
        let begin = place as f64 * scale;
        let end = begin + scale;
        let cell = scale.min(input as f64 - begin);
        let last = (end.floor() as usize).min(input - 1);
        let first = (begin.ceil() as usize).min(last);
        let mut push = |input: usize, weight: f64| shares.push(Share { output: place, input, weight: weight as f32 });
        if first as f64 - begin > 1e-3 {
            push(first - 1, (first as f64 - begin) / cell);
        }
        (first..last).for_each(|input| push(input, 1.0 / cell));
        if end - last as f64 > 1e-3 {
            push(last, (end - last as f64).min(1.0).min(cell) / cell);
        }
    }
    shares
}
