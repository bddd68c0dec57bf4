//! Tests that decoded images equal libjpeg's pixels for every sampling, color model, quality, size and window.
use crate::common::{DecodeMode, SAMPLINGS, all_modes, crop_window, encode_test_file, random_window};
use crate::compare::{Outcome, compare_with_libjpeg};
use crate::libjpeg::{LibjpegOptions, Random, Recipe, ScriptScan, decode, encode};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_RGB, JCS_YCbCr};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Options};
use recordmill_image::pixels::{Samples, Window};

/// Asserts that the decoder produces the pixels of libjpeg.
pub fn assert_equals_libjpeg(decoder: &mut Decoder, data: &[u8], mode: DecodeMode, what: &str) {
    let expected = decode(data, mode.libjpeg_options()).expect("libjpeg decodes it");
    assert_eq!(expected.warnings, 0, "{what}");
    let found = decoder.decode_pixels(data, None, &mode.options()).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    assert_eq!(
        (found.size.width, found.size.height, found.channels),
        (expected.width, expected.height, expected.channels),
        "{what}"
    );
    let Samples::U8(samples) = found.samples else { panic!("16-bit samples") };
    let difference = samples.iter().zip(&expected.samples).position(|(found, expected)| found != expected);
    assert_eq!(difference, None, "{what} {mode:?}");
}

