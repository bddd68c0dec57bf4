//! CRC-32C of many short rows.
//!
//! The processor's CRC instruction takes three cycles until its result is there, but can begin one every cycle: three
//! rows side by side take as long as one. Whenever a row ends, the next one takes its lane.
use crate::checksum::crc32c;
use std::ops::RangeInclusive;

/// Rows of other lengths are summed alone: there is a better way for long ones, and the shortest have no whole word.
const SHORT: RangeInclusive<usize> = 8..=2048;

/// Puts the CRC-32C of every row into `sums`, which has as many places.
pub fn crc32c_of_rows(rows: &[&[u8]], sums: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has just been asked for SSE 4.2, the one thing that the function needs.
        #[allow(unsafe_code)]
        return unsafe { sse42::rows(rows, sums) };
    }
    sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum = crc32c(row));
}

#[cfg(target_arch = "x86_64")]
mod sse42 {
    use super::{SHORT, crc32c};
    use std::arch::x86_64::_mm_crc32_u64;

    /// A row on its way: the words that are left of it, its checksum so far, and which one it is.
    #[derive(Clone, Copy)]
    struct Lane<'a> {
        words: &'a [[u8; 8]],
        sum: u64,
        row: usize,
    }

    impl<'a> Lane<'a> {
        /// Begins with the bytes in front of the whole words, so that no byte is left behind them.
        ///
        /// Zeros in front of data do not change a checksum that begins at zero, and to begin at all ones is to invert
        /// the first four bytes: the odd bytes are one word with zeros in front, what they do not take of the
        /// inversion the next word gets.
        #[target_feature(enable = "sse4.2")]
        fn new(row: usize, data: &'a [u8]) -> Option<Self> {
            let odd = 8 * (data.len() % 8) as u32;
            let first = u64::from_le_bytes(*data.first_chunk()?) ^ u64::from(u32::MAX);
            let alone = _mm_crc32_u64(0, first.checked_shl(64 - odd).unwrap_or(0));
            Some(Self { words: data.as_rchunks().1, sum: alone ^ u64::from(u32::MAX) >> odd, row })
        }

        /// Sums what is left.
        #[target_feature(enable = "sse4.2")]
        fn finish(mut self) -> u32 {
            for word in self.words {
                self.sum = _mm_crc32_u64(self.sum, u64::from_le_bytes(*word));
            }
            !(self.sum as u32)
        }
    }

    #[target_feature(enable = "sse4.2")]
    pub fn rows(rows: &[&[u8]], sums: &mut [u32]) {
        for (sum, row) in sums.iter_mut().zip(rows).filter(|(_, row)| !SHORT.contains(&row.len())) {
            *sum = crc32c(row);
        }
        let mut next = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| SHORT.contains(&row.len()))
            .filter_map(|(at, row)| Lane::new(at, row));
        let mut lanes = [next.next(), next.next(), next.next()];
        while let [Some(a), Some(b), Some(c)] = &mut lanes {
            side_by_side(a, b, c);
            for lane in &mut lanes {
                if let Some(done) = lane.take_if(|lane| lane.words.is_empty()) {
                    sums[done.row] = done.finish();
                    *lane = next.next();
                }
            }
        }
        for lane in lanes.into_iter().flatten() {
            sums[lane.row] = lane.finish();
        }
    }

    /// Goes on in all lanes until the shortest has no whole word left.
    #[target_feature(enable = "sse4.2")]
    fn side_by_side<'a>(a: &mut Lane<'a>, b: &mut Lane<'a>, c: &mut Lane<'a>) {
        let count = a.words.len().min(b.words.len()).min(c.words.len());
        let [(first, a_left), (second, b_left), (third, c_left)] =
            [a.words, b.words, c.words].map(|words| words.split_at(count));
        let [mut x, mut y, mut z] = [a.sum, b.sum, c.sum];
        for ((one, two), three) in first.iter().zip(second).zip(third) {
            x = _mm_crc32_u64(x, u64::from_le_bytes(*one));
            y = _mm_crc32_u64(y, u64::from_le_bytes(*two));
            z = _mm_crc32_u64(z, u64::from_le_bytes(*three));
        }
        (a.words, b.words, c.words) = (a_left, b_left, c_left);
        (a.sum, b.sum, c.sum) = (x, y, z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_of_rows_is_that_of_each_row() {
        let data: Vec<u8> = (0..9000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for num_rows in 0..40 {
            let length = |row: usize| (row * row * 131 + num_rows * 7) % [17, 600, 2500][row % 3];
            let rows: Vec<&[u8]> = (0..num_rows).map(|row| &data[row * 3..row * 3 + length(row)]).collect();
            let expected: Vec<u32> = rows.iter().map(|row| crc32c(row)).collect();
            let mut sums = vec![0; rows.len()];
            crc32c_of_rows(&rows, &mut sums);
            assert_eq!(sums, expected);
        }
    }
}
