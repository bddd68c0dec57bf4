//! `INTER_AREA` for shrinking: the mean of the covered pixels, whole blocks exactly, parts of pixels in float32.
use super::coefficients::Axis;
use super::fractions::fractions;
use crate::geometry::level::Level;
use crate::geometry::view::View;
use crate::pixels::Size;

/// Means of the covered pixels, as near as the output's type has them.
pub(super) fn shrunk<T: Level, O: Level>(source: View<T>, size: Size, across: Axis, down: Axis) -> Vec<O> {
    match (across.whole_scale(), down.whole_scale()) {
        (Some(width), Some(height)) => blocks(source, size, width, height),
        _ => fractions(source, size, across, down),
    }
}

/// Means of blocks of `width` x `height` pixels.
pub(super) fn blocks<T: Level, O: Level>(source: View<T>, size: Size, width: usize, height: usize) -> Vec<O> {
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
        output.extend(sums.iter().map(|sum| O::nearest(mean(sum))));
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