#[test]
fn sequential_decoding_of_every_sampling_and_size_equals_libjpeg() {
    let mut decoder = Decoder::new();
    let mut random = Random::new(1);
    for sampling in SAMPLINGS {
        for edge in 1..=40 {
            let other = 1 + random.below(40);
            for (width, height) in [(edge, other), (other, edge)] {
                let recipe = Recipe { quality: 1 + random.below(100) as i32, ..Recipe::new(width, height, sampling) };
                let data = encode_test_file(&recipe, edge as u64);
                assert_equals_libjpeg(&mut decoder, &data, DecodeMode::default(), &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn decoding_in_every_mode_equals_libjpeg() {
    let mut decoder = Decoder::new();
    let mut random = Random::new(2);
    for sampling in SAMPLINGS {
        for color in [JCS_YCbCr, JCS_RGB] {
            for mode in all_modes() {
                let (width, height) = (1 + random.below(70), 1 + random.below(70));
                let recipe =
                    Recipe { color, quality: 30 + random.below(70) as i32, ..Recipe::new(width, height, sampling) };
                assert_equals_libjpeg(&mut decoder, &encode_test_file(&recipe, 5), mode, &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn grayscale_decoding_equals_libjpeg_in_every_mode() {
    let mut decoder = Decoder::new();
    for (edge, mode) in (1..).zip(all_modes()) {
        let recipe = Recipe { sampling: vec![[(1, 1), (2, 2), (1, 3)][edge % 3]], ..Recipe::gray(edge, 2 * edge + 3) };
        assert_equals_libjpeg(&mut decoder, &encode_test_file(&recipe, 9), mode, &format!("{recipe:?}"));
    }
}

#[test]
fn every_quality_and_optimized_tables_equal_libjpeg() {
    let mut decoder = Decoder::new();
    for quality in 1..=100 {
        let recipe =
            Recipe { quality, optimize: quality % 2 == 0, ..Recipe::new(67, 45, SAMPLINGS[quality as usize % 4]) };
        assert_equals_libjpeg(
            &mut decoder,
            &encode_test_file(&recipe, quality as u64),
            DecodeMode::default(),
            &format!("{recipe:?}"),
        );
    }
}

#[test]
fn restart_intervals_equal_libjpeg() {
    let mut decoder = Decoder::new();
    for restart_interval in (1..=25).chain([26, 52, 1000, 65_535]) {
        let recipe = Recipe { restart_interval, ..Recipe::new(203, 101, SAMPLINGS[restart_interval as usize % 4]) };
        assert_equals_libjpeg(
            &mut decoder,
            &encode_test_file(&recipe, 3),
            DecodeMode::default(),
            &format!("{recipe:?}"),
        );
    }
}

#[test]
fn file_larger_than_stream_chunks_equals_libjpeg() {
    let recipe = Recipe { quality: 100, ..Recipe::new(640, 480, (2, 2)) };
    let data = encode_test_file(&recipe, 4);
    assert!(data.len() > 200_000);
    assert_equals_libjpeg(&mut Decoder::new(), &data, DecodeMode::default(), "large");
}

#[test]
fn padding_between_output_rows_is_not_written() {
    let data = encode_test_file(&Recipe::new(21, 17, (2, 2)), 6);
    let expected = decode(&data, LibjpegOptions::default()).expect("libjpeg decodes it");
    let mut out = vec![0xaa; 80 * 17];
    Decoder::new().decode(&data, None, &Options::default(), None, &mut out, 80).expect("a valid file");
    for (row, expected) in out.chunks(80).zip(expected.samples.chunks(63)) {
        assert_eq!(&row[..63], expected);
        assert_eq!(row[63..], [0xaa; 17]);
    }
}

#[test]
fn motion_jpeg_frame_without_tables_uses_typical_huffman_tables() {
    let mut data = encode_test_file(&Recipe::new(50, 40, (2, 1)), 6);
    while let Some(start) = data.windows(2).position(|pair| pair == [0xff, 0xc4]) {
        let length = usize::from(u16::from_be_bytes([data[start + 2], data[start + 3]]));
        data.drain(start..start + 2 + length);
    }
    assert_equals_libjpeg(&mut Decoder::new(), &data, DecodeMode::default(), "no tables");
}

/// Asserts that `count` random windows of `data` equal the crops of libjpeg's image.
pub fn assert_random_windows_equal_crops(
    decoder: &mut Decoder,
    random: &mut Random,
    data: &[u8],
    mode: DecodeMode,
    count: usize,
    what: &str,
) {
    let whole = decode(data, mode.libjpeg_options()).expect("libjpeg decodes it");
    for _ in 0..count {
        let window = random_window(random, whole.width, whole.height);
        let found = decoder.decode_pixels(data, Some(window), &mode.options());
        let found = found.unwrap_or_else(|fault| panic!("{what} {window:?} {mode:?}: {fault}"));
        let Samples::U8(samples) = found.samples else { panic!("16-bit samples") };
        assert!(samples == crop_window(&whole, window), "{what} {window:?} {mode:?}");
    }
}

#[test]
fn windows_equal_crops_in_every_mode() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(10));
    for sampling in SAMPLINGS {
        for mode in all_modes() {
            let (width, height) = (1 + random.below(150), 1 + random.below(150));
            let color = random.choose(&[JCS_YCbCr, JCS_YCbCr, JCS_RGB]);
            let recipe = Recipe { color, ..Recipe::new(width, height, sampling) };
            assert_random_windows_equal_crops(
                &mut decoder,
                &mut random,
                &encode_test_file(&recipe, 7),
                mode,
                10,
                &format!("{recipe:?}"),
            );
        }
    }
}

#[test]
fn selected_rows_are_decoded_and_others_kept() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(12));
    for sampling in SAMPLINGS {
        for mode in all_modes() {
            let (width, height) = (1 + random.below(150), 1 + random.below(150));
            let data = encode_test_file(&Recipe::new(width, height, sampling), 7);
            let whole = decode(&data, mode.libjpeg_options()).expect("libjpeg decodes it");
            let window = random_window(&mut random, whole.width, whole.height);
            let rows: Vec<bool> = (0..window.height).map(|_| random.below(3) == 0).collect();
            let part = recordmill_image::jpeg::Region { window: Some(window), rows: &rows };
            let expected = crop_window(&whole, window);
            let before: Vec<u8> = expected.iter().map(|level| !level).collect();
            let mut out = before.clone();
            decoder.decode_to(&data, part, &mode.options(), None, &mut out).expect("a valid file");
            let length = window.width * whole.channels;
            for (y, is_selected) in rows.iter().enumerate() {
                let row = y * length..(y + 1) * length;
                assert!(out[row.clone()] == if *is_selected { &expected } else { &before }[row], "{mode:?} row {y}");
            }
        }
    }
}

#[test]
fn windows_of_files_with_restarts_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(11));
    for restart_interval in [1, 2, 3, 5, 7, 12, 13, 14, 25, 26, 27, 50, 100] {
        for sampling in SAMPLINGS {
            let recipe = Recipe { restart_interval, ..Recipe::new(203, 140, sampling) };
            assert_random_windows_equal_crops(
                &mut decoder,
                &mut random,
                &encode_test_file(&recipe, 8),
                DecodeMode::default(),
                20,
                &format!("{recipe:?}"),
            );
        }
    }
}

#[test]
fn windows_of_grayscale_files_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(12));
    for mode in all_modes() {
        let recipe = Recipe { restart_interval: random.below(30) as u32, ..Recipe::gray(130, 95) };
        assert_random_windows_equal_crops(
            &mut decoder,
            &mut random,
            &encode_test_file(&recipe, 2),
            mode,
            10,
            &format!("{recipe:?}"),
        );
    }
}

#[test]
fn windows_of_large_file_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(13));
    let recipe = Recipe { quality: 98, ..Recipe::new(700, 600, (2, 2)) };
    assert_random_windows_equal_crops(
        &mut decoder,
        &mut random,
        &encode_test_file(&recipe, 14),
        DecodeMode::default(),
        200,
        "large",
    );
}

