//! JPEG frame headers (SOF markers) and scan headers (SOS markers), T.81 B.2.2 and B.2.3.
use super::marker::{self, SegmentReader};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;

/// Largest width or height that libjpeg decodes.
const MAX_EDGE: usize = 65_500;
/// Largest number of blocks in one MCU (T.81 B.2.3).
pub(in crate::jpeg) const MAX_MCU_BLOCKS: usize = 10;

/// Coding process of an image, given by its SOF marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Each block is coded completely in one scan (SOF0, SOF1).
    Sequential,
    /// Each block is coded in several scans, which add coefficients or bits of precision (SOF2).
    Progressive,
}

/// Specification of one color component in a frame header (SOF).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) struct Component {
    pub(in crate::jpeg) id: u8,
    /// Horizontal sampling factor.
    pub(in crate::jpeg) h: usize,
    /// Vertical sampling factor.
    pub(in crate::jpeg) v: usize,
    /// Index of the quantization table.
    pub(in crate::jpeg) table: usize,
}

/// Frame header (SOF) of an image with one, three or four color components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jpeg) struct Frame {
    pub(in crate::jpeg) size: Size,
    pub(in crate::jpeg) coding: Coding,
    pub(in crate::jpeg) components: Vec<Component>,
    pub(in crate::jpeg) max_h: usize,
    pub(in crate::jpeg) max_v: usize,
}

impl Frame {
    /// Parses the frame header of the SOF marker `code`.
    pub(in crate::jpeg) fn read(code: u8, mut segment: SegmentReader<'_>) -> Result<Self> {
        let coding = coding_of_marker(code, segment.offset())?;
        let offset = segment.offset();
        let precision = segment.byte(ImageFaultKind::BadMarker)?;
        let size = read_image_size(&mut segment)?;
        let num_components = usize::from(segment.byte(ImageFaultKind::BadMarker)?);
        if segment.len() != 3 * num_components {
            let found = format!("{} bytes for {num_components} components", segment.len());
            return Err(ImageFault::new(ImageFaultKind::BadMarker, offset, "three bytes for each component", found));
        }
        if precision != 8 || !matches!(num_components, 1 | 3 | 4) {
            let found = format!("{num_components} components of {precision} bits");
            return Err(ImageFault::new(
                ImageFaultKind::Unsupported,
                offset,
                "one, three or four components of 8 bits",
                found,
            ));
        }
        let mut components = (0..num_components).map(|_| read_component(&mut segment)).collect::<Result<Vec<_>>>()?;
        if let [only] = &mut components[..] {
            // The sampling factors of a single component have no effect: its MCUs have one block (T.81 A.2.2).
            (only.h, only.v) = (1, 1);
        }
        let max_h = components.iter().map(|component| component.h).max().unwrap_or(1);
        let max_v = components.iter().map(|component| component.v).max().unwrap_or(1);
        Ok(Self { size, coding, components, max_h, max_v })
    }

    /// Returns the number of MCUs across and down in an interleaved scan of all components.
    pub(in crate::jpeg) fn mcus(&self) -> Size {
        Size { width: self.size.width.div_ceil(8 * self.max_h), height: self.size.height.div_ceil(8 * self.max_v) }
    }

    /// Returns the number of blocks across and down that hold samples of component `index`. In a non-interleaved scan,
    /// these blocks are the MCUs.
    pub(in crate::jpeg) fn blocks(&self, index: usize) -> Size {
        let component = self.components[index];
        Size {
            width: (self.size.width * component.h).div_ceil(8 * self.max_h),
            height: (self.size.height * component.v).div_ceil(8 * self.max_v),
        }
    }

    /// Returns the number of blocks in one MCU of a scan of the components `indices`, or an error if it exceeds
    /// `MAX_MCU_BLOCKS`.
    pub(in crate::jpeg) fn count_mcu_blocks(
        &self,
        indices: impl Iterator<Item = usize>,
        offset: usize,
    ) -> Result<usize> {
        let num_blocks: usize = indices.map(|index| self.components[index].h * self.components[index].v).sum();
        if num_blocks > MAX_MCU_BLOCKS {
            let expected = format!("at most {MAX_MCU_BLOCKS} blocks in an MCU");
            return Err(ImageFault::new(ImageFaultKind::BadScan, offset, expected, num_blocks.to_string()));
        }
        Ok(num_blocks)
    }
}

fn coding_of_marker(code: u8, offset: usize) -> Result<Coding> {
    match code {
        marker::SOF0 | marker::SOF1 => Ok(Coding::Sequential),
        marker::SOF2 => Ok(Coding::Progressive),
        _ => {
            let found = format!("process {:#04x} (lossless, hierarchical or arithmetic)", code);
            Err(ImageFault::new(
                ImageFaultKind::Unsupported,
                offset,
                "a sequential or progressive Huffman frame",
                found,
            ))
        }
    }
}

fn read_image_size(segment: &mut SegmentReader<'_>) -> Result<Size> {
    let offset = segment.offset();
    let height = usize::from(segment.pair(ImageFaultKind::BadMarker)?);
    let width = usize::from(segment.pair(ImageFaultKind::BadMarker)?);
    let found = || format!("{width} x {height}");
    if width == 0 || height == 0 {
        return Err(ImageFault::new(ImageFaultKind::BadDimensions, offset, "a width and height of 1 or more", found()));
    }
    if width > MAX_EDGE || height > MAX_EDGE {
        let expected = format!("a width and height of at most {MAX_EDGE}");
        return Err(ImageFault::new(ImageFaultKind::LimitExceeded, offset, expected, found()));
    }
    Ok(Size { width, height })
}

