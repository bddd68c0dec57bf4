//! The PNG decoder against an encoder of its own, the `png` crate, recorded results of frameworks, and hostile files.
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

/// Decodes with a decoder of its own.
fn decode(file: &[u8], options: &Options) -> Result<Pixels, ImageFault> {
    Decoder::new().decode(file, options)
}

/// Samples of either width.
fn samples(pixels: &Pixels) -> Vec<u16> {
    match &pixels.samples {
        Samples::U8(samples) => samples.iter().map(|&sample| sample.into()).collect(),
        Samples::U16(samples) => samples.clone(),
    }
}

/// The kind of fault that decoding meets.
fn fault(file: &[u8]) -> ImageFaultKind {
    decode(file, &Options::default()).expect_err("a fault").kind
}
