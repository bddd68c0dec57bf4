//! Windows: each is that part of the whole image, in every mode, wherever it lies.
use crate::data::Random;
use crate::libjpeg::{Decoded, Recipe, decode};
use crate::modes::{Wanted, all};
use crate::whole::{SAMPLINGS, file};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_RGB, JCS_YCbCr};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Options};
use recordmill_image::pixels::{Samples, Window};

/// A window of an image of `width` by `height`, of any size, often at an edge.
pub fn random_window(random: &mut Random, width: usize, height: usize) -> Window {
    let mut span = |whole: usize| {
        let longest = random.choose(&[whole.min(9), whole, whole]);
        let length = 1 + random.below(longest);
        let anywhere = random.below(whole - length + 1);
        let start = random.choose(&[anywhere, anywhere, anywhere, 0, whole - length]);
        (start, length)
    };
    let ((x, width), (y, height)) = (span(width), span(height));
    Window { x, y, width, height }
}

/// The part of `whole` that `window` names.
pub fn crop(whole: &Decoded, window: Window) -> Vec<u8> {
    let rows = whole.samples.chunks_exact(whole.width * whole.channels).skip(window.y).take(window.height);
    rows.flat_map(|row| &row[window.x * whole.channels..(window.x + window.width) * whole.channels]).copied().collect()
}

/// Demands that `count` random windows of `data` equal the crops of what libjpeg gives.
pub fn assert_crops(decoder: &mut Decoder, random: &mut Random, data: &[u8], wanted: Wanted, count: usize, what: &str) {
    let whole = decode(data, wanted.mode()).expect("libjpeg decodes it");
    for _ in 0..count {
        let window = random_window(random, whole.width, whole.height);
        let found = decoder.decode_pixels(data, Some(window), &wanted.options());
        let found = found.unwrap_or_else(|fault| panic!("{what} {window:?} {wanted:?}: {fault}"));
        let Samples::U8(samples) = found.samples else { panic!("16-bit samples") };
        assert!(samples == crop(&whole, window), "{what} {window:?} {wanted:?}");
    }
}

#[test]
fn decode_when_windows_in_any_mode_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(10));
    for sampling in SAMPLINGS {
        for wanted in all() {
            let (width, height) = (1 + random.below(150), 1 + random.below(150));
            let color = random.choose(&[JCS_YCbCr, JCS_YCbCr, JCS_RGB]);
            let recipe = Recipe { color, ..Recipe::new(width, height, sampling) };
            assert_crops(&mut decoder, &mut random, &file(&recipe, 7), wanted, 10, &format!("{recipe:?}"));
        }
    }
}

#[test]
fn decode_when_some_rows_are_wanted_then_those_equal_and_the_others_stay() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(12));
    for sampling in SAMPLINGS {
        for wanted in all() {
            let (width, height) = (1 + random.below(150), 1 + random.below(150));
            let data = file(&Recipe::new(width, height, sampling), 7);
            let whole = decode(&data, wanted.mode()).expect("libjpeg decodes it");
            let window = random_window(&mut random, whole.width, whole.height);
            let rows: Vec<bool> = (0..window.height).map(|_| random.below(3) == 0).collect();
            let part = recordmill_image::jpeg::Wanted { window: Some(window), rows: &rows };
            let expected = crop(&whole, window);
            let before: Vec<u8> = expected.iter().map(|level| !level).collect();
            let mut out = before.clone();
            decoder.decode_to(&data, part, &wanted.options(), None, &mut out).expect("sound");
            let length = window.width * whole.channels;
            for (y, is_wanted) in rows.iter().enumerate() {
                let row = y * length..(y + 1) * length;
                assert!(out[row.clone()] == if *is_wanted { &expected } else { &before }[row], "{wanted:?} row {y}");
            }
        }
    }
}

#[test]
fn decode_when_windows_of_files_with_restarts_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(11));
    for restart_interval in [1, 2, 3, 5, 7, 12, 13, 14, 25, 26, 27, 50, 100] {
        for sampling in SAMPLINGS {
            let recipe = Recipe { restart_interval, ..Recipe::new(203, 140, sampling) };
            assert_crops(&mut decoder, &mut random, &file(&recipe, 8), Wanted::default(), 20, &format!("{recipe:?}"));
        }
    }
}

#[test]
fn decode_when_windows_of_gray_files_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(12));
    for wanted in all() {
        let recipe = Recipe { restart_interval: random.below(30) as u32, ..Recipe::gray(130, 95) };
        assert_crops(&mut decoder, &mut random, &file(&recipe, 2), wanted, 10, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_windows_of_a_large_file_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(13));
    let recipe = Recipe { quality: 98, ..Recipe::new(700, 600, (2, 2)) };
    assert_crops(&mut decoder, &mut random, &file(&recipe, 14), Wanted::default(), 200, "large");
}

#[test]
fn decode_when_the_window_lies_outside_then_refuses_it() {
    let data = file(&Recipe::new(30, 20, (2, 1)), 1);
    for (x, y, width, height) in [
        (0, 0, 31, 20),
        (1, 0, 30, 20),
        (0, 1, 30, 20),
        (0, 0, 0, 5),
        (5, 5, 5, 0),
        (usize::MAX, 0, 2, 2),
        (0, 3, 1, usize::MAX),
    ] {
        let window = Window { x, y, width, height };
        let fault = Decoder::new().decode_pixels(&data, Some(window), &Options::default()).expect_err("no such window");
        assert_eq!(fault.kind, ImageFaultKind::BadWindow, "{window:?}");
        let mut out = vec![0; 10_000];
        let fault = Decoder::new()
            .decode(&data, Some(window), &Options::default(), None, &mut out, 100)
            .expect_err("no such window");
        assert_eq!(fault.kind, ImageFaultKind::BadWindow, "{window:?}");
    }
}

#[test]
fn decode_when_the_target_is_too_small_then_refuses_it() {
    let data = file(&Recipe::new(30, 20, (2, 1)), 1);
    for (length, stride) in [(1799, 90), (1800, 89), (0, 90), (1800, usize::MAX)] {
        let fault = Decoder::new()
            .decode(&data, None, &Options::default(), None, &mut vec![0; length], stride)
            .expect_err("no room");
        assert_eq!(fault.kind, ImageFaultKind::BadArgument, "{length} {stride}");
    }
    assert_eq!(Decoder::new().decode(&data, None, &Options::default(), None, &mut vec![0; 1800], 90), Ok(()));
}
