//! Bringing rows of a smaller plane to the image's size.
//!
//! The triangle filter puts the new samples a quarter of the way between the old ones, 3/4 from the nearer and 1/4 from the
//! farther. Halves are rounded up on one side and down on the other. Beyond a plane's edges its outermost samples repeat.

/// See [`super::Kernel::triangle_across`].
#[inline(always)]
pub(super) fn triangle_across(row: &[u8], out: &mut [u8]) {
    let width = row.len();
    let out = &mut out[..2 * width];
    if width > 2 {
        let middles = out[2..].chunks_exact_mut(2).zip(row).zip(&row[1..]).zip(&row[2..]);
        for (((pair, &left), &middle), &right) in middles {
            let [left, middle, right] = [left, middle, right].map(u16::from);
            pair[0] = ((3 * middle + left + 1) >> 2) as u8;
            pair[1] = ((3 * middle + right + 2) >> 2) as u8;
        }
    }
    if width > 1 {
        let [first, second, before, last] = [0, 1, width - 2, width - 1].map(|i| u16::from(row[i]));
        out[1] = ((3 * first + second + 2) >> 2) as u8;
        out[2 * width - 2] = ((3 * last + before + 1) >> 2) as u8;
    } else if let Some(&only) = row.first() {
        out[1] = only;
    }
    if let (Some(&first), Some(&last)) = (row.first(), row.last()) {
        out[0] = first;
        out[2 * width - 1] = last;
    }
}

/// See [`super::Kernel::triangle_down`].
#[inline(always)]
pub(super) fn triangle_down(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
    for ((out, &near), &far) in out.iter_mut().zip(near).zip(far) {
        *out = ((3 * u16::from(near) + u16::from(far) + u16::from(bias)) >> 2) as u8;
    }
}

/// See [`super::Kernel::triangle_both`]. Sums of 3 near + far first, then the same across them; one rounding, at the end.
#[inline(always)]
pub(super) fn triangle_both(near: &[u8], far: &[u8], sums: &mut Vec<i16>, out: &mut [u8]) {
    let width = near.len();
    sums.resize(width + 2, 0);
    for ((sum, &near), &far) in sums[1..].iter_mut().zip(near).zip(far) {
        *sum = 3 * i16::from(near) + i16::from(far);
    }
    sums[0] = sums[1];
    sums[width + 1] = sums[width];
    let sums = sums[..width].iter().zip(&sums[1..]).zip(&sums[2..]);
    for (pair, ((&left, &middle), &right)) in out[..2 * width].chunks_exact_mut(2).zip(sums) {
        let even = (3 * middle + left + 8) as u16 >> 4;
        let odd = (3 * middle + right + 7) as u16 >> 4;
        pair.copy_from_slice(&(even | odd << 8).to_le_bytes());
    }
}

/// See [`super::Kernel::repeat`].
#[inline(always)]
pub(super) fn repeat(row: &[u8], times: usize, out: &mut [u8]) {
    match times {
        2 => repeat_exactly::<2>(row, out),
        3 => repeat_exactly::<3>(row, out),
        4 => repeat_exactly::<4>(row, out),
        _ => row.iter().zip(out.chunks_exact_mut(times)).for_each(|(&sample, run)| run.fill(sample)),
    }
}

#[inline(always)]
fn repeat_exactly<const TIMES: usize>(row: &[u8], out: &mut [u8]) {
    for (run, &sample) in out.chunks_exact_mut(TIMES).zip(row) {
        run.copy_from_slice(&[sample; TIMES]);
    }
}
