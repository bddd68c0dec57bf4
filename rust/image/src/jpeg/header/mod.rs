//! Everything of a JPEG file that is not entropy-coded: markers, tables, frame and scan headers, color and orientation.
pub(in crate::jpeg) mod frame;
pub(in crate::jpeg) mod marker;
pub(in crate::jpeg) mod tables;

use crate::exif;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;
pub use frame::Coding;
use frame::{Frame, Scan};
use marker::{Bytes, Markers};
use tables::Tables;

/// What a JPEG file says of itself in front of its first scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Width and height as stored, before any orientation is applied.
    pub size: Size,
    /// Sequential or progressive.
    pub coding: Coding,
    /// ColorSpace of the components.
    pub color: ColorModel,
    /// Sampling factors of each component, horizontal and vertical, 1 to 4.
    pub sampling: Vec<(u8, u8)>,
    /// Bits of a sample; always 8.
    pub bits: u8,
    /// MCUs between two restart markers; zero where there are none.
    pub restart_interval: usize,
    /// EXIF orientation 1 to 8; 1 where none is given.
    pub orientation: u8,
    /// Whether there is a segment of the kind that holds EXIF and XMP, whatever it says.
    pub has_app1: bool,
    /// Whether there is a comment.
    pub has_comment: bool,
}

impl Header {
    /// Reads the headers of `data` without decoding anything.
    ///
    /// # Errors
    /// `Unsupported` for a kind that this decoder does not read, `Truncated` and `Bad…` for damage.
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

    /// Values of a pixel in the channels of the file: 1 for gray, 3 for color, 4 for cmyk.
    pub fn num_channels(&self) -> usize {
        self.sampling.len()
    }
}

/// What the segments read so far have set.
#[derive(Default)]
pub(in crate::jpeg) struct State {
    pub(in crate::jpeg) tables: Tables,
    pub(in crate::jpeg) restart_interval: usize,
    hints: ColorHints,
    orientation: Option<u8>,
    has_app1: bool,
    has_comment: bool,
}

/// A file whose markers are being read: stands behind a scan header, or at the end of the image.
pub(in crate::jpeg) struct Reader<'a> {
    pub(in crate::jpeg) data: &'a [u8],
    pub(in crate::jpeg) frame: Frame,
    pub(in crate::jpeg) color: ColorModel,
    pub(in crate::jpeg) state: State,
}

impl<'a> Reader<'a> {
    /// Reads up to and including the header of the first scan.
    pub(in crate::jpeg) fn open(data: &'a [u8]) -> Result<(Self, Scan)> {
        let mut markers = Markers::new(data)?;
        let mut state = State::default();
        let mut frame: Option<Frame> = None;
        loop {
            let code = markers.next()?;
            match code {
                marker::SOF0..=0xcf if !matches!(code, marker::DHT | marker::DAC | 0xc8) => {
                    if frame.is_some() {
                        return Err(unexpected(&markers, "one frame header", "a second"));
                    }
                    frame = Some(Frame::read(code, markers.segment()?)?);
                }
                marker::SOS => {
                    let Some(frame) = frame else {
                        return Err(unexpected(&markers, "a frame header", "a scan header"));
                    };
                    let scan = Scan::read(&frame, markers.segment()?)?;
                    let color = state.hints.model(&frame)?;
                    if frame.coding == Coding::Sequential {
                        state.tables.complete();
                    }
                    return Ok((Self { data, frame, color, state }, scan));
                }
                marker::EOI => return Err(unexpected(&markers, "a scan", "the end of the image")),
                _ => state.read(code, &mut markers)?,
            }
        }
    }

    /// Reads on at byte `offset`, behind a scan's data, up to the next scan header; none at the end of the image.
    pub(in crate::jpeg) fn next_scan(&mut self, offset: usize) -> Result<Option<Scan>> {
        let mut markers = Markers::resume(self.data, offset);
        loop {
            let code = markers.next()?;
            match code {
                marker::SOF0..=0xcf if !matches!(code, marker::DHT | marker::DAC | 0xc8) => {
                    return Err(unexpected(&markers, "one frame header", "a second"));
                }
                marker::SOS => return Ok(Some(Scan::read(&self.frame, markers.segment()?)?)),
                marker::EOI => return Ok(None),
                _ => self.state.read(code, &mut markers)?,
            }
        }
    }