#[test]
fn window_outside_image_is_rejected() {
    let data = encode_test_file(&Recipe::new(30, 20, (2, 1)), 1);
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
fn too_small_output_is_rejected() {
    let data = encode_test_file(&Recipe::new(30, 20, (2, 1)), 1);
    for (length, stride) in [(1799, 90), (1800, 89), (0, 90), (1800, usize::MAX)] {
        let fault = Decoder::new()
            .decode(&data, None, &Options::default(), None, &mut vec![0; length], stride)
            .expect_err("no room");
        assert_eq!(fault.kind, ImageFaultKind::BadArgument, "{length} {stride}");
    }
    assert_eq!(Decoder::new().decode(&data, None, &Options::default(), None, &mut vec![0; 1800], 90), Ok(()));
}

/// A progressive script that refines all coefficients, with DC in several scans.
fn script_that_refines_all_coefficients() -> Vec<ScriptScan> {
    let mut scans = vec![ScriptScan::new(&[0, 1, 2], [0, 0, 0, 2])];
    scans.push(ScriptScan::new(&[0], [1, 5, 0, 2]));
    scans.extend([1, 2].map(|component| ScriptScan::new(&[component], [1, 63, 0, 3])));
    scans.push(ScriptScan::new(&[0, 1, 2], [0, 0, 2, 1]));
    scans.push(ScriptScan::new(&[0], [6, 63, 0, 2]));
    for low in [2, 1, 0] {
        scans.extend([2, 1].map(|component| ScriptScan::new(&[component], [1, 63, low + 1, low])));
    }
    for low in [1, 0] {
        scans.push(ScriptScan::new(&[0], [1, 63, low + 1, low]));
    }
    scans.push(ScriptScan::new(&[0, 1, 2], [0, 0, 1, 0]));
    scans
}

/// Sequential scripts with one scan per component, or with two components in one scan.
fn sequential_scripts() -> [Vec<ScriptScan>; 4] {
    let scan = |components: &[i32]| ScriptScan::new(components, [0, 63, 0, 0]);
    [
        vec![scan(&[0]), scan(&[1]), scan(&[2])],
        vec![scan(&[2]), scan(&[0]), scan(&[1])],
        vec![scan(&[0]), scan(&[1, 2])],
        vec![scan(&[0, 1]), scan(&[2])],
    ]
}

#[test]
fn progressive_decoding_of_every_sampling_and_size_equals_libjpeg() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(20));
    for sampling in SAMPLINGS {
        for edge in 1..=40 {
            let recipe = Recipe {
                quality: 1 + random.below(100) as i32,
                restart_interval: random.choose(&[0, 0, 1, 3, 10]),
                progressive: true,
                ..Recipe::new(edge, 1 + random.below(60), sampling)
            };
            assert_equals_libjpeg(
                &mut decoder,
                &encode_test_file(&recipe, edge as u64),
                DecodeMode::default(),
                &format!("{recipe:?}"),
            );
        }
    }
}

