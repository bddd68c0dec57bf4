//! Tests of images whose header declares more, or less, data than the file contains.
use crate::encoder::{Image, assemble, chunk, compress};
use crate::{decode, fault};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::png::{Channels, Limits, Options};

fn header(width: u32, height: u32, depth: u8, color: u8, interlaced: u8) -> Vec<u8> {
    let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(b"IHDR", &[&sides[..], &[depth, color, 0, 0, interlaced]].concat())
}

fn file(header: Vec<u8>, stream: &[u8]) -> Vec<u8> {
    assemble(&[header, chunk(b"IDAT", stream), chunk(b"IEND", b"")])
}

fn limited(file: &[u8], limits: Limits) -> Option<ImageFaultKind> {
    decode(file, &Options { limits, ..Options::default() }).err().map(|fault| fault.kind)
}

#[test]
fn header_beyond_limits_is_rejected() {
    for (width, height) in [(65_535, 65_535), (0x7fff_ffff, 0x7fff_ffff), (1, 0x7fff_ffff), (0x7fff_ffff, 1)] {
        for interlaced in [0, 1] {
            let file = file(header(width, height, 16, 6, interlaced), &compress(&[0; 1000]));
            assert_eq!(fault(&file), ImageFaultKind::LimitExceeded);
            let none = Limits { max_pixels: u64::MAX, max_bytes: u64::MAX };
            // Without limits, the data is too short, or the rows exceed the address space.
            let beyond = u128::from(width) * u128::from(height) * 8 > isize::MAX as u128;
            let expected = if beyond { ImageFaultKind::LimitExceeded } else { ImageFaultKind::Truncated };
            assert_eq!(limited(&file, none), Some(expected));
        }
    }
}

#[test]
fn too_little_data_is_rejected_before_inflation() {
    let file = file(header(10_000, 10_000, 8, 0, 0), &compress(&[0; 1000]));
    let fault = decode(&file, &Options::default()).expect_err("a fault");
    assert_eq!(fault.kind, ImageFaultKind::Truncated);
    assert!(fault.expected.contains("compressed data for 100010000 bytes"), "{fault}");
}

#[test]
fn limits_are_inclusive() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let file = image.file(&[]);
    let rows = 61 * 10;
    let allowed = Limits { max_pixels: 200, max_bytes: rows };
    assert_eq!(limited(&file, allowed), None);
    assert_eq!(limited(&file, Limits { max_pixels: 199, ..allowed }), Some(ImageFaultKind::LimitExceeded));
    assert_eq!(limited(&file, Limits { max_bytes: rows - 1, ..allowed }), Some(ImageFaultKind::LimitExceeded));
    let options = Options { channels: Channels::Rgba, limits: allowed, ..Options::default() };
    assert_eq!(decode(&file, &options).map_err(|fault| fault.kind), Err(ImageFaultKind::LimitExceeded));
}

#[test]
fn data_after_the_rows_is_ignored_and_a_bomb_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let intact = decode(&image.file(&[]), &Options::default());
    let raw = image.raw(|_| 1);
    for extra in [1, 61, 65_536] {
        let longer = [&raw[..], &vec![9; extra]].concat();
        assert_eq!(decode(&file(image.header(), &compress(&longer)), &Options::default()), intact, "{extra}");
    }
    let bomb = [&raw[..], &vec![0; 50_000_000]].concat();
    assert_eq!(fault(&file(image.header(), &compress(&bomb))), ImageFaultKind::BadCompression);
    let trailing = [compress(&raw), b"more".to_vec()].concat();
    assert_eq!(decode(&file(image.header(), &trailing), &Options::default()), intact);
}

#[test]
fn stream_shorter_than_rows_is_truncated() {
    for interlaced in [false, true] {
        let mut image = Image::noise(20, 10, 2, 8, 3);
        image.interlaced = interlaced;
        let raw = image.raw(|_| 1);
        for missing in [1, 61, raw.len()] {
            let stream = compress(&raw[..raw.len() - missing]);
            assert_eq!(fault(&file(image.header(), &stream)), ImageFaultKind::Truncated);
        }
    }
}

#[test]
fn invalid_zlib_header_is_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let stream = compress(&image.raw(|_| 1));
    for head in [[0x79, 0x9c], [0x78, 0xbb], [0x88, 0x1c], [0x77, 0x0a]] {
        let file = file(image.header(), &[&head[..], &stream[2..]].concat());
        assert_eq!(fault(&file), ImageFaultKind::BadCompression);
        let without_checksums = Options { checksums: false, ..Options::default() };
        assert_eq!(decode(&file, &without_checksums).map_err(|fault| fault.kind), Err(ImageFaultKind::BadCompression));
    }
}

#[test]
fn unknown_filter_is_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    for row in [0, 9] {
        let mut raw = image.raw(|_| 4);
        raw[row * 61] = 5;
        assert_eq!(fault(&file(image.header(), &compress(&raw))), ImageFaultKind::BadCode);
    }
}
