//! Which bits of which coefficients the scans of a progressive image have brought so far (T.81 G.1.1.1).
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::scan::Scan;

/// Low frequencies that libjpeg estimates where a file does not bring them in full.
const ESTIMATED: std::ops::Range<usize> = 1..10;

/// For each component and coefficient, how many low bits are missing; none before its first scan.
pub(in crate::jpeg) struct Progress {
    missing: Vec<[Option<u32>; 64]>,
}

impl Progress {
    /// Nothing yet of `num_components` components.
    pub(in crate::jpeg) fn new(num_components: usize) -> Self {
        Self { missing: vec![[None; 64]; num_components] }
    }

    /// Takes note of `scan`, which must go on where earlier scans ended.
    pub(in crate::jpeg) fn add(&mut self, scan: &Scan) -> Result<()> {
        for part in &scan.parts {
            let missing = &mut self.missing[part.component];
            if scan.start > 0 && missing[0].is_none() {
                return Err(fault(scan, "a DC scan before any other", "none"));
            }
            for bits in &mut missing[scan.start..=scan.end] {
                let expected = bits.unwrap_or(0);
                if scan.high != expected {
                    return Err(fault(scan, &format!("refinement of bit {expected}"), &format!("bit {}", scan.high)));
                }
                *bits = Some(scan.low);
            }
        }
        Ok(())
    }

    /// Refuses an image whose low frequencies are incomplete: libjpeg would make some up.
    pub(in crate::jpeg) fn check_complete(&self, offset: usize) -> Result<()> {
        let is_incomplete = |missing: &[Option<u32>; 64]| missing[ESTIMATED].iter().any(|&bits| bits != Some(0));
        if self.missing.iter().any(is_incomplete) {
            return Err(ImageFault::new(
                ImageFaultKind::Unsupported,
                offset,
                "all low frequencies in full",
                "a part of them",
            ));
        }
        Ok(())
    }
}

fn fault(scan: &Scan, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadScan, scan.offset, expected, found)
}
