//! CRC-32C, plain and in TFRecord's masked form, and the CRC-32 of gzip.
//!
//! Castagnoli polynomial 0x82F63B78 reflected, initial value and final xor 0xFFFFFFFF (RFC 3720, appendix B.4).
use crc_fast::{CrcAlgorithm, Digest, checksum};

const MASK_DELTA: u32 = 0xA282_EAD8;

/// CRC-32C of `data`.
pub fn crc32c(data: &[u8]) -> u32 {
    checksum(CrcAlgorithm::Crc32Iscsi, data) as u32
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
}
