//! Tests of decoding truncated files: rows before the end of the data are correct, complete files decode as usual, and
//! damaged files do not panic.
use crate::common::{DecodeMode, SAMPLINGS, all_modes, encode_test_file};
use crate::libjpeg::{Random, Recipe, ScriptScan};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, Header, Limits, Options};
use recordmill_image::pixels::{Samples, Window};

/// Returns small files, and one that is larger than libjpeg's read-ahead.
fn test_files() -> Vec<Vec<u8>> {
    let mut recipes: Vec<Recipe> =
        SAMPLINGS.iter().map(|&sampling| Recipe { quality: 60, ..Recipe::new(61, 45, sampling) }).collect();
    recipes.push(Recipe { restart_interval: 2, ..Recipe::new(50, 40, (2, 2)) });
    recipes.push(Recipe { restart_interval: 1, optimize: true, ..Recipe::new(30, 40, (1, 1)) });
    recipes.push(Recipe { quality: 97, ..Recipe::gray(70, 50) });
    recipes.push(Recipe { quality: 99, ..Recipe::new(100, 90, (2, 2)) });
    recipes.iter().zip(1..).map(|(recipe, seed)| encode_test_file(recipe, seed)).collect()
}

fn decode_complete(decoder: &mut Decoder, data: &[u8], options: &Options) -> Vec<u8> {
    let Samples::U8(samples) = decoder.decode_pixels(data, None, options).expect("a valid file").samples else {
        panic!("16-bit samples")
    };
    samples
}

#[test]
fn decode_truncated_equals_decode_for_complete_files() {
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    for data in test_files() {
        for options in all_modes().into_iter().map(DecodeMode::options) {
            let expected = decode_complete(&mut decoder, &data, &options);
            for recovers in [false, true] {
                let (size, channels, rows) =
                    decoder.decode_truncated(&data, None, &options, recovers, &mut out).expect("a valid file");
                assert_eq!((rows, out.len()), (size.height, size.width * size.height * channels));
                assert!(out == expected, "{options:?}");
            }
        }
    }
}

#[test]
fn rows_before_the_cut_equal_those_of_the_complete_file() {
    let (mut decoder, mut out, options) = (Decoder::new(), Vec::new(), Options::default());
    for data in test_files() {
        let expected = decode_complete(&mut decoder, &data, &options);
        let (mut most, mut kinds) = (0, [0; 2]);
        for cut in 2..data.len() {
            match decoder.decode_truncated(&data[..cut], None, &options, false, &mut out) {
                Ok((size, channels, rows)) => {
                    let bytes = rows * size.width * channels;
                    assert!(rows >= most && out[..bytes] == expected[..bytes], "{cut}");
                    assert!(out[bytes..].iter().all(|&level| level == 0));
                    (most, kinds[0]) = (rows, kinds[0] + 1);
                }
                Err(fault) => {
                    assert_eq!(fault.kind, ImageFaultKind::Truncated, "{cut}");
                    kinds[1] += 1;
                }
            }
        }
        assert!(most > 10 && kinds[0] > 300 && kinds[1] > 300, "{most} {kinds:?}");
    }
}

#[test]
fn recovered_rows_far_after_the_cut_are_gray() {
    let (mut decoder, mut out, options) = (Decoder::new(), Vec::new(), Options::default());
    for data in test_files() {
        let header = data.windows(2).position(|pair| pair == [0xff, 0xda]).expect("a scan") + 14;
        let cut = header + (data.len() - header) / 4;
        let (size, channels, rows) =
            decoder.decode_truncated(&data[..cut], None, &options, true, &mut out).expect("a cut within the data");
        assert_eq!(rows, size.height);
        // The last blocks before the cut may be noise. In an image of few MCUs, that may be all blocks.
        let (h, v) = Header::parse(&data).expect("a valid file").sampling[0];
        assert!(h * v > 2 || out[out.len() - size.width * channels..].iter().all(|&level| level == 128));
        let window = Window { x: 3, y: 5, width: 20, height: size.height - 7 };
        let (mut part, row) = (Vec::new(), size.width * channels);
        decoder.decode_truncated(&data[..cut], Some(window), &options, true, &mut part).expect("a window of it");
        let columns = 3 * channels..23 * channels;
        let expected: Vec<u8> = out[5 * row..][..window.height * row]
            .chunks_exact(row)
            .flat_map(|pixels| pixels[columns.clone()].to_vec())
            .collect();
        assert!(part == expected);
    }
}

