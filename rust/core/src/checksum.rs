//! CRC-32C, plain and in TFRecord's masked form, and the CRC-32 of gzip.
//!
//! Castagnoli polynomial 0x82F63B78 reflected, initial value and final xor 0xFFFFFFFF (RFC 3720, appendix B.4).
use std::ops::RangeInclusive;

use crc_fast::{CrcAlgorithm, Digest, crc32_iscsi};

const MASK_DELTA: u32 = 0xA282_EAD8;

/// CRC-32C of `data`.
pub fn crc32c(data: &[u8]) -> u32 {
    crc32_iscsi(data)
}

/// CRC-32C of data that come in pieces.
pub struct Crc32c(Digest);

impl Crc32c {
    /// Of no data yet.
    pub fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// Adds the next piece.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The checksum of all pieces.
    pub fn finish(&self) -> u32 {
        self.0.finalize() as u32
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Self::new()
    }
}

/// CRC-32 of gzip (RFC 1952, section 8) of data that come in pieces: `crc` is the value so far, 0 at the start.
pub fn crc32(crc: u32, data: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32IsoHdlc, u64::from(!crc));
    digest.update(data);
    digest.finalize() as u32
}

/// TFRecord's masked form of a CRC: rotated right by 15 bits, plus a constant.
pub fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// Masked CRC-32C of `data`, as TFRecord stores it.
pub fn masked_crc32c(data: &[u8]) -> u32 {
    mask(crc32c(data))
}

/// Masked CRC-32C of a 64-bit number as stored: one instruction or eight table look-ups, cheaper than a call made for
/// long data.
#[inline]
pub fn masked_crc32c_of_eight(value: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has just been asked for SSE 4.2, the one thing that the function needs.
        #[allow(unsafe_code)]
        return mask(unsafe { crc32c_by_instruction(value) });
    }
    mask(crc32c_by_tables(value))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc32c_by_instruction(value: u64) -> u32 {
    !(std::arch::x86_64::_mm_crc32_u64(u64::from(u32::MAX), value) as u32)
}

fn crc32c_by_tables(value: u64) -> u32 {
    let bytes = (value ^ 0xFFFF_FFFF).to_le_bytes();
    let mut crc = 0;
    let mut place = 0;
    while place < 8 {
        crc ^= EIGHT[7 - place][bytes[place] as usize];
        place += 1;
    }
    !crc
}

/// `EIGHT[n][byte]`: what `byte` adds to the checksum when `n` more bytes follow.
static EIGHT: [[u32; 256]; 8] = eight_tables();

const fn eight_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

// Checksums of many short rows at once.
//
// The processor's CRC instruction takes three cycles until its result is there, but can begin one every cycle: three
// rows side by side take as long as one. Whenever a row ends, the next one takes its lane.

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
mod checksum_tests {
    use super::*;

    #[test]
    fn crc32c_of_check_text_is_the_published_value() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn crc32_of_check_text_in_pieces_is_the_published_value() {
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(crc32(crc32(0, b"1234"), b""), b"56789"), 0xCBF4_3926);
    }

    #[test]
    fn masked_constants_are_those_of_the_specification() {
        assert_eq!(masked_crc32c(&[0; 8]), 0x0798_0329);
        assert_eq!(masked_crc32c(b""), 0xA282_EAD8);
    }

    #[test]
    fn crc32c_of_eight_bytes_is_that_of_any_data() {
        for value in [0, 1, 0xFF, 592, u64::MAX, 0x0123_4567_89AB_CDEF, 1 << 63] {
            assert_eq!(masked_crc32c_of_eight(value), masked_crc32c(&value.to_le_bytes()));
            assert_eq!(crc32c_by_tables(value), crc32c(&value.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod checksum_rows_tests {
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
