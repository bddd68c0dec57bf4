//! Tests of entry points: windows decoded with them equal crops, their serialized form round-trips, and entry points of
//! other images are rejected.
use crate::common::{SAMPLINGS, crop_window, encode_test_file, random_window};
use crate::libjpeg::{LibjpegOptions, Random, Recipe, decode, encode};
use recordmill_image::batch::build_entry_points;
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, EntryPoints, Options};
use recordmill_image::pixels::Window;

/// Asserts that windows of `data` decoded with `points` equal crops.
fn assert_random_windows_equal_crops(
    decoder: &mut Decoder,
    random: &mut Random,
    data: &[u8],
    points: &EntryPoints,
    count: usize,
    what: &str,
) {
    let whole = decode(data, LibjpegOptions::default()).expect("libjpeg decodes it");
    for _ in 0..count {
        let window = random_window(random, whole.width, whole.height);
        let mut out = vec![0; window.width * window.height * whole.channels];
        let result = decoder.decode(
            data,
            Some(window),
            &Options::default(),
            Some(points),
            &mut out,
            window.width * whole.channels,
        );
        assert_eq!(result, Ok(()), "{what} {window:?}");
        assert!(out == crop_window(&whole, window), "{what} {window:?}");
    }
}

#[test]
fn windows_decoded_with_entry_points_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(30));
    for restart_interval in [0, 0, 1, 5, 13, 26, 60] {
        for sampling in SAMPLINGS {
            let quality = 40 + random.below(60) as i32;
            let recipe = Recipe { restart_interval, quality, ..Recipe::new(203, 150, sampling) };
            let data = encode_test_file(&recipe, 1);
            for every_rows in [1, 2, 7] {
                let points = EntryPoints::build(&data, every_rows).expect("a valid file");
                assert_random_windows_equal_crops(
                    &mut decoder,
                    &mut random,
                    &data,
                    &points,
                    12,
                    &format!("{every_rows} {recipe:?}"),
                );
            }
        }
    }
}

#[test]
fn windows_of_large_file_with_entry_points_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(31));
    let data = encode_test_file(&Recipe { quality: 99, ..Recipe::new(900, 500, (2, 2)) }, 2);
    let points = EntryPoints::build(&data, 1).expect("a valid file");
    assert_eq!(points.len(), 500_usize.div_ceil(16) - 1);
    assert_random_windows_equal_crops(&mut decoder, &mut random, &data, &points, 150, "large");
}

#[test]
fn windows_of_grayscale_file_with_entry_points_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(32));
    let data = encode_test_file(&Recipe::gray(130, 200), 2);
    let points = EntryPoints::build(&data, 3).expect("a valid file");
    assert_random_windows_equal_crops(&mut decoder, &mut random, &data, &points, 50, "gray");
}

#[test]
fn serialized_entry_points_round_trip_and_are_small() {
    let data = encode_test_file(&Recipe { quality: 92, ..Recipe::new(500, 375, (2, 2)) }, 3);
    let points = EntryPoints::build(&data, 1).expect("a valid file");
    let bytes = points.to_bytes().expect("enough memory");
    assert_eq!(EntryPoints::from_bytes(&bytes), Ok(points));
    assert!(bytes.len() * 100 <= data.len(), "{} bytes for {}", bytes.len(), data.len());
}

#[test]
fn from_bytes_rejects_damaged_bytes() {
    let data = encode_test_file(&Recipe::new(100, 100, (1, 1)), 3);
    let bytes = EntryPoints::build(&data, 2).expect("a valid file").to_bytes().expect("enough memory");
    for length in 0..bytes.len() {
        assert!(EntryPoints::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(EntryPoints::from_bytes(&damaged).is_err(), "flipped bit {bit}");
    }
}

#[test]
fn decode_rejects_entry_points_of_another_image() {
    let recipe = Recipe::new(100, 100, (2, 2));
    let (data, other) = (encode_test_file(&recipe, 1), encode_test_file(&recipe, 2));
    let points = EntryPoints::build(&other, 1).expect("a valid file");
    let mut changed = other.clone();
    let at = other.len() - 40;
    changed[at] ^= 1;
    let progressive = encode_test_file(&Recipe { progressive: true, ..recipe }, 2);
    for data in [data, changed, other[..other.len() - 2].to_vec(), progressive] {
        let mut out = vec![0; 30_000];
        let result = Decoder::new().decode(&data, None, &Options::default(), Some(&points), &mut out, 300);
        assert_eq!(result.expect_err("not its table").kind, ImageFaultKind::BadEntryPoints);
    }
}

#[test]
fn build_rejects_several_scans_and_damaged_files() {
    let progressive = encode_test_file(&Recipe { progressive: true, ..Recipe::new(50, 50, (2, 2)) }, 1);
    let fault = EntryPoints::build(&progressive, 1).expect_err("several scans");
    assert_eq!(fault.kind, ImageFaultKind::Unsupported);
    let valid = encode_test_file(&Recipe::new(50, 50, (2, 2)), 1);
    let fault = EntryPoints::build(&valid[..valid.len() - 30], 1).expect_err("cut");
    assert_eq!(fault.kind, ImageFaultKind::Truncated);
    assert_eq!(EntryPoints::build(&valid, 0).expect_err("no rows").kind, ImageFaultKind::BadArgument);
    assert!(EntryPoints::build(&valid, usize::MAX).expect("valid file").is_empty());
}

/// Returns the CRC-32 of PNG and zlib, computed bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

type Change<'a> = &'a dyn Fn(&mut Vec<u8>);

/// Changes the body of the serialized entry points `table` and updates their checksum.
fn change_and_update_checksum(table: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = table[..table.len() - 4].to_vec();
    change(&mut body);
    let checksum = crc32(&body);
    body.extend(checksum.to_le_bytes());
    body
}

#[test]
fn forged_entry_points_fail_or_decode_without_panic() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(40));
    let (mut num_read, mut num_rejected) = (0, 0);
    for sampling in [(1, 1), (2, 2), (4, 1)] {
        for restart_interval in [0, 5] {
            let data = encode_test_file(&Recipe { restart_interval, ..Recipe::new(120, 130, sampling) }, 1);
            let table = EntryPoints::build(&data, 1).expect("a valid file").to_bytes().expect("enough memory");
            for _ in 0..1500 {
                let (at, value) = (13 + random.below(table.len() - 17), random.below(256) as u8);
                let bytes = change_and_update_checksum(&table, |body| body[at] = value);
                let Ok(points) = EntryPoints::from_bytes(&bytes) else {
                    num_rejected += 1;
                    continue;
                };
                num_read += 1;
                let window = random_window(&mut random, 120, 130);
                let mut out = vec![0; window.width * window.height * 3];
                let stride = window.width * 3;
                let _ = decoder.decode(&data, Some(window), &Options::default(), Some(&points), &mut out, stride);
            }
        }
    }
    assert!(num_read > 1000 && num_rejected > 1000, "{num_read} read, {num_rejected} rejected");
}

