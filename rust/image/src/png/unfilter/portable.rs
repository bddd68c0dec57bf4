//! The filters undone in plain Rust: the reference for the vector code and its substitute where there is none.

/// Adds the pixel to the left.
pub(super) fn sub<const N: usize>(row: &mut [u8]) {
    let mut left = [0u8; N];
    for pixel in row.as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left);
            *left = *value;
        }
    }
}

/// Adds the pixel above.
pub(super) fn up(row: &mut [u8], above: &[u8]) {
    for (value, above) in row.iter_mut().zip(above) {
        *value = value.wrapping_add(*above);
    }
}

/// Adds half the pixel to the left, zeros being above.
pub(super) fn average_first<const N: usize>(row: &mut [u8]) {
    let mut left = [0u8; N];
    for pixel in row.as_chunks_mut::<N>().0 {
        for (value, left) in pixel.iter_mut().zip(&mut left) {
            *value = value.wrapping_add(*left / 2);
            *left = *value;
        }
    }
}

/// Adds the mean, rounded down, of the pixels to the left and above.
pub(super) fn average<const N: usize>(row: &mut [u8], above: &[u8]) {
    let mut left = [0u8; N];
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        for ((value, above), left) in pixel.iter_mut().zip(above).zip(&mut left) {
            *value = value.wrapping_add(u16::midpoint((*left).into(), (*above).into()) as u8);
            *left = *value;
        }
    }
}

/// Undoes rows with the Paeth filter that follow one another.
pub(super) fn paeth_rows<const N: usize>(rows: &mut [&mut [u8]], above: &[u8]) {
    let mut above = above;
    for row in rows {
        paeth::<N>(row, above);
        above = row;
    }
}

/// Adds the Paeth predictor of the pixels to the left, above, and above to the left.
pub(super) fn paeth<const N: usize>(row: &mut [u8], above: &[u8]) {
    let (mut left, mut corner) = ([0i16; N], [0i16; N]);
    for (pixel, above) in row.as_chunks_mut::<N>().0.iter_mut().zip(above.as_chunks::<N>().0) {
        for k in 0..N {
            let up = i16::from(above[k]);
            pixel[k] = pixel[k].wrapping_add(predict(left[k], up, corner[k]) as u8);
            (left[k], corner[k]) = (i16::from(pixel[k]), up);
        }
    }
}

/// Which of three neighbors lies nearest to `left + up - corner`.
///
/// That is the smaller of `left` and `up` if the corner is at least as far above their mean as the larger one is, the
/// larger one if it is as far below, and the corner otherwise. `3 * corner - left - up` decides with two comparisons.
fn predict(left: i16, up: i16, corner: i16) -> i16 {
    let (low, high) = (left.min(up), left.max(up));
    let pivot = 3 * corner - (left + up);
    let or_corner = if pivot >= high { low } else { corner };
    if pivot <= low { high } else { or_corner }
}

#[cfg(test)]
mod tests {
    use super::predict;

    /// The predictor in the words of the specification, section 9.4.
    fn specified(a: i16, b: i16, c: i16) -> i16 {
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
    fn predictor_when_any_three_bytes_are_given_then_is_the_specified_one() {
        for a in 0..256 {
            for b in 0..256 {
                assert!((0..256).all(|c| predict(a, b, c) == specified(a, b, c)), "{a} {b}");
            }
        }
    }
}
