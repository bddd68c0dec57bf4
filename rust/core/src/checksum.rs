//! CRC-32C, plain and in TFRecord's masked form, and the CRC-32 of gzip.
//!
//! CRC-32C uses the reflected Castagnoli polynomial 0x82F63B78 with initial value and final XOR 0xFFFFFFFF (RFC 3720,
//! appendix B.4).
use std::ops::RangeInclusive;

use crc_fast::{CrcAlgorithm, Digest, crc32_iscsi};

const MASK_DELTA: u32 = 0xA282_EAD8;

/// Returns the CRC-32C of `data`.
pub fn crc32c(data: &[u8]) -> u32 {
    crc32_iscsi(data)
}

/// Computes the CRC-32C of data that arrives in pieces.
pub struct Crc32c(Digest);

impl Crc32c {
    /// Creates a checksum to which no data has been added.
    pub fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// Adds the next piece of the data.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// Returns the checksum of all pieces so far.
    pub fn finish(&self) -> u32 {
        self.0.finalize() as u32
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Self::new()
    }
}

/// Continues a CRC-32 of gzip (RFC 1952, section 8) with `data`. `crc` is the CRC-32 of all preceding data, 0 at first.
pub fn crc32(crc: u32, data: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32IsoHdlc, u64::from(!crc));
    digest.update(data);
    digest.finalize() as u32
}

/// Returns TFRecord's masked form of a CRC: rotated right by 15 bits, plus a constant.
pub fn mask_crc(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// Returns the masked CRC-32C of `data`, as TFRecord stores it.
pub fn masked_crc32c(data: &[u8]) -> u32 {
    mask_crc(crc32c(data))
}

/// Returns the masked CRC-32C of the eight little-endian bytes of `value`.
///
/// One CRC instruction, or eight table lookups, is cheaper than a call of [`crc32c`], which is optimized for long data.
#[inline]
pub fn masked_crc32c_of_u64(value: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the function only requires SSE 4.2, and the condition above holds only if the processor has it.
        #[allow(unsafe_code)]
        return mask_crc(unsafe { crc32c_of_u64_sse42(value) });
    }
    mask_crc(crc32c_of_u64_by_table(value))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc32c_of_u64_sse42(value: u64) -> u32 {
    !(std::arch::x86_64::_mm_crc32_u64(u64::from(u32::MAX), value) as u32)
}

fn crc32c_of_u64_by_table(value: u64) -> u32 {
    let bytes = (value ^ 0xFFFF_FFFF).to_le_bytes();
    let mut crc = 0;
    let mut position = 0;
    while position < 8 {
        crc ^= TABLES[7 - position][bytes[position] as usize];
        position += 1;
    }
    !crc
}

/// Tables for slicing-by-8: `TABLES[n][byte]` is the contribution of `byte` to the checksum if `n` more bytes follow.
static TABLES: [[u32; 256]; 8] = build_tables();

const fn build_tables() -> [[u32; 256]; 8] {
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
// The CRC instruction of x86-64 has a latency of three cycles and a throughput of one per cycle, so three interleaved
// rows take as long as one. When a row ends, the next row takes over its lane.

/// Lengths in bytes of the rows that are interleaved. [`crc32c`] is faster for longer rows; shorter rows have no whole
/// word of eight bytes.
const INTERLEAVED_LENGTHS: RangeInclusive<usize> = 8..=2048;

/// Writes the CRC-32C of each row to the element of `checksums` with the same index.
pub fn crc32c_of_rows(rows: &[&[u8]], checksums: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the function only requires SSE 4.2, and the condition above holds only if the processor has it.
        #[allow(unsafe_code)]
        return unsafe { sse42::crc32c_of_rows(rows, checksums) };
    }
    checksums.iter_mut().zip(rows).for_each(|(checksum, row)| *checksum = crc32c(row));
}

#[cfg(target_arch = "x86_64")]
mod sse42 {
    use super::{INTERLEAVED_LENGTHS, crc32c};
    use std::arch::x86_64::_mm_crc32_u64;

    /// A row whose checksum is being computed: its remaining words, its checksum so far, and its index.
    #[derive(Clone, Copy)]
    struct Lane<'a> {
        words: &'a [[u8; 8]],
        crc: u64,
        row: usize,
    }

    impl<'a> Lane<'a> {
        /// Processes the first `len % 8` bytes of a row, so that only whole words of eight bytes remain.
        ///
        /// Leading zeros do not change a checksum with initial value 0. The initial value 0xFFFFFFFF is equivalent to
        /// inverting the first four bytes of the data. So the first `len % 8` bytes are processed as one word with
        /// leading zeros. If there are fewer than four of them, the rest of the inversion is applied to the next word.
        #[target_feature(enable = "sse4.2")]
        fn new(row: usize, data: &'a [u8]) -> Option<Self> {
            let odd_bits = 8 * (data.len() % 8) as u32;
            let first = u64::from_le_bytes(*data.first_chunk()?) ^ u64::from(u32::MAX);
            let crc = _mm_crc32_u64(0, first.checked_shl(64 - odd_bits).unwrap_or(0));
            Some(Self { words: data.as_rchunks().1, crc: crc ^ u64::from(u32::MAX) >> odd_bits, row })
        }

        /// Processes the remaining words and returns the checksum of the row.
        #[target_feature(enable = "sse4.2")]
        fn finish(mut self) -> u32 {
            for word in self.words {
                self.crc = _mm_crc32_u64(self.crc, u64::from_le_bytes(*word));
            }
            !(self.crc as u32)
        }
    }

    #[target_feature(enable = "sse4.2")]
    pub fn crc32c_of_rows(rows: &[&[u8]], checksums: &mut [u32]) {
        for (checksum, row) in checksums.iter_mut().zip(rows).filter(|(_, row)| !is_interleaved(row)) {
            *checksum = crc32c(row);
        }
        let mut next = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| is_interleaved(row))
            .filter_map(|(index, row)| Lane::new(index, row));
        let mut lanes = [next.next(), next.next(), next.next()];
        while let [Some(a), Some(b), Some(c)] = &mut lanes {
            advance_lanes(a, b, c);
            for lane in &mut lanes {
                if let Some(done) = lane.take_if(|lane| lane.words.is_empty()) {
                    checksums[done.row] = done.finish();
                    *lane = next.next();
                }
            }
        }
        for lane in lanes.into_iter().flatten() {
            checksums[lane.row] = lane.finish();
        }
    }

    fn is_interleaved(row: &[u8]) -> bool {
        INTERLEAVED_LENGTHS.contains(&row.len())
    }

    /// Advances all lanes by the number of words that remain in the shortest lane.
    #[target_feature(enable = "sse4.2")]
    fn advance_lanes<'a>(a: &mut Lane<'a>, b: &mut Lane<'a>, c: &mut Lane<'a>) {
        let count = a.words.len().min(b.words.len()).min(c.words.len());
        let [(first, a_rest), (second, b_rest), (third, c_rest)] =
            [a.words, b.words, c.words].map(|words| words.split_at(count));
        let [mut x, mut y, mut z] = [a.crc, b.crc, c.crc];
        for ((one, two), three) in first.iter().zip(second).zip(third) {
            x = _mm_crc32_u64(x, u64::from_le_bytes(*one));
            y = _mm_crc32_u64(y, u64::from_le_bytes(*two));
            z = _mm_crc32_u64(z, u64::from_le_bytes(*three));
        }
        (a.words, b.words, c.words) = (a_rest, b_rest, c_rest);
        (a.crc, b.crc, c.crc) = (x, y, z);
    }
}

