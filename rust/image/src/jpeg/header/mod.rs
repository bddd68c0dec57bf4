//! Parsing of everything in a JPEG file that is not entropy-coded: markers, tables, frame and scan headers, color and
//! orientation.
pub(in crate::jpeg) mod frame;
pub(in crate::jpeg) mod marker;
pub(in crate::jpeg) mod tables;

use crate::exif;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;
pub use frame::Coding;
use frame::{Frame, Scan};
use marker::{MarkerReader, SegmentReader};
use tables::Tables;

/// Image properties stated before the first scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Width and height as stored, before any orientation is applied.
    pub size: Size,
    /// Coding process: sequential or progressive.
    pub coding: Coding,
    /// Color model of the components.
    pub color: ColorModel,
    /// Horizontal and vertical sampling factor of each component, 1 to 4.
    pub sampling: Vec<(u8, u8)>,
    /// Sample precision in bits; always 8.
    pub bits: u8,
    /// Number of MCUs in a restart interval; zero if there are no restart markers.
    pub restart_interval: usize,
    /// EXIF orientation, 1 to 8; 1 if there is none.
    pub orientation: u8,
    /// Whether there is an APP1 segment (EXIF or XMP), whatever its contents.
    pub has_app1: bool,
    /// Whether there is a COM segment.
    pub has_comment: bool,
}

impl Header {
    /// Parses the headers of `data` without decoding the image.
    ///
    /// # Errors
    /// `Unsupported` for features that this decoder does not implement; `Truncated` and `Bad…` for damaged files.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let (reader, _) = Reader::open(data)?;
        let frame = &reader.frame;
        let factors = frame.components.iter().map(|component| (component.h as u8, component.v as u8));
        Ok(Self {
            size: frame.size,
            coding: frame.coding,
            color: reader.color,
            sampling: factors.collect(),
            bits: 8,
            restart_interval: reader.state.restart_interval,
            orientation: reader.state.orientation.unwrap_or(1),
            has_app1: reader.state.has_app1,
            has_comment: reader.state.has_comment,
        })
    }

    /// Returns the number of components: 1 for grayscale, 3 for color, 4 for CMYK.
    pub fn num_channels(&self) -> usize {
        self.sampling.len()
    }
}

/// Settings from the marker segments read so far.
#[derive(Default)]
pub(in crate::jpeg) struct State {
    pub(in crate::jpeg) tables: Tables,
    pub(in crate::jpeg) restart_interval: usize,
    hints: ColorHints,
    orientation: Option<u8>,
    has_app1: bool,
    has_comment: bool,
}

/// Parses the headers of a file up to a scan header, or up to the end of the image.
pub(in crate::jpeg) struct Reader<'a> {
    pub(in crate::jpeg) data: &'a [u8],
    pub(in crate::jpeg) frame: Frame,
    pub(in crate::jpeg) color: ColorModel,
    pub(in crate::jpeg) state: State,
}

impl<'a> Reader<'a> {
    /// Parses up to and including the header of the first scan.
    pub(in crate::jpeg) fn open(data: &'a [u8]) -> Result<(Self, Scan)> {
        let mut markers = MarkerReader::new(data)?;
        let mut state = State::default();
        let mut frame: Option<Frame> = None;
        loop {
            let code = markers.next()?;
            match code {
                marker::SOF0..=0xcf if !matches!(code, marker::DHT | marker::DAC | 0xc8) => {
                    if frame.is_some() {
                        return Err(unexpected_marker_fault(&markers, "one frame header", "a second"));
                    }
                    frame = Some(Frame::read(code, markers.segment()?)?);
                }
                marker::SOS => {
                    let Some(frame) = frame else {
                        return Err(unexpected_marker_fault(&markers, "a frame header", "a scan header"));
                    };
                    let scan = Scan::read(&frame, markers.segment()?)?;
                    let color = state.hints.model(&frame)?;
                    if frame.coding == Coding::Sequential {
                        state.tables.add_typical_tables();
                    }
                    return Ok((Self { data, frame, color, state }, scan));
                }
                marker::EOI => return Err(unexpected_marker_fault(&markers, "a scan", "the end of the image")),
                _ => state.read(code, &mut markers)?,
            }
        }
    }

