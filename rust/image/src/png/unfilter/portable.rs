//! Portable implementation of the filters: the reference for the vector code, and the fallback for other processors.

/// Undoes the Sub filter: adds the pixel to the left.
pub(super) fn sub<const N: usize>(row: &mut [u8]) {
    let mut left = [0u8; N];
    for pixel in row.as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left);
            *left = *value;
        }
    }
}

/// Undoes the Up filter: adds the pixel above.
pub(super) fn up(row: &mut [u8], above: &[u8]) {
    for (value, above) in row.iter_mut().zip(above) {
        *value = value.wrapping_add(*above);
    }
}

/// Undoes the Average filter of the first row: adds half the pixel to the left, because the row above counts as zero.
pub(super) fn average_first<const N: usize>(row: &mut [u8]) {
    let mut left = [0u8; N];
    for pixel in row.as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left / 2);
            *left = *value;
        }
    }
}

/// Undoes the Average filter: adds the mean, rounded down, of the pixels to the left and above.
pub(super) fn average<const N: usize>(row: &mut [u8], above: &[u8]) {
    let mut left = [0u8; N];
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        for ((value, above), left) in pixel.iter_mut().zip(above).zip(&mut left) {
            *value = value.wrapping_add(u16::midpoint((*left).into(), (*above).into()) as u8);
            *left = *value;
        }
    }
}

/// Undoes consecutive rows with the Paeth filter.
pub(super) fn paeth_rows<const N: usize>(rows: &mut [&mut [u8]], above: &[u8]) {
    let mut above = above;
    for row in rows {
        paeth::<N>(row, above);
        above = row;
    }
}

/// Undoes the Paeth filter: adds the predictor of the left, upper and upper left pixels.
pub(super) fn paeth<const N: usize>(row: &mut [u8], above: &[u8]) {
    let (mut left, mut corner) = ([0i16; N], [0i16; N]);
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        for k in 0..N {
            let up = i16::from(above[k]);
            pixel[k] = pixel[k].wrapping_add(paeth_predictor(left[k], up, corner[k]) as u8);
            (left[k], corner[k]) = (i16::from(pixel[k]), up);
        }
    }
}

/// Paeth predictor: returns the neighbor nearest to `left + up - corner`.
///
/// Let `low` and `high` be the smaller and the larger of `left` and `up`. The predictor is `low` if
/// `corner >= (low + 2 * high) / 3`, `high` if `corner <= (2 * low + high) / 3`, and the corner otherwise. `pivot` turns
/// both conditions into simple comparisons with `high` and `low`.
fn paeth_predictor(left: i16, up: i16, corner: i16) -> i16 {
    let (low, high) = (left.min(up), left.max(up));
    let pivot = 3 * corner - (left + up);
    let or_corner = if pivot >= high { low } else { corner };
    if pivot <= low { high } else { or_corner }
}

#[cfg(test)]
mod tests {
    use super::paeth_predictor;

    /// The predictor as written in the specification, section 9.4.
    fn predictor_of_specification(a: i16, b: i16, c: i16) -> i16 {
        let p = a + b - c;
        let (pa, pb, pc) = ((p - a).abs(), (p - b).abs(), (p - c).abs());
        if pa <= pb && pa <= pc {
            a
        } else if pb <= pc {
            b
        } else {
            c
        }
    }

    #[test]
    fn predictor_equals_specification_for_all_bytes() {
        for a in 0..256 {
            for b in 0..256 {
                assert!((0..256).all(|c| paeth_predictor(a, b, c) == predictor_of_specification(a, b, c)), "{a} {b}");
            }
        }
    }
}