fn read_component(segment: &mut SegmentReader<'_>) -> Result<Component> {
    let offset = segment.offset();
    let fields = segment.take(3, ImageFaultKind::BadMarker)?;
    let (h, v) = (usize::from(fields[1] >> 4), usize::from(fields[1] & 15));
    if !(1..=4).contains(&h) || !(1..=4).contains(&v) {
        let found = format!("{h} x {v}");
        return Err(ImageFault::new(ImageFaultKind::BadDimensions, offset, "sampling factors from 1 to 4", found));
    }
    Ok(Component { id: fields[0], h, v, table: fields[2].into() })
}

/// Specification of one color component in a scan header (SOS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jpeg) struct ScanComponent {
    /// Index of the component in the frame header.
    pub(in crate::jpeg) index: usize,
    /// Index of the DC Huffman table.
    pub(in crate::jpeg) dc: usize,
    /// Index of the AC Huffman table.
    pub(in crate::jpeg) ac: usize,
}

/// Scan header (SOS): which components, coefficients and bits the entropy-coded data after it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jpeg) struct Scan {
    pub(in crate::jpeg) components: Vec<ScanComponent>,
    /// Zig-zag index of the first coefficient (Ss).
    pub(in crate::jpeg) start: usize,
    /// Zig-zag index of the last coefficient (Se).
    pub(in crate::jpeg) end: usize,
    /// Number of low bits that were missing before this scan, if it refines earlier scans; otherwise zero (Ah).
    pub(in crate::jpeg) high: u32,
    /// Number of low bits that are still missing after this scan (Al).
    pub(in crate::jpeg) low: u32,
    /// Byte offset in the file at which the body of the scan header starts.
    pub(in crate::jpeg) offset: usize,
    /// Byte offset in the file at which the entropy-coded data starts.
    pub(in crate::jpeg) data: usize,
}

impl Scan {
    /// Parses a scan header (SOS) of an image with the frame header `frame`.
    pub(in crate::jpeg) fn read(frame: &Frame, mut segment: SegmentReader<'_>) -> Result<Self> {
        let offset = segment.offset();
        let num_components = usize::from(segment.byte(ImageFaultKind::BadScan)?);
        if !(1..=4).contains(&num_components) || segment.len() != 2 * num_components + 3 {
            let found = format!("{num_components} components in {} bytes", segment.len());
            return Err(ImageFault::new(
                ImageFaultKind::BadScan,
                offset,
                "one to four components of two bytes each",
                found,
            ));
        }
        let mut components = Vec::with_capacity(num_components);
        for position in 0..num_components {
            components.push(read_scan_component(frame, &mut segment, position)?);
        }
        check_component_order(&components, offset)?;
        let bounds = segment.take(3, ImageFaultKind::BadScan)?;
        let (start, end) = (usize::from(bounds[0]), usize::from(bounds[1]));
        let (high, low) = (u32::from(bounds[2] >> 4), u32::from(bounds[2] & 15));
        let scan = Self { components, start, end, high, low, offset, data: segment.offset() };
        scan.check_coefficient_range(frame.coding)?;
        if scan.components.len() > 1 {
            frame.count_mcu_blocks(scan.components.iter().map(|component| component.index), offset)?;
        }
        Ok(scan)
    }

    /// Returns whether this scan alone holds all coefficients of all components, so that each block can be transformed
    /// as soon as it is decoded.
    pub(in crate::jpeg) fn is_complete(&self, frame: &Frame) -> bool {
        frame.coding == Coding::Sequential && self.components.len() == frame.components.len()
    }

    fn check_coefficient_range(&self, coding: Coding) -> Result<()> {
        let sound = match coding {
            Coding::Sequential => (self.start, self.end, self.high, self.low) == (0, 63, 0, 0),
            Coding::Progressive => {
                let band = if self.start == 0 {
                    self.end == 0
                } else {
                    self.end >= self.start && self.end <= 63 && self.components.len() == 1
                };
                band && (self.high == 0 || self.low + 1 == self.high) && self.low <= 13
            }
        };
        if sound {
            return Ok(());
        }
        let found = format!("frequencies {} to {}, bits {} to {}", self.start, self.end, self.high, self.low);
        Err(ImageFault::new(ImageFaultKind::BadScan, self.offset, format!("valid bounds of a {coding:?} scan"), found))
    }
}

/// Parses component specification number `position` of the scan header. Component ids may repeat, so components before
/// number `position` of the frame are not searched.
fn read_scan_component(frame: &Frame, segment: &mut SegmentReader<'_>, position: usize) -> Result<ScanComponent> {
    let offset = segment.offset();
    let fields = segment.take(2, ImageFaultKind::BadScan)?;
    let candidates = frame.components.iter().enumerate().skip(position);
    let Some((index, _)) = candidates.into_iter().find(|(_, component)| component.id == fields[0]) else {
        return Err(ImageFault::new(
            ImageFaultKind::BadScan,
            offset,
            "a component of the frame",
            format!("id {}", fields[0]),
        ));
    };
    Ok(ScanComponent { index, dc: usize::from(fields[1] >> 4), ac: usize::from(fields[1] & 15) })
}

fn check_component_order(components: &[ScanComponent], offset: usize) -> Result<()> {
    for (position, component) in components.iter().enumerate() {
        if components[..position].iter().any(|earlier| earlier.index == component.index) {
            return Err(ImageFault::new(
                ImageFaultKind::BadScan,
                offset,
                "each component once",
                format!("component {} twice", component.index),
            ));
        }
    }
    if components.is_sorted_by_key(|component| component.index) {
        return Ok(());
    }
    Err(ImageFault::new(ImageFaultKind::Unsupported, offset, "components in the order of the frame", "another order"))
}
