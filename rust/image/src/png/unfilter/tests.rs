//! The vector code against the portable code.
use super::{Filter, Kernels, Unfilter};

const PORTABLE: Unfilter = Unfilter { kernels: Kernels::Portable };
const FILTERS: [Filter; 5] = [Filter::None, Filter::Sub, Filter::Up, Filter::Average, Filter::Paeth];

/// Bytes that look random and are the same in every run.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn filters_when_undone_by_vectors_then_equal_the_portable_code() {
    for pixel_bytes in [1, 2, 3, 4, 6, 8] {
        for pixels in 1..70 {
            let (row, above) = (noise(pixels * pixel_bytes, pixels as u64), noise(pixels * pixel_bytes, 99));
            for filter in FILTERS {
                for above in [None, Some(above.as_slice())] {
                    let (mut plain, mut fast) = (row.clone(), row.clone());
                    PORTABLE.undo(filter, pixel_bytes, &mut plain, above);
                    Unfilter::detect().undo(filter, pixel_bytes, &mut fast, above);
                    assert_eq!(plain, fast, "{filter:?}, {pixels} pixels of {pixel_bytes} bytes");
                }
            }
        }
    }
}

#[test]
fn first_row_when_undone_then_equals_a_row_below_zeros() {
    for pixel_bytes in [1, 2, 3, 4, 6, 8] {
        let row = noise(41 * pixel_bytes, 5);
        for filter in FILTERS {
            let (mut first, mut below) = (row.clone(), row.clone());
            PORTABLE.undo(filter, pixel_bytes, &mut first, None);
            PORTABLE.undo(filter, pixel_bytes, &mut below, Some(&vec![0; row.len()]));
            assert_eq!(first, below, "{filter:?}, pixels of {pixel_bytes} bytes");
        }
    }
}
