//! What the components of an image mean, told from application segments and component ids as libjpeg does.
use super::frame::Frame;
use super::marker::Bytes;
use crate::fault::{ImageFault, ImageFaultKind, Result};

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