#[test]
fn changed_bytes_in_truncated_file_give_pixels_or_fault() {
    let (mut decoder, mut out, mut random) = (Decoder::new(), Vec::new(), Random::new(8));
    let limits = Limits { max_pixels: 1 << 18, ..Limits::default() };
    let mut count = 0;
    for data in test_files() {
        for round in 0..300 {
            let mut changed = data[..2 + random.below(data.len() - 2)].to_vec();
            for _ in 0..1 + random.below(4) {
                let (at, any) = (random.below(changed.len()), random.below(256) as u8);
                changed[at] = random.choose(&[0, 0xff, 0xd0, 0xd3, 0xd9, any]);
            }
            let options = Options { limits, ..Options::default() };
            count += usize::from(decoder.decode_truncated(&changed, None, &options, round % 2 == 0, &mut out).is_ok());
        }
    }
    assert!(count > 500, "{count}");
}

/// Returns progressive and sequential files with several scans.
fn test_files_of_several_scans() -> Vec<Vec<u8>> {
    let scan = |component| ScriptScan::new(&[component], [0, 63, 0, 0]);
    let progressive = |width, height, sampling| Recipe { progressive: true, ..Recipe::new(width, height, sampling) };
    let recipes = [
        progressive(40, 30, (2, 2)),
        progressive(61, 45, (1, 1)),
        Recipe { restart_interval: 2, ..progressive(50, 40, (2, 1)) },
        Recipe { scans: vec![scan(0), scan(1), scan(2)], ..Recipe::new(35, 40, (2, 1)) },
        Recipe { scans: vec![scan(0), scan(1), scan(2)], restart_interval: 3, ..Recipe::new(35, 40, (2, 2)) },
    ];
    recipes.iter().zip(3..).map(|(recipe, seed)| encode_test_file(recipe, seed)).collect()
}

#[test]
fn decode_truncated_equals_decode_for_complete_files_of_several_scans() {
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    for data in test_files_of_several_scans() {
        for options in all_modes().into_iter().map(DecodeMode::options) {
            let expected = decode_complete(&mut decoder, &data, &options);
            let (size, _, rows) =
                decoder.decode_truncated(&data, None, &options, true, &mut out).expect("a valid file");
            assert_eq!(rows, size.height);
            assert!(out == expected, "{options:?}");
        }
    }
}

#[test]
fn window_of_truncated_file_of_several_scans_equals_crop() {
    let (mut decoder, mut out, mut part) = (Decoder::new(), Vec::new(), Vec::new());
    let (options, window) = (Options::default(), Window { x: 5, y: 7, width: 20, height: 16 });
    let mut count = 0;
    for data in test_files_of_several_scans() {
        for cut in (200..data.len()).step_by(37) {
            let Ok((size, channels, rows)) = decoder.decode_truncated(&data[..cut], None, &options, true, &mut out)
            else {
                continue;
            };
            assert_eq!(rows, size.height);
            decoder.decode_truncated(&data[..cut], Some(window), &options, true, &mut part).expect("a window of it");
            let rows = out.chunks_exact(size.width * channels).skip(window.y).take(window.height);
            let expected: Vec<u8> =
                rows.flat_map(|row| row[window.x * channels..][..window.width * channels].to_vec()).collect();
            assert!(part == expected, "{cut}");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn changed_bytes_in_file_of_several_scans_give_pixels_or_fault() {
    let (mut decoder, mut out, mut random) = (Decoder::new(), Vec::new(), Random::new(9));
    let mut count = 0;
    for data in test_files_of_several_scans() {
        for _ in 0..400 {
            let mut changed = data[..2 + random.below(data.len() - 2)].to_vec();
            for _ in 0..random.below(4) {
                let (at, any) = (random.below(changed.len()), random.below(256) as u8);
                changed[at] = random.choose(&[0, 0xff, 0xc4, 0xd0, 0xd9, 0xda, any]);
            }
            let limits = Limits { max_pixels: 1 << 18, ..Limits::default() };
            let options = Options { limits, ..Options::default() };
            count += usize::from(decoder.decode_truncated(&changed, None, &options, true, &mut out).is_ok());
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn several_scans_without_recovery_are_unsupported() {
    for data in test_files_of_several_scans() {
        let fault = Decoder::new()
            .decode_truncated(&data[..data.len() - 30], None, &Options::default(), false, &mut Vec::new())
            .expect_err("several scans");
        assert_eq!(fault.kind, ImageFaultKind::Unsupported);
    }
}
