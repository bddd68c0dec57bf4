//! Quantization and Huffman tables as the file gives them (T.81 B.2.4).
use super::bytes::Bytes;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::zigzag::NATURAL;

const KIND: ImageFaultKind = ImageFaultKind::BadTable;

/// A quantization table in natural (row by row) order.
pub(in crate::jpeg) type Quantization = [u16; 64];

/// A Huffman table as transmitted: how many codes of each length, and their symbols in order of the codes.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::jpeg) struct HuffmanSpec {
    /// `counts[n]` codes have `n + 1` bits.
    pub(in crate::jpeg) counts: [u8; 16],
    /// As many symbols as there are codes; zero behind them.
    pub(in crate::jpeg) symbols: [u8; 256],
    /// Where the table stands in the image.
    pub(in crate::jpeg) offset: usize,
}

impl HuffmanSpec {
    /// Whether both tables hold the same codes.
    pub(in crate::jpeg) fn same_codes(&self, other: &Self) -> bool {
        self.counts == other.counts && self.symbols == other.symbols
    }
}

/// The tables in force at some place of the file; each kind has four.
#[derive(Clone, Default)]
pub(in crate::jpeg) struct Tables {
    pub(in crate::jpeg) quantization: [Option<Quantization>; 4],
    pub(in crate::jpeg) dc: [Option<HuffmanSpec>; 4],
    pub(in crate::jpeg) ac: [Option<HuffmanSpec>; 4],
}

impl Tables {
    /// Takes over the tables of a DQT segment.
    pub(in crate::jpeg) fn read_quantization(&mut self, mut segment: Bytes<'_>) -> Result<()> {
        while segment.len() > 0 {
            let offset = segment.offset();
            let head = segment.byte(KIND)?;
            let slot = usize::from(head & 15);
            if slot > 3 {
                return Err(ImageFault::new(KIND, offset, "quantization table 0 to 3", slot.to_string()));
            }
            let wide = head >> 4 != 0;
            let mut table = [0; 64];
            for &place in &NATURAL[..64] {
                table[usize::from(place)] = if wide { segment.pair(KIND)? } else { segment.byte(KIND)?.into() };
            }
            self.quantization[slot] = Some(table);
        }
        Ok(())
    }

    /// Takes over the tables of a DHT segment.
    pub(in crate::jpeg) fn read_huffman(&mut self, mut segment: Bytes<'_>) -> Result<()> {
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
