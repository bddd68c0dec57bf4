//! The rule that decoding damaged files follows, with libjpeg as the judge.
use crate::libjpeg::{LibjpegOptions, decode, is_sane};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Limits, Options};
use recordmill_image::pixels::Samples;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Decoded, as libjpeg did.
    Equal,
    /// Decoded, with coefficients so large that libjpeg's own kernels disagree on the pixels.
    OutOfRange,
    /// Refused as damaged.
    Rejected,
    /// Left to other decoders, or beyond the limits.
    Unsupported,
}

/// Decodes `data` and compares with libjpeg; an error in words if the decoder broke the rule.
pub fn compare_with_libjpeg(decoder: &mut Decoder, data: &[u8]) -> Result<Outcome, String> {
    let limits = Limits { max_pixels: 1 << 20, max_scans: 50, max_block_visits: 1 << 20, ..Limits::default() };
    let found = decoder.decode_pixels(data, None, &Options { limits, ..Options::default() });
    match found {
        Ok(found) => {
            let Some(expected) = decode(data, LibjpegOptions::default()) else {
                return Err("accepted what libjpeg refuses".into());
            };
            let Samples::U8(samples) = found.samples else { return Err("16-bit samples".into()) };
            let shape = (found.size.width, found.size.height, found.channels);
            let equal = shape == (expected.width, expected.height, expected.channels) && samples == expected.samples;
            match (expected.warnings, equal) {
                (0, true) => Ok(Outcome::Equal),
                (0, false) if !is_sane(data) => Ok(Outcome::OutOfRange),
                (0, false) => Err("other pixels than libjpeg".into()),
                (warnings, _) => Err(format!("accepted, with {warnings} warnings of libjpeg")),
            }
        }
        Err(fault) => match fault.kind {
            ImageFaultKind::Unsupported | ImageFaultKind::LimitExceeded => Ok(Outcome::Unsupported),
            // libjpeg overlooks some impossible codes and runs.
            ImageFaultKind::BadCode => Ok(Outcome::Rejected),
            _ => match decode(data, LibjpegOptions::default()) {
                Some(expected) if expected.warnings == 0 => Err(format!("refused what libjpeg takes: {fault}")),
                _ => Ok(Outcome::Rejected),
            },
        },
    }
}
