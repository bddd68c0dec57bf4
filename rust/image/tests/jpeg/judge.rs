//! The rule that decoding damaged files follows, with libjpeg as the judge.
use crate::libjpeg::{Mode, decode, is_sane};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Limits, Options};
use recordmill_image::pixels::Samples;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Decoded, as libjpeg did.
    Accepted,
    /// Decoded, with coefficients so large that libjpeg's own kernels disagree on the pixels.
    Absurd,
    /// Refused as damaged.
    Refused,
    /// Left to other decoders, or beyond the limits.
    Left,
}

/// Decodes `data` and compares with libjpeg; an error in words if the decoder broke the rule.
pub fn judge(decoder: &mut Decoder, data: &[u8]) -> Result<Verdict, String> {
    let limits = Limits { max_pixels: 1 << 20, max_scans: 50, max_block_visits: 1 << 20, ..Limits::default() };
    let found = decoder.decode_pixels(data, None, &Options { limits, ..Options::default() });
    match found {
        Ok(found) => {
            let Some(expected) = decode(data, Mode::default()) else {
                return Err("accepted what libjpeg refuses".into());
            };
            let Samples::U8(samples) = found.samples else { return Err("16-bit samples".into()) };
            let shape = (found.size.width, found.size.height, found.channels);
            let equal = shape == (expected.width, expected.height, expected.channels) && samples == expected.samples;
            match (expected.warnings, equal) {
                (0, true) => Ok(Verdict::Accepted),
                (0, false) if !is_sane(data) => Ok(Verdict::Absurd),
                (0, false) => Err("other pixels than libjpeg".into()),
                (warnings, _) => Err(format!("accepted, with {warnings} warnings of libjpeg")),
            }
        }
        Err(fault) => match fault.kind {
            ImageFaultKind::Unsupported | ImageFaultKind::LimitExceeded => Ok(Verdict::Left),
            // libjpeg overlooks some impossible codes and runs.
            ImageFaultKind::BadCode => Ok(Verdict::Refused),
            _ => match decode(data, Mode::default()) {
                Some(expected) if expected.warnings == 0 => Err(format!("refused what libjpeg takes: {fault}")),
                _ => Ok(Verdict::Refused),
            },
        },
    }
}
