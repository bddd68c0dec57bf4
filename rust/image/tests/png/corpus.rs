//! Tests that the files of `corpus/` decode to the pixels recorded from Pillow, OpenCV and TensorFlow.
use crate::decode;
use libdeflater::Crc;
use recordmill_image::pixels::{Pixels, Samples};
use recordmill_image::png::{Channels, Depth, GrayRule, Options, Palette};
use std::path::Path;

/// One recorded result of a framework: file, request, and the shape and CRC of its pixels.
struct RecordedResult {
    file: String,
    request: String,
    shape: [usize; 4],
    crc: u32,
}

fn corpus_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/png/corpus"))
}

fn read_results(framework: &str) -> Vec<RecordedResult> {
    let text =
        std::fs::read_to_string(corpus_folder().join(framework).with_extension("txt")).expect("recorded results");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            let number = |k: usize| words[k].parse().expect("a number");
            RecordedResult {
                file: words[0].into(),
                request: words[1].into(),
                shape: [number(2), number(3), number(4), number(5)],
                crc: u32::from_str_radix(words[6], 16).expect("a CRC"),
            }
        })
        .collect()
}

fn crc_of_samples(pixels: &Pixels) -> u32 {
    let mut crc = Crc::new();
    match &pixels.samples {
        Samples::U8(samples) => crc.update(samples),
        Samples::U16(samples) => crc.update(&samples.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<_>>()),
    }
    crc.sum()
}

/// Compares every recorded result for which `options` returns the equivalent options. Returns the number of
/// comparisons.
fn compare_with_recordings(framework: &str, options: impl Fn(&RecordedResult) -> Option<Options>) -> usize {
    let mut count = 0;
    for line in read_results(framework) {
        let Some(options) = options(&line) else { continue };
        let what = format!("{framework}: {} {}", line.file, line.request);
        let file = std::fs::read(corpus_folder().join(&line.file)).expect("a file");
        let pixels = decode(&file, &options).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let bits = if matches!(pixels.samples, Samples::U8(_)) { 8 } else { 16 };
        assert_eq!([pixels.size.height, pixels.size.width, pixels.channels, bits], line.shape, "{what}");
        assert_eq!(crc_of_samples(&pixels), line.crc, "{what}");
        count += 1;
    }
    count
}

fn eight_bit_options(channels: Channels, gray: GrayRule) -> Options {
    Options { channels, depth: Depth::Eight, gray, ..Options::default() }
}

/// Returns whether a file stores samples of fewer than 8 bits.
fn has_fewer_than_8_bits(file: &str) -> bool {
    ["_1", "_2", "_4"].iter().any(|depth| file.contains(&format!("{depth}_")) || file.contains(&format!("{depth}.")))
}

/// Differences of Pillow: it has no 16-bit color, clips 16-bit gray, and compares transparent colors of 16 or fewer
/// than 8 bits with 8-bit samples.
#[test]
fn corpus_decoded_like_pillow_has_equal_pixels() {
    let count = compare_with_recordings("pillow", |line| {
        let wide_gray = line.file.starts_with("grey_16");
        Some(match line.request.as_str() {
            "stored" if wide_gray => Options::default(),
            // Pillow opens 16-bit gray with alpha as RGBA.
            "stored" if line.file.starts_with("grey_alpha_16") => eight_bit_options(Channels::Rgba, GrayRule::Pillow),
            "stored" => Options { palette: Palette::Indices, depth: Depth::Eight, ..Options::default() },
            _ if wide_gray => return None,
            "L" => eight_bit_options(Channels::Gray, GrayRule::Pillow),
            "RGB" => eight_bit_options(Channels::Rgb, GrayRule::Pillow),
            _ if line.file == "rgb_16_key.png"
                || (has_fewer_than_8_bits(&line.file) && line.file.ends_with("key.png")) =>
            {
                return None;
            }
            _ => eight_bit_options(Channels::Rgba, GrayRule::Pillow),
        })
    });
    assert!(count > 150, "{count}");
}

#[test]
fn corpus_decoded_like_opencv_has_equal_pixels() {
    let count = compare_with_recordings("opencv", |line| {
        Some(match line.request.as_str() {
            "grey" => eight_bit_options(Channels::Gray, GrayRule::Libpng),
            "colour" => eight_bit_options(Channels::Bgr, GrayRule::Libpng),
            _ => {
                let channels = [Channels::Gray, Channels::Bgr, Channels::Bgra][line.shape[2] / 2];
                Options { channels, ..Options::default() }
            }
        })
    });
    assert!(count > 140, "{count}");
}

/// Differences of TensorFlow: opaque pixels of fewer than 8 bits get an alpha of 1, 3 or 15, and 8-bit samples are
/// multiplied by 257 for 16-bit output.
#[test]
fn corpus_decoded_like_tensorflow_has_equal_pixels() {
    let count = compare_with_recordings("tensorflow", |line| {
        Some(match line.request.as_str() {
            "uint8_0" => eight_bit_options(Channels::AsStored, GrayRule::Libpng),
            "uint8_1" => eight_bit_options(Channels::Gray, GrayRule::Libpng),
            "uint8_3" => eight_bit_options(Channels::Rgb, GrayRule::Libpng),
            "uint8_4"
                if has_fewer_than_8_bits(&line.file) && !line.file.contains("key") && !line.file.contains("alpha") =>
            {
                return None;
            }
            "uint8_4" => eight_bit_options(Channels::Rgba, GrayRule::Libpng),
            _ if !line.file.contains("_16") => return None,
            "uint16_0" => Options::default(),
            _ => Options { channels: Channels::Rgba, ..Options::default() },
        })
    });
    assert!(count >= 200, "{count}");
}
