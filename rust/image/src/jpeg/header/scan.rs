//! The scan header: which components, frequencies and bits the entropy-coded data that follow hold (T.81 B.2.3).
use super::frame::{Coding, Frame};
use super::marker::Bytes;
use crate::fault::{ImageFault, ImageFaultKind, Result};

const KIND: ImageFaultKind = ImageFaultKind::BadScan;

/// A component's part in a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) struct Part {
    /// Index of the component in the frame.
    pub(in crate::jpeg) component: usize,
    /// Number of its table for DC differences.
    pub(in crate::jpeg) dc: usize,
    /// Number of its table for AC coefficients.
    pub(in crate::jpeg) ac: usize,
}

/// What one scan holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jpeg) struct Scan {
    pub(in crate::jpeg) parts: Vec<Part>,
    /// First frequency, in order of transmission.
    pub(in crate::jpeg) start: usize,
    /// Last frequency.
    pub(in crate::jpeg) end: usize,
    /// Bits that are still missing before this scan, where it refines; otherwise zero.
    pub(in crate::jpeg) high: u32,
    /// Bits that are still missing after this scan.
    pub(in crate::jpeg) low: u32,
    /// Where the header stands.
    pub(in crate::jpeg) offset: usize,
    /// Where the entropy-coded data begin.
    pub(in crate::jpeg) data: usize,
}

impl Scan {
    /// Reads a scan header of `frame`.
    pub(in crate::jpeg) fn read(frame: &Frame, mut segment: Bytes<'_>) -> Result<Self> {
        let offset = segment.offset();
        let num_parts = usize::from(segment.byte(KIND)?);
        if !(1..=4).contains(&num_parts) || segment.len() != 2 * num_parts + 3 {
            let found = format!("{num_parts} components in {} bytes", segment.len());
            return Err(ImageFault::new(KIND, offset, "one to four components of two bytes each", found));
        }
        let mut parts = Vec::with_capacity(num_parts);
        for place in 0..num_parts {
            parts.push(read_part(frame, &mut segment, place)?);
        }
        check_order(&parts, offset)?;
        let bounds = segment.take(3, KIND)?;
        let (start, end) = (usize::from(bounds[0]), usize::from(bounds[1]));
        let (high, low) = (u32::from(bounds[2] >> 4), u32::from(bounds[2] & 15));
        let scan = Self { parts, start, end, high, low, offset, data: segment.offset() };
        scan.check_bounds(frame.coding)?;
        if scan.parts.len() > 1 {
            frame.mcu_blocks(scan.parts.iter().map(|part| part.component), offset)?;
        }
        Ok(scan)
    }

    /// Whether the scan holds components of every kind at once, so that one pass over it yields pixels.
    pub(in crate::jpeg) fn is_whole(&self, frame: &Frame) -> bool {
        frame.coding == Coding::Sequential && self.parts.len() == frame.components.len()
    }

    fn check_bounds(&self, coding: Coding) -> Result<()> {
        let sound = match coding {
            Coding::Sequential => (self.start, self.end, self.high, self.low) == (0, 63, 0, 0),
            Coding::Progressive => {
                let band = if self.start == 0 {
                    self.end == 0
                } else {
                    self.end >= self.start && self.end <= 63 && self.parts.len() == 1
                };
                band && (self.high == 0 || self.low + 1 == self.high) && self.low <= 13
            }
        };
        if sound {
            return Ok(());
        }
        let found = format!("frequencies {} to {}, bits {} to {}", self.start, self.end, self.high, self.low);
        Err(ImageFault::new(KIND, self.offset, format!("bounds of a {coding:?} scan"), found))
    }
}

/// The component at `place` of the scan: the first not yet passed over that has the given id.
fn read_part(frame: &Frame, segment: &mut Bytes<'_>, place: usize) -> Result<Part> {
    let offset = segment.offset();
    let fields = segment.take(2, KIND)?;
    let candidates = frame.components.iter().enumerate().skip(place);
    let Some((component, _)) = candidates.into_iter().find(|(_, component)| component.id == fields[0]) else {
        return Err(ImageFault::new(KIND, offset, "a component of the frame", format!("id {}", fields[0])));
    };
    Ok(Part { component, dc: usize::from(fields[1] >> 4), ac: usize::from(fields[1] & 15) })
}

fn check_order(parts: &[Part], offset: usize) -> Result<()> {
    for (place, part) in parts.iter().enumerate() {
        if parts[..place].iter().any(|earlier| earlier.component == part.component) {
            return Err(ImageFault::new(
                KIND,
                offset,
                "each component once",
                format!("component {} twice", part.component),
            ));
        }
    }
    if parts.is_sorted_by_key(|part| part.component) {
        return Ok(());
    }
    Err(ImageFault::new(ImageFaultKind::Unsupported, offset, "components in the order of the frame", "another order"))
}
