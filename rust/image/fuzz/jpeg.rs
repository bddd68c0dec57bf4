//! Fuzzes JPEG decoding. No file may cause a panic, not even in truncated decoding. Accepted files must decode to
//! libjpeg's pixels: as whole images, in windows, and with entry points.
#[path = "../tests/jpeg/compare.rs"]
mod compare;
#[path = "../tests/jpeg/libjpeg.rs"]
#[allow(dead_code)]
mod libjpeg;

use compare::{Outcome, compare_with_libjpeg};
use recordmill_image::jpeg::samples::{CmykConversion, Dct, Scale};
use recordmill_image::jpeg::{Channels, Decoder, EntryPoints, Header, Limits, Options};
use recordmill_image::pixels::{Pixels, Samples, Size, Window};

const LIMITS: Limits =
    Limits { max_pixels: 1 << 18, max_scans: 50, max_block_visits: 1 << 17, max_coefficient_bytes: 1 << 26 };

/// Checks one input of the fuzz target.
pub fn check_input(data: &[u8]) {
    let mut decoder = Decoder::new();
    let outcome = compare_with_libjpeg(&mut decoder, data).unwrap_or_else(|what| panic!("{what}"));
    let choice = data.iter().fold(0_u64, |sum, &byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
    let options = derive_options(choice);
    let mut rest = Vec::new();
    let passed = decoder.decode_truncated(data, None, &options, choice & 4 == 0, &mut rest);
    if let (Outcome::Equal, Ok((size, _, rows))) = (outcome, passed) {
        assert!(rows == size.height, "a valid file has all rows");
    }
    let Ok(header) = Header::parse(data) else { return };
    let Ok((size, channels)) = options.shape(&header) else { return };
    let window = derive_window(choice, size);
    let points = EntryPoints::build(data, 1 + choice as usize % 3).ok();
    let mut part = vec![0; window.width * window.height * channels];
    let result = decoder.decode(data, Some(window), &options, points.as_ref(), &mut part, window.width * channels);
    if let (Outcome::Equal, Ok(whole)) = (outcome, decoder.decode_pixels(data, None, &options)) {
        result.expect("the whole image decodes");
        assert!(part == crop_pixels(&whole, window), "a window differs from the crop");
    }
}

/// Derives decoding options from a number.
fn derive_options(choice: u64) -> Options {
    let pick = |shift: u32, count: u64| (choice >> shift) % count;
    Options {
        channels: [Channels::AsStored, Channels::Gray, Channels::Rgb, Channels::Bgr][pick(3, 4) as usize],
        dct: if pick(5, 2) == 0 { Dct::Islow } else { Dct::Ifast },
        fancy: pick(6, 2) == 0,
        scale: [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth][pick(7, 4) as usize],
        cmyk: [CmykConversion::Pillow, CmykConversion::OpenCv, CmykConversion::TensorFlow][pick(9, 3) as usize],
        limits: LIMITS,
    }
}

/// Derives a window from a number.
fn derive_window(choice: u64, size: Size) -> Window {
    let span = |bits: u64, whole: usize| {
        let length = 1 + bits as usize % whole.min(64);
        ((bits >> 8) as usize % (whole - length + 1), length)
    };
    let ((x, width), (y, height)) = (span(choice >> 10, size.width), span(choice >> 30, size.height));
    Window { x, y, width, height }
}

fn crop_pixels(whole: &Pixels, window: Window) -> Vec<u8> {
    let Samples::U8(samples) = &whole.samples else { panic!("16-bit samples") };
    let rows = samples.chunks_exact(whole.size.width * whole.channels).skip(window.y).take(window.height);
    let columns = window.x * whole.channels..(window.x + window.width) * whole.channels;
    rows.flat_map(|row| &row[columns.clone()]).copied().collect()
}
