//! Builds an image from chosen source columns and rows: what every nearest-neighbor rule ends in.
use crate::geometry::view::View;

/// The pixels of `source` at `columns` and `rows`.
pub(crate) fn pick<T: Copy>(source: View<T>, columns: &[usize], rows: &[usize]) -> Vec<T> {
    match source.channels() {
        1 => gather::<T, 1>(source, columns, rows),
        2 => gather::<T, 2>(source, columns, rows),
        3 => gather::<T, 3>(source, columns, rows),
        _ => gather::<T, 4>(source, columns, rows),
    }
}

fn gather<T: Copy, const CHANNELS: usize>(source: View<T>, columns: &[usize], rows: &[usize]) -> Vec<T> {
    let mut output: Vec<T> = Vec::with_capacity(columns.len() * rows.len() * CHANNELS);
    let length = columns.len() * CHANNELS;
    let (mut row, mut previous) = (vec![[source.row(0)[0]; CHANNELS]; columns.len()], None);
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
    output
}
