//! Tests of the encoder against the `png` crate, and of recoding.
use crate::encoder::{COMBINATIONS, Image, Noise, make_chunk, samples_per_pixel};
use crate::{decode, samples_as_u16};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::pixels::Size;
use recordmill_image::png::{Channels, Decoder, Encoder, Limits, Options, RecodeOptions, Recoder};
use std::io::Cursor;

fn encode(pixels: &[u8], width: usize, height: usize, channels: usize) -> Result<Vec<u8>, ImageFaultKind> {
    let mut out = Vec::new();
    let result = Encoder::default().encode(pixels, Size { width, height }, channels, &mut out);
    result.map(|()| out).map_err(|fault| fault.kind)
}

fn recode(file: &[u8], channels: Channels, upright: bool) -> Result<Vec<u8>, ImageFaultKind> {
    let (mut decoder, mut encoder) = (Decoder::new(), Encoder::default());
    let mut recoder = Recoder { decoder: &mut decoder, encoder: &mut encoder, pixels: &mut Vec::new() };
    let options = RecodeOptions { channels, upright, limits: Limits { max_pixels: 300, ..Limits::default() } };
    let mut out = b"before".to_vec();
    let result = recoder.recode(file, options, &mut out).map_err(|fault| fault.kind);
    assert_eq!(&out[..6], b"before");
    assert_eq!(result.is_ok(), out.len() > 6);
    result.map(|_| out.split_off(6))
}

/// Decodes a file with the `png` crate, which verifies all checksums. Returns samples, width, height and channels.
fn decode_with_png_crate(file: &[u8]) -> (Vec<u8>, u32, u32, usize) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a header");
    let mut out = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut out).expect("an image");
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    reader.finish().expect("an end");
    out.truncate(info.buffer_size());
    (out, info.width, info.height, info.color_type.samples())
}

/// Returns an image with regions that suit each of the filters: noise, flat areas, and ramps in each direction.
fn test_image(width: usize, height: usize, channels: usize) -> Vec<u8> {
    let mut noise = Noise::new((width * 31 + height) as u64);
    let value = |row: usize, column: usize, noise: &mut Noise| match row * 5 / height {
        0 => noise.below(256) as usize,
        1 => 77,
        2 => column * 9,
        3 => row * 13,
        _ => column * 3 + row * 5,
    };
    let positions = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
    positions
        .flat_map(|(row, column)| (0..channels).map(|_| value(row, column, &mut noise) as u8).collect::<Vec<_>>())
        .collect()
}

#[test]
fn encoded_file_of_any_channels_and_size_has_the_given_samples() {
    for channels in 1..=4 {
        for (width, height) in [(1, 1), (1, 7), (9, 1), (2, 3), (28, 28), (65, 40), (300, 5)] {
            let pixels = test_image(width, height, channels);
            let file = encode(&pixels, width, height, channels).expect("a file");
            assert_eq!(
                decode_with_png_crate(&file),
                (pixels.clone(), width as u32, height as u32, channels),
                "{width} x {height}"
            );
            let found = decode(&file, &Options::default()).expect("pixels");
            assert_eq!(samples_as_u16(&found), pixels.iter().map(|&sample| sample.into()).collect::<Vec<u16>>());
        }
    }
}

#[test]
fn filters_make_smooth_image_small() {
    let ramp: Vec<u8> = (0..64 * 64).map(|at| (at / 64 * 3 + at % 64 * 2) as u8).collect();
    assert!(encode(&ramp, 64, 64, 1).expect("a file").len() < ramp.len() / 10);
}

#[test]
fn encoder_rejects_invalid_size_and_sample_count() {
    for (count, width, height, channels) in [
        (12, 2, 2, 5),
        (12, 2, 2, 0),
        (11, 2, 2, 3),
        (0, 0, 2, 1),
        (0, 2, 0, 1),
        (4, usize::MAX, 2, 2),
        (8, 1 << 31, 1, 1),
    ] {
        assert_eq!(encode(&vec![0; count], width, height, channels), Err(ImageFaultKind::BadArgument));
    }
}

#[test]
fn recoded_file_has_decoded_pixels_or_is_unsupported() {
    let requests = [(Channels::AsStored, None), (Channels::Gray, Some(1)), (Channels::Rgb, Some(3))];
    for (color, depth) in COMBINATIONS {
        for ((requested, count), interlaced) in requests.into_iter().flat_map(|one| [(one, false), (one, true)]) {
            let mut image = Image::noise(17, 13, color, depth, 5);
            image.interlaced = interlaced;
            let file = image.file(&image.palette_chunk(1));
            let result = recode(&file, requested, true);
            if depth == 16 || (count.is_none() && (depth < 8 || color == 3)) {
                assert_eq!(result, Err(ImageFaultKind::Unsupported), "color {color}, {depth} bits");
                continue;
            }
            let expected = decode(&file, &Options { channels: requested, ..Options::default() }).expect("pixels");
            let (found, width, height, found_channels) = decode_with_png_crate(&result.expect("a file"));
            assert_eq!(found.into_iter().map(u16::from).collect::<Vec<_>>(), samples_as_u16(&expected));
            assert_eq!((width, height, found_channels), (17, 13, count.unwrap_or(samples_per_pixel(color))));
        }
    }
}

#[test]
fn recoding_rejects_files_with_information_beyond_pixels() {
    let image = Image::noise(4, 4, 2, 8, 3);
    let with = |kind: &[u8; 4], body: &[u8]| image.file(&[make_chunk(kind, body)]);
    assert!(recode(&with(b"gAMA", &45_455_u32.to_be_bytes()), Channels::Rgb, true).is_ok());
    for kind in [b"iCCP", b"acTL", b"cICP", b"prIv"] {
        assert_eq!(recode(&with(kind, b"anything"), Channels::Rgb, false), Err(ImageFaultKind::Unsupported));
    }
    assert_eq!(recode(&with(b"tRNS", &[0; 6]), Channels::Rgb, false), Err(ImageFaultKind::Unsupported));
    for kind in [b"eXIf", b"tEXt", b"zTXt", b"iTXt"] {
        assert!(recode(&with(kind, b"anything"), Channels::Rgb, false).is_ok());
        assert_eq!(recode(&with(kind, b"anything"), Channels::Rgb, true), Err(ImageFaultKind::Unsupported));
    }
}

#[test]
fn recoding_damaged_or_large_file_keeps_output() {
    let file = Image::noise(9, 9, 2, 8, 3).file(&[]);
    for length in 0..file.len() {
        assert!(recode(&file[..length], Channels::Rgb, false).is_err(), "{length} bytes");
    }
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        let _ = recode(&damaged, Channels::Rgb, false);
    }
    let large = Image::noise(20, 16, 2, 8, 3).file(&[]);
    assert_eq!(recode(&large, Channels::Rgb, false), Err(ImageFaultKind::LimitExceeded));
}
