//! Entry points that lie: no panic, and no pixels where they do not belong to the image; how many bytes they may take.
use crate::data::Random;
use crate::libjpeg::{Recipe, encode};
use crate::whole::file;
use crate::windows::random_window;
use recordmill_image::batch::entry_points;
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, EntryPoints, Options};
use recordmill_image::pixels::Window;

/// The CRC-32 of PNG and zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

type Change<'a> = &'a dyn Fn(&mut Vec<u8>);

/// A table whose body was changed, with a checksum that fits again.
fn forged(table: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = table[..table.len() - 4].to_vec();
    change(&mut body);
    let checksum = crc32(&body);
    body.extend(checksum.to_le_bytes());
    body
}

#[test]
fn decode_when_a_table_is_forged_then_fails_by_name_or_decodes_something_of_the_size() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(40));
    let (mut num_read, mut num_refused) = (0, 0);
    for sampling in [(1, 1), (2, 2), (4, 1)] {
        for restart_interval in [0, 5] {
            let data = file(&Recipe { restart_interval, ..Recipe::new(120, 130, sampling) }, 1);
            let table = EntryPoints::build(&data, 1).expect("sound file").to_bytes();
            for _ in 0..1500 {
                let (at, value) = (13 + random.below(table.len() - 17), random.below(256) as u8);
                let bytes = forged(&table, |body| body[at] = value);
                let Ok(points) = EntryPoints::from_bytes(&bytes) else {
                    num_refused += 1;
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
    assert!(num_read > 1000 && num_refused > 1000, "{num_read} read, {num_refused} refused");
}

#[test]
fn from_bytes_when_numbers_are_impossible_then_refuses_them() {
    let data = file(&Recipe::new(120, 130, (2, 2)), 1);
    let table = EntryPoints::build(&data, 1).expect("sound file").to_bytes();
    let cases: [Change; 6] = [
        &|body| body[13] = 2,                                   // components
        &|body| body[14] = 0,                                   // MCUs from entry point to entry point
        &|body| body[15] = 0x7f,                                // more entry points than bytes
        &|body| body[16] = 1,                                   // a step back
        &|body| body.push(0),                                   // bytes behind the last
        &|body| body.splice(16..17, [0xff; 10]).for_each(drop), // a number without an end
    ];
    for (number, change) in cases.iter().enumerate() {
        let fault = EntryPoints::from_bytes(&forged(&table, change)).expect_err("impossible");
        assert_eq!(fault.kind, ImageFaultKind::BadEntryPoints, "case {number}");
    }
    assert!(EntryPoints::from_bytes(&forged(&table, |_| ())).is_ok());
}

#[test]
fn decode_when_any_bit_of_the_image_changed_then_refuses_its_table() {
    let data = file(&Recipe::new(40, 50, (2, 2)), 1);
    let points = EntryPoints::build(&data, 1).expect("sound file");
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
fn entry_points_when_many_images_then_each_keeps_to_its_share() {
    let large = Recipe { quality: 97, ..Recipe::new(400, 400, (2, 2)) };
    let row = 400_u32.div_ceil(16);
    let files = [
        file(&large, 1),
        file(&Recipe { quality: 10, ..large.clone() }, 2),
        file(&Recipe { restart_interval: row, ..large.clone() }, 3),
        file(&Recipe { restart_interval: 10 * row, ..large.clone() }, 3),
        file(&Recipe { progressive: true, ..large.clone() }, 4),
        file(&Recipe::new(20, 20, (1, 1)), 5),
        encode(&Recipe::gray(300, 300), &vec![7; 90_000]),
        file(&large, 6)[..9000].to_vec(),
        b"no image".to_vec(),
        vec![],
    ];
    let payloads: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let tables = entry_points(&payloads, 0.01, 16, 2);
    let full = EntryPoints::build(&files[0], 1).expect("sound file").to_bytes();
    assert_eq!(tables[0], full);
    for (table, data) in tables.iter().zip(&files) {
        assert!(table.is_empty() || (table.len() + 16) * 100 <= data.len());
    }
    assert!(EntryPoints::from_bytes(&tables[1]).expect("some fit").len() < 24);
    assert!(!tables[3].is_empty());
    for place in [2, 4, 5, 6, 7, 8, 9] {
        assert!(tables[place].is_empty(), "file {place}");
    }
    assert_eq!(tables, entry_points(&payloads, 0.01, 16, 1));
}
