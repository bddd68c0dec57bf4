//! Tests of limits, and of images whose header declares more or less data than the file contains.
use crate::encoder::{Image, compress_to_zlib, join_chunks, make_chunk};
use crate::{decode, fault_kind};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::png::{Channels, Limits, Options};

fn ihdr_chunk(width: u32, height: u32, depth: u8, color: u8, interlaced: u8) -> Vec<u8> {
    let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
    make_chunk(b"IHDR", &[&sides[..], &[depth, color, 0, 0, interlaced]].concat())
}

fn file_with_stream(header: Vec<u8>, stream: &[u8]) -> Vec<u8> {
    join_chunks(&[header, make_chunk(b"IDAT", stream), make_chunk(b"IEND", b"")])
}

fn fault_with_limits(file: &[u8], limits: Limits) -> Option<ImageFaultKind> {
    decode(file, &Options { limits, ..Options::default() }).err().map(|fault| fault.kind)
}

#[test]
fn header_beyond_limits_is_rejected() {
    for (width, height) in [(65_535, 65_535), (0x7fff_ffff, 0x7fff_ffff), (1, 0x7fff_ffff), (0x7fff_ffff, 1)] {
        for interlaced in [0, 1] {
            let file = file_with_stream(ihdr_chunk(width, height, 16, 6, interlaced), &compress_to_zlib(&[0; 1000]));
            assert_eq!(fault_kind(&file), ImageFaultKind::LimitExceeded);
            let none = Limits { max_pixels: u64::MAX, max_bytes: u64::MAX };
            // Without limits, the data is too short, or the rows exceed the address space.
            let beyond = u128::from(width) * u128::from(height) * 8 > isize::MAX as u128;
            let expected = if beyond { ImageFaultKind::LimitExceeded } else { ImageFaultKind::Truncated };
            assert_eq!(fault_with_limits(&file, none), Some(expected));
        }
    }
}

#[test]
fn too_little_data_is_rejected_before_inflation() {
    let file = file_with_stream(ihdr_chunk(10_000, 10_000, 8, 0, 0), &compress_to_zlib(&[0; 1000]));
    let fault = decode(&file, &Options::default()).expect_err("a fault");
    assert_eq!(fault.kind, ImageFaultKind::Truncated);
    assert!(fault.expected.contains("compressed data for 100010000 bytes"), "{fault}");
}

#[test]
fn image_exactly_at_limits_is_accepted() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let file = image.file(&[]);
    let rows = 61 * 10;
    let allowed = Limits { max_pixels: 200, max_bytes: rows };
    assert_eq!(fault_with_limits(&file, allowed), None);
    assert_eq!(fault_with_limits(&file, Limits { max_pixels: 199, ..allowed }), Some(ImageFaultKind::LimitExceeded));
    assert_eq!(
        fault_with_limits(&file, Limits { max_bytes: rows - 1, ..allowed }),
        Some(ImageFaultKind::LimitExceeded)
    );
    let options = Options { channels: Channels::Rgba, limits: allowed, ..Options::default() };
    assert_eq!(decode(&file, &options).map_err(|fault| fault.kind), Err(ImageFaultKind::LimitExceeded));
}

#[test]
fn data_after_rows_is_ignored_but_decompression_bomb_is_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let intact = decode(&image.file(&[]), &Options::default());
    let raw = image.filtered_rows(|_| 1);
    for extra in [1, 61, 65_536] {
        let longer = [&raw[..], &vec![9; extra]].concat();
        assert_eq!(
            decode(&file_with_stream(image.ihdr_chunk(), &compress_to_zlib(&longer)), &Options::default()),
            intact,
            "{extra}"
        );
    }
    let bomb = [&raw[..], &vec![0; 50_000_000]].concat();
    assert_eq!(
        fault_kind(&file_with_stream(image.ihdr_chunk(), &compress_to_zlib(&bomb))),
        ImageFaultKind::BadCompression
    );
    let trailing = [compress_to_zlib(&raw), b"more".to_vec()].concat();
    assert_eq!(decode(&file_with_stream(image.ihdr_chunk(), &trailing), &Options::default()), intact);
}

#[test]
fn stream_shorter_than_rows_is_truncated() {
    for interlaced in [false, true] {
        let mut image = Image::noise(20, 10, 2, 8, 3);
        image.interlaced = interlaced;
        let raw = image.filtered_rows(|_| 1);
        for missing in [1, 61, raw.len()] {
            let stream = compress_to_zlib(&raw[..raw.len() - missing]);
            assert_eq!(fault_kind(&file_with_stream(image.ihdr_chunk(), &stream)), ImageFaultKind::Truncated);
        }
    }
}

#[test]
fn invalid_zlib_header_is_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    let stream = compress_to_zlib(&image.filtered_rows(|_| 1));
    for head in [[0x79, 0x9c], [0x78, 0xbb], [0x88, 0x1c], [0x77, 0x0a]] {
        let file = file_with_stream(image.ihdr_chunk(), &[&head[..], &stream[2..]].concat());
        assert_eq!(fault_kind(&file), ImageFaultKind::BadCompression);
        let without_checksums = Options { checksums: false, ..Options::default() };
        assert_eq!(decode(&file, &without_checksums).map_err(|fault| fault.kind), Err(ImageFaultKind::BadCompression));
    }
}

#[test]
fn unknown_filter_is_rejected() {
    let image = Image::noise(20, 10, 2, 8, 3);
    for row in [0, 9] {
        let mut raw = image.filtered_rows(|_| 4);
        raw[row * 61] = 5;
        assert_eq!(fault_kind(&file_with_stream(image.ihdr_chunk(), &compress_to_zlib(&raw))), ImageFaultKind::BadCode);
    }
}