    /// Parses from byte `offset`, after the data of a scan, up to the next scan header. Returns `None` at the end of
    /// the image.
    pub(in crate::jpeg) fn next_scan(&mut self, offset: usize) -> Result<Option<Scan>> {
        let mut markers = MarkerReader::resume(self.data, offset);
        loop {
            let code = markers.next()?;
            match code {
                marker::SOF0..=0xcf if !matches!(code, marker::DHT | marker::DAC | 0xc8) => {
                    return Err(unexpected_marker_fault(&markers, "one frame header", "a second"));
                }
                marker::SOS => return Ok(Some(Scan::read(&self.frame, markers.segment()?)?)),
                marker::EOI => return Ok(None),
                _ => self.state.read(code, &mut markers)?,
            }
        }
    }

    /// Parses from byte `offset`, after the data of the only scan, and checks that the image ends there.
    pub(in crate::jpeg) fn expect_end(&mut self, offset: usize) -> Result<()> {
        let goes_on = |kind, offset, found| Err(ImageFault::new(kind, offset, "the end of the image", found));
        match self.next_scan(offset) {
            Ok(None) => Ok(()),
            Ok(Some(scan)) => goes_on(ImageFaultKind::BadScan, scan.offset, "another scan"),
            Err(fault) if fault.kind == ImageFaultKind::BadMarker && self.is_restart_marker(offset) => {
                goes_on(ImageFaultKind::BadRestart, offset, "another restart interval")
            }
            Err(fault) => Err(fault),
        }
    }

    fn is_restart_marker(&self, offset: usize) -> bool {
        let code = self.data[offset..].iter().find(|&&byte| byte != 0xff);
        matches!(code, Some(marker::RST0..=marker::RST7))
    }
}

impl State {
    /// Processes one marker and the segment that follows it, if any. The caller handles SOF, SOS and EOI markers.
    fn read(&mut self, code: u8, markers: &mut MarkerReader<'_>) -> Result<()> {
        self.has_app1 |= code == marker::APP1;
        self.has_comment |= code == marker::COM;
        match code {
            marker::TEM | marker::RST0..=marker::RST7 => {}
            marker::DQT | marker::DHT | marker::DRI => self.apply_tables(code, markers.segment()?)?,
            marker::APP0 => self.hints.read_app0(read_ignored_segment(markers)?)?,
            marker::APP14 => self.hints.read_app14(read_ignored_segment(markers)?),
            marker::APP1 => {
                let mut segment = read_ignored_segment(markers)?;
                let body = segment.take(segment.len(), ImageFaultKind::BadMarker)?;
                let found = exif::orientation_in_segment(body);
                self.orientation = self.orientation.or(found);
            }
            marker::APP0..=marker::APP15 | marker::COM => drop(read_ignored_segment(markers)?),
            marker::DNL | marker::DAC => {
                let found = format!("marker {code:#04x}");
                return Err(ImageFault::new(
                    ImageFaultKind::Unsupported,
                    markers.offset(),
                    "neither DNL nor DAC",
                    found,
                ));
            }
            _ => {
                return Err(unexpected_marker_fault(
                    markers,
                    "a marker that T.81 allows here",
                    &format!("{code:#04x}"),
                ));
            }
        }
        Ok(())
    }

    /// Stores the tables of a DQT or DHT segment, or the restart interval of a DRI segment.
    pub(in crate::jpeg) fn apply_tables(&mut self, code: u8, segment: SegmentReader<'_>) -> Result<()> {
        match code {
            marker::DQT => self.tables.read_quantization(segment),
            marker::DHT => self.tables.read_huffman(segment),
            _ => {
                self.restart_interval = read_restart_interval(segment)?;
                Ok(())
            }
        }
    }
}

