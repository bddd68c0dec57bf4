//! CRC-32C, plain and in TFRecord's masked form, and the CRC-32 of gzip.
//!
//! Castagnoli polynomial 0x82F63B78 reflected, initial value and final xor 0xFFFFFFFF (RFC 3720, appendix B.4).
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

#[cfg(test)]
mod tests {
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
