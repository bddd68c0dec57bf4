//! Tests of the PNG decoder and encoder: against an independent encoder, the `png` crate, recorded results of
//! frameworks, and with damaged files.
mod chunks;
mod conversions;
mod corpus;
mod encoder;
mod encoding;
mod formats;
mod hostile;
mod limits;
mod memory;

use recordmill_image::fault::{ImageFault, ImageFaultKind};
use recordmill_image::pixels::{Pixels, Samples};
use recordmill_image::png::{Decoder, Options};

/// Decodes with a new decoder.
fn decode(file: &[u8], options: &Options) -> Result<Pixels, ImageFault> {
    Decoder::new().decode(file, options)
}

/// Returns the samples of either bit depth as 16-bit values.
fn samples_as_u16(pixels: &Pixels) -> Vec<u16> {
    match &pixels.samples {
        Samples::U8(samples) => samples.iter().map(|&sample| sample.into()).collect(),
        Samples::U16(samples) => samples.clone(),
    }
}

/// Returns the kind of the error from decoding `file`.
fn fault_kind(file: &[u8]) -> ImageFaultKind {
    decode(file, &Options::default()).expect_err("a fault").kind
}