/// Returns a segment whose contents do not affect the coefficients. An invalid length is reported as `Unsupported`,
/// because other decoders ignore it in such segments.
fn read_ignored_segment<'a>(markers: &mut MarkerReader<'a>) -> Result<SegmentReader<'a>> {
    markers.segment().map_err(|fault| match fault.kind {
        ImageFaultKind::BadMarker => ImageFault { kind: ImageFaultKind::Unsupported, ..fault },
        _ => fault,
    })
}

fn read_restart_interval(mut segment: SegmentReader<'_>) -> Result<usize> {
    let interval = segment.pair(ImageFaultKind::BadMarker)?;
    segment.end(ImageFaultKind::BadMarker)?;
    Ok(interval.into())
}

fn unexpected_marker_fault(markers: &MarkerReader<'_>, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadMarker, markers.offset(), expected, found)
}

/// Color model of the components, derived from application segments and component ids in the same way as libjpeg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorModel {
    /// One component: luma.
    Gray,
    /// Luma and two chroma components (T.871).
    YCbCr,
    /// Red, green and blue without a color transform.
    Rgb,
    /// Cyan, magenta, yellow and black.
    Cmyk {
        /// Whether an Adobe segment is present; such files store 255 minus the ink level.
        adobe: bool,
    },
    /// CMYK whose first three components are transformed to luma and chroma. Adobe files only.
    Ycck,
}

/// Color information in the application segments before the first scan.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::jpeg) struct ColorHints {
    jfif: bool,
    /// Adobe transform flag and its byte offset in the file.
    adobe: Option<(u8, usize)>,
}

impl ColorHints {
    /// Parses the JFIF header in an APP0 segment (T.871 10.1).
    pub(in crate::jpeg) fn read_app0(&mut self, mut segment: SegmentReader<'_>) -> Result<()> {
        let offset = segment.offset();
        let Ok(body) = segment.take(14, ImageFaultKind::BadMarker) else { return Ok(()) };
        if !body.starts_with(b"JFIF\0") {
            return Ok(());
        }
        self.jfif = true;
        if body[5] != 1 {
            let found = format!("version {}", body[5]);
            return Err(ImageFault::new(ImageFaultKind::Unsupported, offset, "JFIF version 1", found));
        }
        Ok(())
    }

    /// Parses the Adobe transform flag in an APP14 segment (T.872 6.5.3).
    pub(in crate::jpeg) fn read_app14(&mut self, mut segment: SegmentReader<'_>) {
        let offset = segment.offset();
        if let Ok(body) = segment.take(12, ImageFaultKind::BadMarker)
            && body.starts_with(b"Adobe")
        {
            self.adobe = Some((body[11], offset + 11));
        }
    }

    /// Returns the color model of `frame`. For three components, a JFIF header has precedence over the Adobe flag,
    /// which has precedence over the component ids; the default is YCbCr. For four components, only the Adobe flag
    /// matters.
    pub(in crate::jpeg) fn model(&self, frame: &Frame) -> Result<ColorModel> {
        match (frame.components.len(), self.adobe) {
            (1, _) => return Ok(ColorModel::Gray),
            (4, None | Some((0, _))) => return Ok(ColorModel::Cmyk { adobe: self.adobe.is_some() }),
            (4, Some(_)) => return Ok(ColorModel::Ycck),
            _ => {}
        }
        let ids: Vec<u8> = frame.components.iter().map(|component| component.id).collect();
        match (self.jfif, self.adobe) {
            (true, _) | (false, Some((1, _))) => Ok(ColorModel::YCbCr),
            (false, Some((0, _))) => Ok(ColorModel::Rgb),
            (false, Some((flag, offset))) => {
                Err(ImageFault::new(ImageFaultKind::Unsupported, offset, "Adobe transform 0 or 1", flag.to_string()))
            }
            (false, None) if ids == *b"RGB" => Ok(ColorModel::Rgb),
            (false, None) => Ok(ColorModel::YCbCr),
        }
    }
}