#[cfg(test)]
mod checksum_tests {
    use super::*;

    #[test]
    fn crc32c_gives_published_check_value() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn crc32_in_pieces_gives_published_check_value() {
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(crc32(crc32(0, b"1234"), b""), b"56789"), 0xCBF4_3926);
    }

    #[test]
    fn masked_crc32c_gives_known_values() {
        assert_eq!(masked_crc32c(&[0; 8]), 0x0798_0329);
        assert_eq!(masked_crc32c(b""), 0xA282_EAD8);
    }

    #[test]
    fn masked_crc32c_of_u64_equals_masked_crc32c_of_its_bytes() {
        for value in [0, 1, 0xFF, 592, u64::MAX, 0x0123_4567_89AB_CDEF, 1 << 63] {
            assert_eq!(masked_crc32c_of_u64(value), masked_crc32c(&value.to_le_bytes()));
            assert_eq!(crc32c_of_u64_by_table(value), crc32c(&value.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod checksum_rows_tests {
    use super::*;

    #[test]
    fn crc32c_of_rows_equals_crc32c_of_each_row() {
        let data: Vec<u8> = (0..9000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for num_rows in 0..40 {
            let length = |row: usize| (row * row * 131 + num_rows * 7) % [17, 600, 2500][row % 3];
            let rows: Vec<&[u8]> = (0..num_rows).map(|row| &data[row * 3..row * 3 + length(row)]).collect();
            let expected: Vec<u32> = rows.iter().map(|row| crc32c(row)).collect();
            let mut checksums = vec![0; rows.len()];
            crc32c_of_rows(&rows, &mut checksums);
            assert_eq!(checksums, expected);
        }
    }
}
