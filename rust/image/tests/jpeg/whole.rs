//! Whole images: every sampling, color model, quality and size gives the pixels of libjpeg.
use crate::data::{Random, picture};
use crate::libjpeg::{Mode, Recipe, decode, encode};
use crate::modes::{Wanted, all};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_GRAYSCALE, JCS_RGB, JCS_YCbCr};
use recordmill_image::jpeg::{Decoder, Options};
use recordmill_image::pixels::Samples;

pub const SAMPLINGS: [(i32, i32); 8] = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4)];

/// Encodes `recipe` with a picture of its own.
pub fn file(recipe: &Recipe, seed: u64) -> Vec<u8> {
    let channels = if recipe.color == JCS_GRAYSCALE { 1 } else { 3 };
    encode(recipe, &picture(recipe.width, recipe.height, channels, seed))
}

/// Demands that the decoder gives what libjpeg gives.
pub fn assert_equal(decoder: &mut Decoder, data: &[u8], wanted: Wanted, what: &str) {
    let expected = decode(data, wanted.mode()).expect("libjpeg decodes it");
    assert_eq!(expected.warnings, 0, "{what}");
    let found = decoder.decode_pixels(data, None, &wanted.options()).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    assert_eq!(
        (found.size.width, found.size.height, found.channels),
        (expected.width, expected.height, expected.channels),
        "{what}"
    );
    let Samples::U8(samples) = found.samples else { panic!("16-bit samples") };
    let difference = samples.iter().zip(&expected.samples).position(|(found, expected)| found != expected);
    assert_eq!(difference, None, "{what} {wanted:?}");
}

#[test]
fn decode_when_any_sampling_and_size_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    let mut random = Random::new(1);
    for sampling in SAMPLINGS {
        for edge in 1..=40 {
            let other = 1 + random.below(40);
            for (width, height) in [(edge, other), (other, edge)] {
                let recipe = Recipe { quality: 1 + random.below(100) as i32, ..Recipe::new(width, height, sampling) };
                let data = file(&recipe, edge as u64);
                assert_equal(&mut decoder, &data, Wanted::default(), &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn decode_when_any_mode_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    let mut random = Random::new(2);
    for sampling in SAMPLINGS {
        for color in [JCS_YCbCr, JCS_RGB] {
            for wanted in all() {
                let (width, height) = (1 + random.below(70), 1 + random.below(70));
                let recipe =
                    Recipe { color, quality: 30 + random.below(70) as i32, ..Recipe::new(width, height, sampling) };
                assert_equal(&mut decoder, &file(&recipe, 5), wanted, &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn decode_when_gray_then_equals_libjpeg_in_every_mode() {
    let mut decoder = Decoder::new();
    for (edge, wanted) in (1..).zip(all()) {
        let recipe = Recipe { sampling: vec![[(1, 1), (2, 2), (1, 3)][edge % 3]], ..Recipe::gray(edge, 2 * edge + 3) };
        assert_equal(&mut decoder, &file(&recipe, 9), wanted, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_tables_are_optimized_and_any_quality_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for quality in 1..=100 {
        let recipe =
            Recipe { quality, optimize: quality % 2 == 0, ..Recipe::new(67, 45, SAMPLINGS[quality as usize % 4]) };
        assert_equal(&mut decoder, &file(&recipe, quality as u64), Wanted::default(), &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_restart_intervals_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for restart_interval in (1..=25).chain([26, 52, 1000, 65_535]) {
        let recipe = Recipe { restart_interval, ..Recipe::new(203, 101, SAMPLINGS[restart_interval as usize % 4]) };
        assert_equal(&mut decoder, &file(&recipe, 3), Wanted::default(), &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_larger_than_the_pieces_of_the_stream_then_equals_libjpeg() {
    let recipe = Recipe { quality: 100, ..Recipe::new(640, 480, (2, 2)) };
    let data = file(&recipe, 4);
    assert!(data.len() > 200_000);
    assert_equal(&mut Decoder::new(), &data, Wanted::default(), "large");
}

#[test]
fn decode_when_the_target_has_room_between_rows_then_leaves_it_alone() {
    let data = file(&Recipe::new(21, 17, (2, 2)), 6);
    let expected = decode(&data, Mode::default()).expect("libjpeg decodes it");
    let mut out = vec![0xaa; 80 * 17];
    Decoder::new().decode(&data, None, &Options::default(), None, &mut out, 80).expect("sound file");
    for (row, expected) in out.chunks(80).zip(expected.samples.chunks(63)) {
        assert_eq!(&row[..63], expected);
        assert_eq!(row[63..], [0xaa; 17]);
    }
}

#[test]
fn decode_when_a_motion_jpeg_frame_has_no_huffman_tables_then_takes_the_usual_ones() {
    let mut data = file(&Recipe::new(50, 40, (2, 1)), 6);
    while let Some(start) = data.windows(2).position(|pair| pair == [0xff, 0xc4]) {
        let length = usize::from(u16::from_be_bytes([data[start + 2], data[start + 3]]));
        data.drain(start..start + 2 + length);
    }
    assert_equal(&mut Decoder::new(), &data, Wanted::default(), "no tables");
}