#[test]
fn progressive_with_many_refinements_equals_libjpeg() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(21));
    for quality in (1..=100).step_by(3) {
        let color = random.choose(&[JCS_YCbCr, JCS_RGB]);
        let recipe = Recipe {
            color,
            quality,
            scans: script_that_refines_all_coefficients(),
            ..Recipe::new(93, 71, SAMPLINGS[quality as usize % 8])
        };
        assert_equals_libjpeg(
            &mut decoder,
            &encode_test_file(&recipe, 1),
            DecodeMode::default(),
            &format!("{recipe:?}"),
        );
    }
}

/// Returns a gray image in which the first block of every row of blocks is noise and the others are flat.
fn noise_then_flat_rows(width: usize, height: usize) -> Vec<u8> {
    let mut random = Random::new(24);
    let sample = |index: usize| if index % width < 8 { random.below(200) as u8 } else { 128 };
    (0..width * height).map(sample).collect()
}

#[test]
fn end_of_band_run_across_stream_chunks_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for bands in [&[[1, 63, 0, 0]][..], &[[1, 63, 0, 2], [1, 63, 2, 1], [1, 63, 1, 0]]] {
        let scans = [[0, 0, 0, 0]].iter().chain(bands).map(|&bounds| ScriptScan::new(&[0], bounds)).collect();
        let recipe = Recipe { quality: 90, scans, ..Recipe::gray(40, 8 * 2700) };
        let data = encode(&recipe, &noise_then_flat_rows(40, 8 * 2700));
        assert_equals_libjpeg(&mut decoder, &data, DecodeMode::default(), &format!("{bands:?}"));
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
fn windows_of_progressive_files_equal_crops_in_every_mode() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(22));
    for (index, mode) in all_modes().into_iter().enumerate() {
        let sampling = SAMPLINGS[index % 8];
        let recipe =
            Recipe { progressive: true, ..Recipe::new(1 + random.below(150), 1 + random.below(150), sampling) };
        assert_random_windows_equal_crops(
            &mut decoder,
            &mut random,
            &encode_test_file(&recipe, 2),
            mode,
            8,
            &format!("{recipe:?}"),
        );
    }
}

#[test]
fn grayscale_progressive_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for (edge, mode) in (1..).zip(all_modes()) {
        let recipe = Recipe { progressive: true, ..Recipe::gray(2 * edge + 1, edge) };
        assert_equals_libjpeg(&mut decoder, &encode_test_file(&recipe, 3), mode, &format!("{recipe:?}"));
    }
}

#[test]
fn sequential_with_several_scans_equals_libjpeg() {
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
            let data = encode_test_file(&recipe, 4);
            for mode in all_modes().into_iter().step_by(5) {
                assert_equals_libjpeg(&mut decoder, &data, mode, &format!("{recipe:?}"));
                assert_random_windows_equal_crops(&mut decoder, &mut random, &data, mode, 2, &format!("{recipe:?}"));
            }
        }
    }
}

#[test]
fn large_sampling_factors_decode_with_one_scan_per_component() {
    let mut decoder = Decoder::new();
    let [scans, ..] = sequential_scripts();
    let recipe = Recipe { scans, sampling: vec![(4, 4), (4, 2), (2, 4)], ..Recipe::new(77, 59, (4, 4)) };
    assert_equals_libjpeg(&mut decoder, &encode_test_file(&recipe, 5), DecodeMode::default(), "4 x 4");
}

#[test]
fn incomplete_low_frequencies_are_unsupported() {
    let mut scans = script_that_refines_all_coefficients();
    scans.pop();
    let dc_incomplete = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
    assert_equals_libjpeg(
        &mut Decoder::new(),
        &encode_test_file(&dc_incomplete, 6),
        DecodeMode::default(),
        "the last bit of DC is missing",
    );
    for _ in 0..4 {
        scans.pop();
        let recipe = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
        let result = Decoder::new().decode_pixels(&encode_test_file(&recipe, 6), None, &Options::default());
        assert_eq!(result.map(drop).expect_err("libjpeg would make up the rest").kind, ImageFaultKind::Unsupported);
    }
}
