//! Images with several scans: progressive and sequential, whole and in windows.
use crate::data::Random;
use crate::judge::{Verdict, judge};
use crate::libjpeg::{Recipe, Scan, encode};
use crate::modes::{Wanted, all};
use crate::whole::{SAMPLINGS, assert_equal, file};
use crate::windows::assert_crops;
use mozjpeg_sys::J_COLOR_SPACE::{JCS_RGB, JCS_YCbCr};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Options};

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
            assert_equal(&mut decoder, &file(&recipe, edge as u64), Wanted::default(), &format!("{recipe:?}"));
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
        assert_equal(&mut decoder, &file(&recipe, 1), Wanted::default(), &format!("{recipe:?}"));
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
        assert_equal(&mut decoder, &data, Wanted::default(), &format!("{bands:?}"));
        for missing in 1..=6 {
            let cut = [&data[..data.len() - 2 - missing], &[0xff, 0xd9]].concat();
            assert_eq!(judge(&mut decoder, &cut), Ok(Verdict::Refused), "{bands:?} without {missing} bytes");
        }
    }
}

#[test]
fn decode_when_windows_of_progressive_files_in_any_mode_then_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(22));
    for (index, wanted) in all().into_iter().enumerate() {
        let sampling = SAMPLINGS[index % 8];
        let recipe =
            Recipe { progressive: true, ..Recipe::new(1 + random.below(150), 1 + random.below(150), sampling) };
        assert_crops(&mut decoder, &mut random, &file(&recipe, 2), wanted, 8, &format!("{recipe:?}"));
    }
}

#[test]
fn decode_when_gray_and_progressive_then_equals_libjpeg() {
    let mut decoder = Decoder::new();
    for (edge, wanted) in (1..).zip(all()) {
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
            for wanted in all().into_iter().step_by(5) {
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
    assert_equal(&mut decoder, &file(&recipe, 5), Wanted::default(), "4 x 4");
}

#[test]
fn decode_when_low_frequencies_are_incomplete_then_leaves_it_to_others() {
    let mut scans = fine_script();
    scans.pop();
    let dc_incomplete = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
    assert_equal(&mut Decoder::new(), &file(&dc_incomplete, 6), Wanted::default(), "the last bit of DC is missing");
    for _ in 0..4 {
        scans.pop();
        let recipe = Recipe { scans: scans.clone(), ..Recipe::new(50, 40, (2, 2)) };
        let result = Decoder::new().decode_pixels(&file(&recipe, 6), None, &Options::default());
        assert_eq!(result.map(drop).expect_err("libjpeg would make up the rest").kind, ImageFaultKind::Unsupported);
    }
}
