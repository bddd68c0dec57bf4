//! A short number that tells a JPEG file from others: of all that entry points depend on, and of samples of the rest.
use crate::jpeg::header::Reader;
use crate::jpeg::header::scan::Scan;

/// Bytes at either end of the entropy-coded data that count.
const ENDS: usize = 128;
/// Groups of eight bytes in between that count.
const SAMPLES: usize = 32;

/// The number of the image whose first scan is `scan`.
pub(super) fn fingerprint(reader: &Reader<'_>, scan: &Scan) -> u64 {
    let (frame, tables) = (&reader.frame, &reader.state.tables);
    let mut digest = Digest::new();
    for number in [reader.data.len(), scan.data, frame.size.width, frame.size.height, reader.state.restart_interval] {
        digest.add_word(number as u64);
    }
    for (part, component) in scan.parts.iter().zip(&frame.components) {
        digest.add(&[component.h as u8, component.v as u8]);
        for spec in [tables.dc.get(part.dc), tables.ac.get(part.ac)].into_iter().flatten().flatten() {
            digest.add(&spec.counts);
            digest.add(&spec.symbols);
        }
    }
    let coded = reader.data.get(scan.data..).unwrap_or_default();
    digest.add(&coded[..coded.len().min(ENDS)]);
    digest.add(&coded[coded.len().saturating_sub(ENDS)..]);
    for sample in 0..SAMPLES {
        let start = coded.len() / SAMPLES * sample;
        digest.add(&coded[start..(start + 8).min(coded.len())]);
    }
    digest.finish()
}

/// A 64-bit digest in the manner of FNV-1a, eight bytes at a time. It tells accidents from the real thing, not forgeries.
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add_word(u64::from_le_bytes(word));
        }
        self.add_word(bytes.len() as u64);
    }

    pub(super) fn add_word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    pub(super) fn finish(mut self) -> u64 {
        self.add_word(self.0 >> 32);
        self.0
    }
}