#[test]
fn from_bytes_rejects_invalid_values() {
    let data = encode_test_file(&Recipe::new(120, 130, (2, 2)), 1);
    let table = EntryPoints::build(&data, 1).expect("a valid file").to_bytes().expect("enough memory");
    let cases: [Change; 6] = [
        &|body| body[13] = 2,                                   // number of components
        &|body| body[14] = 0,                                   // MCUs between entry points
        &|body| body[15] = 0x7f,                                // more entry points than bytes
        &|body| body[16] = 1,                                   // bit position that decreases
        &|body| body.push(0),                                   // trailing bytes
        &|body| body.splice(16..17, [0xff; 10]).for_each(drop), // unterminated integer
    ];
    for (number, change) in cases.iter().enumerate() {
        let fault = EntryPoints::from_bytes(&change_and_update_checksum(&table, change)).expect_err("impossible");
        assert_eq!(fault.kind, ImageFaultKind::BadEntryPoints, "case {number}");
    }
    assert!(EntryPoints::from_bytes(&change_and_update_checksum(&table, |_| ())).is_ok());
}

#[test]
fn decode_rejects_entry_points_if_any_bit_of_image_changed() {
    let data = encode_test_file(&Recipe::new(40, 50, (2, 2)), 1);
    let points = EntryPoints::build(&data, 1).expect("a valid file");
    let window = Window { x: 0, y: 40, width: 9, height: 9 };
    for at in 0..data.len() {
        let mut changed = data.clone();
        changed[at] ^= 1 << (at % 8);
        let mut out = vec![0; 9 * 9 * 3];
        let result = Decoder::new().decode(&changed, Some(window), &Options::default(), Some(&points), &mut out, 27);
        assert!(result.is_err(), "byte {at}");
    }
}

#[test]
fn entry_points_of_each_image_stay_within_their_size_limit() {
    let large = Recipe { quality: 97, ..Recipe::new(400, 400, (2, 2)) };
    let row = 400_u32.div_ceil(16);
    let files = [
        encode_test_file(&large, 1),
        encode_test_file(&Recipe { quality: 10, ..large.clone() }, 2),
        encode_test_file(&Recipe { restart_interval: row, ..large.clone() }, 3),
        encode_test_file(&Recipe { restart_interval: 10 * row, ..large.clone() }, 3),
        encode_test_file(&Recipe { progressive: true, ..large.clone() }, 4),
        encode_test_file(&Recipe::new(20, 20, (1, 1)), 5),
        encode(&Recipe::gray(300, 300), &vec![7; 90_000]),
        encode_test_file(&large, 6)[..9000].to_vec(),
        b"no image".to_vec(),
        vec![],
    ];
    let payloads: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let tables = build_entry_points(&payloads, 0.01, 16, 2).expect("enough memory");
    let full = EntryPoints::build(&files[0], 1).expect("a valid file").to_bytes().expect("enough memory");
    assert_eq!(tables[0], full);
    for (table, data) in tables.iter().zip(&files) {
        assert!(table.is_empty() || (table.len() + 16) * 100 <= data.len());
    }
    assert!(EntryPoints::from_bytes(&tables[1]).expect("some fit").len() < 24);
    assert!(!tables[3].is_empty());
    for index in [2, 4, 5, 6, 7, 8, 9] {
        assert!(tables[index].is_empty(), "file {index}");
    }
    assert_eq!(build_entry_points(&payloads, 0.01, 16, 1), Ok(tables));
}
