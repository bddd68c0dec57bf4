//! Tests of the vector code against the portable code.
use super::{Filter, Kernels, Unfilter};

const PORTABLE: Unfilter = Unfilter { kernels: Kernels::Portable };
const FILTERS: [Filter; 5] = [Filter::None, Filter::Sub, Filter::Up, Filter::Average, Filter::Paeth];

/// Returns pseudorandom bytes.
fn random_bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Undoes all rows of `length` bytes, each with its filter byte.
fn undo_all_filters(unfilter: Unfilter, pixel_bytes: usize, length: usize, stored: &mut [u8]) {
    let mut row = 0;
    while row * length < stored.len() {
        let (done, open) = stored.split_at_mut(row * length);
        let above = done.rchunks_exact(length).next().map(|above| &above[1..]);
        row += unfilter.undo_filter(FILTERS[usize::from(open[0])], pixel_bytes, length, open, above);
    }
}

#[test]
fn vector_filters_equal_portable_filters() {
    for pixel_bytes in [1, 2, 3, 4, 6, 8] {
        for pixels in 1..70 {
            for mix in 0..4 {
                let length = pixels * pixel_bytes + 1;
                let mut plain = random_bytes(length * 23, (pixels * 4 + mix) as u64);
                // Larger values of `mix` give longer runs of rows with the same filter.
                plain.iter_mut().step_by(length).for_each(|code| *code = (*code % (5 + 4 * mix as u8)).min(4));
                let mut fast = plain.clone();
                undo_all_filters(PORTABLE, pixel_bytes, length, &mut plain);
                undo_all_filters(Unfilter::detect(), pixel_bytes, length, &mut fast);
                assert!(plain == fast, "{pixels} pixels of {pixel_bytes} bytes, mix {mix}");
            }
        }
    }
}

#[test]
fn first_row_is_undone_as_if_zeros_were_above() {
    for pixel_bytes in [1, 2, 3, 4, 6, 8] {
        let length = 41 * pixel_bytes + 1;
        for filter in FILTERS {
            let mut first = random_bytes(length, 5);
            first[0] = filter as u8;
            let mut below = first.clone();
            PORTABLE.undo_filter(filter, pixel_bytes, length, &mut first, None);
            PORTABLE.undo_filter(filter, pixel_bytes, length, &mut below, Some(&vec![0; length - 1]));
            assert_eq!(first, below, "{filter:?}, pixels of {pixel_bytes} bytes");
        }
    }
}
