//! Compares decoding of a possibly damaged file with libjpeg.
use super::libjpeg::{LibjpegOptions, decode, has_plausible_coefficients};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Limits, Options};
use recordmill_image::pixels::Samples;

/// Result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Decoded to the same pixels as libjpeg.
    Equal,
    /// Decoded, but the coefficients are so large that libjpeg's own kernels produce different pixels.
    OutOfRange,
    /// Rejected as damaged.
    Rejected,
    /// Rejected as unsupported, or as beyond the limits.
    Unsupported,
}

/// Decodes `data` and compares with libjpeg. Returns an error message if the decoder accepts what libjpeg rejects or
/// warns of, rejects what libjpeg accepts without a warning, or produces other pixels.
pub fn compare_with_libjpeg(decoder: &mut Decoder, data: &[u8]) -> Result<Outcome, String> {
    let limits = Limits { max_pixels: 1 << 20, max_scans: 50, max_block_visits: 1 << 20, ..Limits::default() };
    let found = decoder.decode_pixels(data, None, &Options { limits, ..Options::default() });
    match found {
        Ok(found) => {
            let Some(expected) = decode(data, LibjpegOptions::default()) else {
                return Err("accepted a file that libjpeg rejects".into());
            };
            let Samples::U8(samples) = found.samples else { return Err("16-bit samples".into()) };
            let shape = (found.size.width, found.size.height, found.channels);
            let equal = shape == (expected.width, expected.height, expected.channels) && samples == expected.samples;
            match (expected.warnings, equal) {
                (0, true) => Ok(Outcome::Equal),
                (0, false) if !has_plausible_coefficients(data) => Ok(Outcome::OutOfRange),
                (0, false) => Err("pixels differ from libjpeg".into()),
                (warnings, _) => Err(format!("accepted a file for which libjpeg has {warnings} warnings")),
            }
        }
        Err(fault) => match fault.kind {
            ImageFaultKind::Unsupported | ImageFaultKind::LimitExceeded => Ok(Outcome::Unsupported),
            // libjpeg does not detect some invalid codes and zero runs, so damage that only this decoder finds is
            // accepted here.
            ImageFaultKind::BadCode => Ok(Outcome::Rejected),
            _ => match decode(data, LibjpegOptions::default()) {
                Some(expected) if expected.warnings == 0 => {
                    Err(format!("rejected a file that libjpeg accepts: {fault}"))
                }
                _ => Ok(Outcome::Rejected),
            },
        },
    }
}
