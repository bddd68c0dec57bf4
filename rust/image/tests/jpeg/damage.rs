//! Tests with damaged files: what the decoder accepts equals what libjpeg decodes without a warning, and what it
//! rejects causes a libjpeg warning or error.
use crate::common::encode_test_file;
use crate::compare::{Outcome, compare_with_libjpeg};
use crate::libjpeg::{Random, Recipe, ScriptScan};
use recordmill_image::fault::{ImageFault, ImageFaultKind};
use recordmill_image::jpeg::{Decoder, EntryPoints, Header, Limits, Options};
use recordmill_image::pixels::Window;

/// Returns small valid files of every kind.
fn small_valid_files() -> Vec<Vec<u8>> {
    let of = |recipe: Recipe| encode_test_file(&recipe, 1);
    let scan = |component| ScriptScan::new(&[component], [0, 63, 0, 0]);
    vec![
        of(Recipe::new(40, 30, (2, 2))),
        of(Recipe { optimize: true, quality: 97, ..Recipe::new(33, 25, (2, 1)) }),
        of(Recipe { restart_interval: 2, ..Recipe::new(70, 20, (1, 1)) }),
        of(Recipe { restart_interval: 3, ..Recipe::new(70, 40, (2, 2)) }),
        of(Recipe { progressive: true, ..Recipe::new(40, 30, (2, 2)) }),
        of(Recipe { progressive: true, restart_interval: 3, quality: 95, ..Recipe::new(31, 33, (1, 2)) }),
        of(Recipe { scans: vec![scan(0), scan(1), scan(2)], ..Recipe::new(35, 40, (2, 1)) }),
        of(Recipe::gray(37, 29)),
    ]
}

/// Damages `data` at a random position.
fn damage_randomly(random: &mut Random, data: &mut Vec<u8>) {
    let at = random.below(data.len());
    match random.below(8) {
        0 | 1 => data[at] ^= 1 << random.below(8),
        2 => data[at] = random.choose(&[0, 1, 0x7f, 0x80, 0xff, 0xd9, 0xd0, 0xda]),
        3 => data.insert(at, random.choose(&[0, 0x55, 0xff])),
        4 => drop(data.remove(at)),
        5 => data.truncate(at.max(2)),
        6 => {
            let (from, end) = (random.below(data.len()), random.below(data.len()));
            let part = data[from.min(end)..from.max(end)].to_vec();
            data.splice(at..at, part);
        }
        _ => drop(data.drain(at..(at + random.below(60)).min(data.len()))),
    }
}

#[test]
fn decoding_randomly_damaged_file_equals_libjpeg_or_fails() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(40));
    let mut counts = [0; 4];
    for (index, valid) in small_valid_files().iter().enumerate() {
        for round in 0..3000 {
            let mut data = valid.clone();
            for _ in 0..1 + random.below(3) {
                damage_randomly(&mut random, &mut data);
            }
            let outcome = compare_with_libjpeg(&mut decoder, &data)
                .unwrap_or_else(|what| panic!("file {index}, round {round}: {what}"));
            counts[outcome as usize] += 1;
        }
    }
    let count = |outcome: Outcome| counts[outcome as usize];
    let enough = [(Outcome::Equal, 500), (Outcome::Rejected, 5000), (Outcome::Unsupported, 100)];
    assert!(enough.iter().all(|&(outcome, least)| count(outcome) > least), "{counts:?}");
    assert!(count(Outcome::OutOfRange) * 3 < count(Outcome::Equal), "{counts:?}");
}

#[test]
fn decoding_file_cut_anywhere_fails_as_truncated() {
    let mut decoder = Decoder::new();
    for valid in small_valid_files() {
        for length in 0..valid.len() {
            let fault = decoder.decode_pixels(&valid[..length], None, &Options::default()).expect_err("cut");
            assert_eq!(fault.kind, ImageFaultKind::Truncated, "cut at {length}: {fault}");
            assert!(fault.offset <= length, "cut at {length}: {fault}");
        }
    }
}

#[test]
fn windows_and_entry_points_of_damaged_files_never_panic() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(41));
    for valid in small_valid_files() {
        let points = EntryPoints::build(&valid, 1).ok();
        for _ in 0..1000 {
            let mut data = valid.clone();
            damage_randomly(&mut random, &mut data);
            let window = Window {
                x: random.below(30),
                y: random.below(20),
                width: 1 + random.below(9),
                height: 1 + random.below(9),
            };
            let mut out = [0; 300];
            let _ = decoder.decode(&data, Some(window), &Options::default(), points.as_ref(), &mut out, 30);
            let _ = EntryPoints::build(&data, 1);
            let _ = Header::parse(&data);
        }
    }
}

/// Returns the error of decoding `data` with `limits`.
fn decode_fault(data: &[u8], limits: Limits) -> ImageFault {
    Decoder::new().decode_pixels(data, None, &Options { limits, ..Options::default() }).expect_err("beyond the limits")
}

#[test]
fn false_size_in_header_is_rejected_before_allocation() {
    for valid in small_valid_files() {
        let frame = valid.windows(2).position(|pair| matches!(pair, [0xff, 0xc0..=0xc2])).expect("a frame header");
        let mut data = valid.clone();
        data[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
        assert_eq!(decode_fault(&data, Limits::default()).kind, ImageFaultKind::LimitExceeded);
        data[frame + 5..frame + 9].copy_from_slice(&[0x30, 0, 0x30, 0]);
        assert_eq!(decode_fault(&data, Limits::default()).kind, ImageFaultKind::Truncated);
        data[frame + 5..frame + 9].copy_from_slice(&[0, 0, 0, 9]);
        assert_eq!(decode_fault(&data, Limits::default()).kind, ImageFaultKind::BadDimensions);
    }
}

#[test]
fn exceeded_limit_is_named_in_fault() {
    let data = encode_test_file(&Recipe { progressive: true, ..Recipe::new(64, 64, (1, 1)) }, 1);
    let usual = Limits::default();
    let limits = [
        (Limits { max_pixels: 4095, ..usual }, "pixels"),
        (Limits { max_scans: 3, ..usual }, "scans"),
        (Limits { max_block_visits: 500, ..usual }, "visits"),
        (Limits { max_coefficient_bytes: 192 * 129 - 1, ..usual }, "bytes of coefficients"),
    ];
    for (limits, what) in limits {
        let fault = decode_fault(&data, limits);
        assert_eq!(fault.kind, ImageFaultKind::LimitExceeded);
        assert!(fault.expected.contains(what), "{fault}");
    }
    let enough = Limits { max_pixels: 4096, max_coefficient_bytes: 192 * 129, ..usual };
    assert!(Decoder::new().decode_pixels(&data, None, &Options { limits: enough, ..Options::default() }).is_ok());
}

#[test]
fn num_finished_counts_intact_rows_of_cut_file() {
    let valid = encode_test_file(&Recipe { quality: 95, ..Recipe::new(64, 160, (2, 2)) }, 1);
    let mut whole = vec![0; 64 * 160 * 3];
    let mut decoder = Decoder::new();
    decoder.decode(&valid, None, &Options::default(), None, &mut whole, 192).expect("valid file");
    assert_eq!(decoder.num_finished(), 160);
    let mut part = vec![0; 64 * 160 * 3];
    let cut = valid.len() / 2;
    decoder.decode(&valid[..cut], None, &Options::default(), None, &mut part, 192).expect_err("cut");
    let rows = decoder.num_finished();
    assert!((20..140).contains(&rows), "{rows}");
    assert_eq!(part[..rows * 192], whole[..rows * 192]);
}
