//! Which bits of which coefficients the scans of a progressive image have brought so far (T.81 G.1.1.1).
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::scan::Scan;

/// Coefficients, in order of transmission, that libjpeg estimates where a file does not bring them in full, and DC.
pub(in crate::jpeg) const LOW: usize = 10;
/// Of a coefficient that no scan has brought.
pub(in crate::jpeg) const ALL: i32 = -1;

/// For each component, how many low bits of its coefficients are missing.
pub(in crate::jpeg) struct Progress {
    missing: Vec<[i32; 64]>,
    /// The same of low frequencies, as libjpeg remembers it from before the last scan of the component.
    before: Vec<[i32; LOW]>,
    num_scans: usize,
}

impl Progress {
    /// Nothing yet of `num_components` components.
    pub(in crate::jpeg) fn new(num_components: usize) -> Self {
        Self { missing: vec![[ALL; 64]; num_components], before: vec![[ALL; LOW]; num_components], num_scans: 0 }
    }

    /// Takes note of `scan`, which must go on where earlier scans ended.
    pub(in crate::jpeg) fn add(&mut self, scan: &Scan) -> Result<()> {
        for part in &scan.parts {
            let missing = &self.missing[part.component];
            if scan.start > 0 && missing[0] == ALL {
                return Err(fault(scan, "a DC scan before any other", "none"));
            }
            for &bits in &missing[scan.start..=scan.end] {
                let expected = bits.max(0) as u32;
                if scan.high != expected {
                    return Err(fault(scan, &format!("refinement of bit {expected}"), &format!("bit {}", scan.high)));
                }
            }
        }
        self.note(scan);
        Ok(())
    }

    /// Takes note of `scan`, whatever came before it.
    pub(in crate::jpeg) fn note(&mut self, scan: &Scan) {
        for part in &scan.parts {
            let (missing, before) = (&mut self.missing[part.component], &mut self.before[part.component]);
            for place in scan.start.min(1)..LOW {
                before[place] = if self.num_scans > 0 { missing[place] } else { 0 };
            }
            missing[scan.start..=scan.end].fill(scan.low as i32);
        }
        self.num_scans += 1;
    }

    /// Refuses an image whose low frequencies are incomplete: versions of libjpeg make up different ones.
    pub(in crate::jpeg) fn check_complete(&self, offset: usize) -> Result<()> {
        if self.missing.iter().any(|missing| missing[1..LOW].iter().any(|&bits| bits != 0)) {
            let expected = "all low frequencies in full";
            return Err(ImageFault::new(ImageFaultKind::Unsupported, offset, expected, "a part of them"));
        }
        Ok(())
    }

    /// Low bits that are missing of the low frequencies of a component: now, and in front of its last scan.
    pub(in crate::jpeg) fn low(&self, component: usize) -> [[i32; LOW]; 2] {
        let now = std::array::from_fn(|place| self.missing[component][place]);
        [now, if self.num_scans > 1 { self.before[component] } else { [ALL; LOW] }]
    }
}

fn fault(scan: &Scan, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadScan, scan.offset, expected, found)
}
