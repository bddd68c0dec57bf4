//! Whole images: every sampling, color model, quality and size gives the pixels of libjpeg.
use crate::common::{DecodeMode, SAMPLINGS, all_modes, crop, file, random_window};
use crate::compare::{Outcome, compare_with_libjpeg};
use crate::libjpeg::{LibjpegOptions, Random, Recipe, Scan, decode, encode};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_RGB, JCS_YCbCr};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Options};
use recordmill_image::pixels::{Samples, Window};

/// Demands that the decoder gives what libjpeg gives.
pub fn assert_equal(decoder: &mut Decoder, data: &[u8], wanted: DecodeMode, what: &str) {
    let expected = decode(data, wanted.libjpeg_options()).expect("libjpeg decodes it");
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
                assert_equal(&mut decoder, &data, DecodeMode::default(), &format!("{recipe:?}"));
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
            for wanted in all_modes() {
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
    for (edge, wanted) in (1..).zip(all_modes()) {
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
        assert_equal(&mut decoder, &file(&recipe, quality as u64), DecodeMode::default(), &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_restart_intervals_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for restart_interval in (1..=25).chain([26, 52, 1000, 65_535]) {
        let recipe = Recipe { restart_interval, ..Recipe::new(203, 101, SAMPLINGS[restart_interval as usize % 4]) };
        assert_equal(&mut decoder, &file(&recipe, 3), DecodeMode::default(), &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_larger_than_the_pieces_of_the_stream_then_equals_libjpeg() {
    let recipe = Recipe { quality: 100, ..Recipe::new(640, 480, (2, 2)) };
    let data = file(&recipe, 4);
    assert!(data.len() > 200_000);
    assert_equal(&mut Decoder::new(), &data, DecodeMode::default(), "large");
}

#[test]
fn decode_when_the_target_has_room_between_rows_then_leaves_it_alone() {
    let data = file(&Recipe::new(21, 17, (2, 2)), 6);
    let expected = decode(&data, LibjpegOptions::default()).expect("libjpeg decodes it");
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
    assert_equal(&mut Decoder::new(), &data, DecodeMode::default(), "no tables");
}

// Windows: each is that part of the whole image, in every mode, wherever it lies.

/// Demands that `count` random windows of `data` equal the crops of what libjpeg gives.
pub fn assert_crops(
    decoder: &mut Decoder,
    random: &mut Random,
    data: &[u8],
    wanted: DecodeMode,
    count: usize,
    what: &str,
) {
    let whole = decode(data, wanted.libjpeg_options()).expect("libjpeg decodes it");
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
        for wanted in all_modes() {
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
        for wanted in all_modes() {
            let (width, height) = (1 + random.below(150), 1 + random.below(150));
            let data = file(&Recipe::new(width, height, sampling), 7);
            let whole = decode(&data, wanted.libjpeg_options()).expect("libjpeg decodes it");
            let window = random_window(&mut random, whole.width, whole.height);
            let rows: Vec<bool> = (0..window.height).map(|_| random.below(3) == 0).collect();
            let part = recordmill_image::jpeg::Region { window: Some(window), rows: &rows };
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
            assert_crops(
                &mut decoder,
                &mut random,
                &file(&recipe, 8),
                DecodeMode::default(),
                20,
                &format!("{recipe:?}"),
            );
        }
    }
}

#[test]
fn decode_when_windows_of_gray_files_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(12));
    for wanted in all_modes() {
        let recipe = Recipe { restart_interval: random.below(30) as u32, ..Recipe::gray(130, 95) };
        assert_crops(&mut decoder, &mut random, &file(&recipe, 2), wanted, 10, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_windows_of_a_large_file_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(13));
    let recipe = Recipe { quality: 98, ..Recipe::new(700, 600, (2, 2)) };
    assert_crops(&mut decoder, &mut random, &file(&recipe, 14), DecodeMode::default(), 200, "large");
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

// Images with several scans: progressive and sequential, whole and in windows.

/// A progressive script with refinement of everything, DC in two or three bits.
fn fine_script() -> Vec<Scan> {
    let mut scans = vec![Scan::new(&[0, 1, 2], [0, 0, 0, 2])];
    scans.push(Scan::new(&[0], [1, 5, 0, 2]));
    scans.extend([1, 2].map(|component| Scan::new(&[component], [1, 63, 0, 3])));
    scans.push(Scan::new(&[0, 1, 2], [0, 0, 2, 1]));
    scans.push(Scan::new(&[0], [6, 63, 0, 2]));
    for low in [2, 1, 0] {
        scans.extend([2, 1].map(|component| Scan::new(&[component], [1, 63, low + 1, low])));
    }
    for low in [1, 0] {
        scans.push(Scan::new(&[0], [1, 63, low + 1, low]));
    }
    scans.push(Scan::new(&[0, 1, 2], [0, 0, 1, 0]));
    scans
}

/// Scripts of sequential scans: each component by itself, or two of them together.
fn sequential_scripts() -> [Vec<Scan>; 4] {
    let scan = |components: &[i32]| Scan::new(components, [0, 63, 0, 0]);
    [
        vec![scan(&[0]), scan(&[1]), scan(&[2])],
        vec![scan(&[2]), scan(&[0]), scan(&[1])],
        vec![scan(&[0]), scan(&[1, 2])],
        vec![scan(&[0, 1]), scan(&[2])],
    ]
}

#[test]
fn decode_when_progressive_of_any_sampling_and_size_then_equals_libjpeg() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(20));
    for sampling in SAMPLINGS {
        for edge in 1..=40 {
            let recipe = Recipe {
                quality: 1 + random.below(100) as i32,
                restart_interval: random.choose(&[0, 0, 1, 3, 10]),
                progressive: true,
                ..Recipe::new(edge, 1 + random.below(60), sampling)
            };
            assert_equal(&mut decoder, &file(&recipe, edge as u64), DecodeMode::default(), &format!("{recipe:?}"));
        }
    }
}

#[test]
fn decode_when_progressive_in_fine_steps_then_equals_libjpeg() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(21));
    for quality in (1..=100).step_by(3) {
        let color = random.choose(&[JCS_YCbCr, JCS_RGB]);
        let recipe =
            Recipe { color, quality, scans: fine_script(), ..Recipe::new(93, 71, SAMPLINGS[quality as usize % 8]) };
        assert_equal(&mut decoder, &file(&recipe, 1), DecodeMode::default(), &format!("{recipe:?}"));
    }
}

/// A gray picture in which one noisy block begins every row of blocks; the others are flat.
fn flat_behind_noise(width: usize, height: usize) -> Vec<u8> {
    let mut random = Random::new(24);
    let sample = |place: usize| if place % width < 8 { random.below(200) as u8 } else { 128 };
    (0..width * height).map(sample).collect()
}

#[test]
fn decode_when_the_last_piece_of_a_scan_begins_in_an_empty_run_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for bands in [&[[1, 63, 0, 0]][..], &[[1, 63, 0, 2], [1, 63, 2, 1], [1, 63, 1, 0]]] {
        let scans = [[0, 0, 0, 0]].iter().chain(bands).map(|&bounds| Scan::new(&[0], bounds)).collect();
        let recipe = Recipe { quality: 90, scans, ..Recipe::gray(40, 8 * 2700) };
        let data = encode(&recipe, &flat_behind_noise(40, 8 * 2700));
        assert_equal(&mut decoder, &data, DecodeMode::default(), &format!("{bands:?}"));
        for missing in 1..=6 {
            let cut = [&data[..data.len() - 2 - missing], &[0xff, 0xd9]].concat();
            assert_eq!(
                compare_with_libjpeg(&mut decoder, &cut),
                Ok(Outcome::Rejected),
                "{bands:?} without {missing} bytes"
            );
        }
    }
}

#[test]
fn decode_when_windows_of_progressive_files_in_any_mode_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(22));
    for (index, wanted) in all_modes().into_iter().enumerate() {
        let sampling = SAMPLINGS[index % 8];
        let recipe =
            Recipe { progressive: true, ..Recipe::new(1 + random.below(150), 1 + random.below(150), sampling) };
        assert_crops(&mut decoder, &mut random, &file(&recipe, 2), wanted, 8, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_gray_and_progressive_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for (edge, wanted) in (1..).zip(all_modes()) {
        let recipe = Recipe { progressive: true, ..Recipe::gray(2 * edge + 1, edge) };
        assert_equal(&mut decoder, &file(&recipe, 3), wanted, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_sequential_in_several_scans_then_equals_libjpeg() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(23));
    for sampling in SAMPLINGS {
        for scans in sequential_scripts() {
            let restart_interval = random.choose(&[0, 1, 4, 17]);
            let optimize = random.below(2) == 0;
            let recipe = Recipe {
                scans,
                restart_interval,
                optimize,
                ..Recipe::new(1 + random.below(99), 1 + random.below(99), sampling)
            };
            let data = file(&recipe, 4);
            for wanted in all_modes().into_iter().step_by(5) {
                assert_equal(&mut decoder, &data, wanted, &format!("{recipe:?}"));
                assert_crops(&mut decoder, &mut random, &data, wanted, 2, &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn decode_when_mcus_would_be_too_large_then_one_scan_per_component_still_works() {
    let mut decoder = Decoder::new();
    let [scans, ..] = sequential_scripts();
    let recipe = Recipe { scans, sampling: vec![(4, 4), (4, 2), (2, 4)], ..Recipe::new(77, 59, (4, 4)) };
    assert_equal(&mut decoder, &file(&recipe, 5), DecodeMode::default(), "4 x 4");
}

#[test]
fn decode_when_low_frequencies_are_incomplete_then_leaves_it_to_others() {
    let mut scans = fine_script();
    scans.pop();
    let dc_incomplete = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
    assert_equal(&mut Decoder::new(), &file(&dc_incomplete, 6), DecodeMode::default(), "the last bit of DC is missing");
    for _ in 0..4 {
        scans.pop();
        let recipe = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
        let result = Decoder::new().decode_pixels(&file(&recipe, 6), None, &Options::default());
        assert_eq!(result.map(drop).expect_err("libjpeg would make up the rest").kind, ImageFaultKind::Unsupported);
    }
}
