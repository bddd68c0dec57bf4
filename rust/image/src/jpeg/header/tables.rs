//! Quantization and Huffman tables as stored in the file (T.81 B.2.4).
use super::marker::SegmentReader;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::samples::NATURAL_ORDER;

const KIND: ImageFaultKind = ImageFaultKind::BadTable;

/// A quantization table in natural (row-major) order.
pub(in crate::jpeg) type Quantization = [u16; 64];

/// A Huffman table as stored: the number of codes of each length, and the symbols in code order.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::jpeg) struct HuffmanSpec {
    /// `counts[n]` is the number of codes with `n + 1` bits.
    pub(in crate::jpeg) counts: [u8; 16],
    /// One symbol for each code, followed by zeros.
    pub(in crate::jpeg) symbols: [u8; 256],
    /// Byte offset of the table in the file.
    pub(in crate::jpeg) offset: usize,
}

impl HuffmanSpec {
    /// Returns whether both tables define the same codes.
    pub(in crate::jpeg) fn has_same_codes(&self, other: &Self) -> bool {
        self.counts == other.counts && self.symbols == other.symbols
    }
}

/// The tables defined so far; four of each kind.
#[derive(Clone, Default)]
pub(in crate::jpeg) struct Tables {
    pub(in crate::jpeg) quantization: [Option<Quantization>; 4],
    pub(in crate::jpeg) dc: [Option<HuffmanSpec>; 4],
    pub(in crate::jpeg) ac: [Option<HuffmanSpec>; 4],
}

impl Tables {
    /// Stores the quantization tables of a DQT segment.
    pub(in crate::jpeg) fn read_quantization(&mut self, mut segment: SegmentReader<'_>) -> Result<()> {
        while segment.len() > 0 {
            let offset = segment.offset();
            let head = segment.byte(KIND)?;
            let slot = usize::from(head & 15);
            if slot > 3 {
                return Err(ImageFault::new(KIND, offset, "quantization table 0 to 3", slot.to_string()));
            }
            let wide = head >> 4 != 0;
            let mut table = [0; 64];
            for &index in &NATURAL_ORDER[..64] {
                table[usize::from(index)] = if wide { segment.pair(KIND)? } else { segment.byte(KIND)?.into() };
            }
            self.quantization[slot] = Some(table);
        }
        Ok(())
    }

    /// Stores the Huffman tables of a DHT segment.
    pub(in crate::jpeg) fn read_huffman(&mut self, mut segment: SegmentReader<'_>) -> Result<()> {
        while segment.len() > 0 {
            let offset = segment.offset();
            let head = segment.byte(KIND)?;
            if head & 0xec != 0 {
                return Err(ImageFault::new(
                    KIND,
                    offset,
                    "Huffman class 0 or 1, table 0 to 3",
                    format!("{head:#04x}"),
                ));
            }
            let mut spec = HuffmanSpec { counts: [0; 16], symbols: [0; 256], offset };
            spec.counts.copy_from_slice(segment.take(16, KIND)?);
            let num_codes: usize = spec.counts.iter().map(|&count| usize::from(count)).sum();
            if num_codes > 256 {
                return Err(ImageFault::new(KIND, offset, "at most 256 codes", num_codes.to_string()));
            }
            spec.symbols[..num_codes].copy_from_slice(segment.take(num_codes, KIND)?);
            let class = if head & 0x10 == 0 { &mut self.dc } else { &mut self.ac };
            class[usize::from(head & 3)] = Some(spec);
        }
        Ok(())
    }
}

// The typical Huffman tables (T.81 K.3), which the images of Motion JPEG videos omit.

const DC_COUNTS: [[u8; 16]; 2] =
    [[0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]];
const DC_SIZES: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const AC_COUNTS: [[u8; 16]; 2] =
    [[0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125], [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119]];
const AC_SYMBOLS: [[u8; 162]; 2] = [AC_LUMA, AC_CHROMA];
#[rustfmt::skip]
const AC_LUMA: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
    0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];
#[rustfmt::skip]
const AC_CHROMA: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
    0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1,
    0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36,
    0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
    0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
    0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
    0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];

impl Tables {
    /// Installs the typical tables at indices 0 and 1 if the file does not define them.
    pub(super) fn add_typical_tables(&mut self) {
        for table in 0..2 {
            self.dc[table].get_or_insert_with(|| huffman_spec(DC_COUNTS[table], &DC_SIZES));
            self.ac[table].get_or_insert_with(|| huffman_spec(AC_COUNTS[table], &AC_SYMBOLS[table]));
        }
    }
}

fn huffman_spec(counts: [u8; 16], symbols: &[u8]) -> HuffmanSpec {
    let mut spec = HuffmanSpec { counts, symbols: [0; 256], offset: 0 };
    spec.symbols[..symbols.len()].copy_from_slice(symbols);
    spec
}