    /// Reads on at byte `offset`, behind the only scan's data, and demands that the image ends there.
    pub(in crate::jpeg) fn expect_end(&mut self, offset: usize) -> Result<()> {
        let goes_on = |kind, offset, found| Err(ImageFault::new(kind, offset, "the end of the image", found));
        match self.next_scan(offset) {
            Ok(None) => Ok(()),
            Ok(Some(scan)) => goes_on(ImageFaultKind::BadScan, scan.offset, "another scan"),
            Err(fault) if fault.kind == ImageFaultKind::BadMarker && self.is_restart(offset) => {
                goes_on(ImageFaultKind::BadRestart, offset, "another restart interval")
            }
            Err(fault) => Err(fault),
        }
    }

    fn is_restart(&self, offset: usize) -> bool {
        let code = self.data[offset..].iter().find(|&&byte| byte != 0xff);
        matches!(code, Some(marker::RST0..=marker::RST7))
    }
}

impl State {
    /// Takes over what a segment between frame and scan headers sets.
    fn read(&mut self, code: u8, markers: &mut Markers<'_>) -> Result<()> {
        self.has_app1 |= code == marker::APP1;
        self.has_comment |= code == marker::COM;
        match code {
            marker::TEM | marker::RST0..=marker::RST7 => {}
            marker::DQT | marker::DHT | marker::DRI => self.take_over(code, markers.segment()?)?,
            marker::APP0 => self.hints.read_app0(skippable(markers)?)?,
            marker::APP14 => self.hints.read_app14(skippable(markers)?),
            marker::APP1 => {
                let mut segment = skippable(markers)?;
                let body = segment.take(segment.len(), ImageFaultKind::BadMarker)?;
                let found = exif::orientation_in_segment(body);
                self.orientation = self.orientation.or(found);
            }
            marker::APP0..=marker::APP15 | marker::COM => drop(skippable(markers)?),
            marker::DNL | marker::DAC => {
                let found = format!("marker {code:#04x}");
                return Err(ImageFault::new(
                    ImageFaultKind::Unsupported,
                    markers.offset(),
                    "neither DNL nor DAC",
                    found,
                ));
            }
            _ => return Err(unexpected(markers, "a marker that T.81 defines here", &format!("{code:#04x}"))),
        }
        Ok(())
    }

    /// Takes over tables, or an interval of restarts.
    pub(in crate::jpeg) fn take_over(&mut self, code: u8, segment: Bytes<'_>) -> Result<()> {
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

/// A segment whose content does not matter for the coefficients. Other decoders overlook an impossible length here.
fn skippable<'a>(markers: &mut Markers<'a>) -> Result<Bytes<'a>> {
    markers.segment().map_err(|fault| match fault.kind {
        ImageFaultKind::BadMarker => ImageFault { kind: ImageFaultKind::Unsupported, ..fault },
        _ => fault,
    })
}

fn read_restart_interval(mut segment: Bytes<'_>) -> Result<usize> {
    let interval = segment.pair(ImageFaultKind::BadMarker)?;
    segment.end(ImageFaultKind::BadMarker)?;
    Ok(interval.into())
}

fn unexpected(markers: &Markers<'_>, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadMarker, markers.offset(), expected, found)
}

// What the components of an image mean, told from application segments and component ids as libjpeg does.

/// The meaning of an image's components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorModel {
    /// One component: luma.
    Gray,
    /// Luma and two color differences (T.871).
    YCbCr,
    /// Red, green and blue as they are.
    Rgb,
    /// Cyan, magenta, yellow and black.
    Cmyk {
        /// Whether Adobe's segment is there, of whose files levels are 255 less the ink.
        adobe: bool,
    },
    /// The same with luma and color differences of red, green and blue instead of the first three; Adobe's alone.
    Ycck,
}

/// What the application segments in front of the first scan say about color.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::jpeg) struct ColorHints {
    jfif: bool,
    /// Adobe's transform flag and where it stands.
    adobe: Option<(u8, usize)>,
}

impl ColorHints {
    /// Looks for a JFIF header in an APP0 segment (T.871 10.1).
    pub(in crate::jpeg) fn read_app0(&mut self, mut segment: Bytes<'_>) -> Result<()> {
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

    /// Looks for Adobe's transform flag in an APP14 segment (T.872 6.5.3).
    pub(in crate::jpeg) fn read_app14(&mut self, mut segment: Bytes<'_>) {
        let offset = segment.offset();
        if let Ok(body) = segment.take(12, ImageFaultKind::BadMarker)
            && body.starts_with(b"Adobe")
        {
            self.adobe = Some((body[11], offset + 11));
        }
    }

    /// The model of `frame`: JFIF decides before Adobe's flag, that before the component ids, and YCbCr is the rule. Of four
    /// components Adobe's flag alone decides.
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
