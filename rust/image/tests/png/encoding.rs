//! Files that the encoder makes, read by the `png` crate; and files made of other files.
use crate::encoder::{COMBINATIONS, Image, Noise, channels, chunk};
use crate::{decode, samples};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::pixels::Size;
use recordmill_image::png::{Channels, Decoder, Encoder, Limits, Options, Recoder, Wanted};
use std::io::Cursor;

fn encode(pixels: &[u8], width: usize, height: usize, channels: usize) -> Result<Vec<u8>, ImageFaultKind> {
    let mut out = Vec::new();
    let made = Encoder::default().encode(pixels, Size { width, height }, channels, &mut out);
    made.map(|()| out).map_err(|fault| fault.kind)
}

fn recode(file: &[u8], channels: Channels, upright: bool) -> Result<Vec<u8>, ImageFaultKind> {
    let (mut decoder, mut encoder) = (Decoder::new(), Encoder::default());
    let mut recoder = Recoder { decoder: &mut decoder, encoder: &mut encoder, pixels: &mut Vec::new() };
    let wanted = Wanted { channels, upright, limits: Limits { max_pixels: 300, ..Limits::default() } };
    let mut out = b"before".to_vec();
    let made = recoder.recode(file, wanted, &mut out).map_err(|fault| fault.kind);
    assert_eq!(&out[..6], b"before");
    assert_eq!(made.is_ok(), out.len() > 6);
    made.map(|_| out.split_off(6))
}

/// What the `png` crate, which checks all check values, makes of a file: samples, width, height, samples of a pixel.
fn judged(file: &[u8]) -> (Vec<u8>, u32, u32, usize) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a header");
    let mut out = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut out).expect("an image");
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    reader.finish().expect("an end");
    out.truncate(info.buffer_size());
    (out, info.width, info.height, info.color_type.samples())
}

/// Pixels that each of the filters suits somewhere: noise, flat parts, ramps each way.
fn picture(width: usize, height: usize, channels: usize) -> Vec<u8> {
    let mut noise = Noise::new((width * 31 + height) as u64);
    let value = |row: usize, column: usize, noise: &mut Noise| match row * 5 / height {
        0 => noise.below(256) as usize,
        1 => 77,
        2 => column * 9,
        3 => row * 13,
        _ => column * 3 + row * 5,
    };
    let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
    places
        .flat_map(|(row, column)| (0..channels).map(|_| value(row, column, &mut noise) as u8).collect::<Vec<_>>())
        .collect()
}

#[test]
fn encoder_when_given_any_channels_and_sizes_then_others_read_the_same_samples() {
    for channels in 1..=4 {
        for (width, height) in [(1, 1), (1, 7), (9, 1), (2, 3), (28, 28), (65, 40), (300, 5)] {
            let pixels = picture(width, height, channels);
            let file = encode(&pixels, width, height, channels).expect("a file");
            assert_eq!(judged(&file), (pixels.clone(), width as u32, height as u32, channels), "{width} x {height}");
            let found = decode(&file, &Options::default()).expect("pixels");
            assert_eq!(samples(&found), pixels.iter().map(|&sample| sample.into()).collect::<Vec<u16>>());
        }
    }
}

#[test]
fn encoder_when_pictures_are_smooth_then_filters_make_the_file_small() {
    let ramp: Vec<u8> = (0..64 * 64).map(|at| (at / 64 * 3 + at % 64 * 2) as u8).collect();
    assert!(encode(&ramp, 64, 64, 1).expect("a file").len() < ramp.len() / 10);
}

#[test]
fn encoder_when_sizes_and_samples_disagree_then_refuses() {
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
fn every_kind_when_recoded_then_has_the_pixels_of_decoding_or_is_left_to_others() {
    let wanted = [(Channels::AsStored, None), (Channels::Gray, Some(1)), (Channels::Rgb, Some(3))];
    for (color, depth) in COMBINATIONS {
        for ((channels_wanted, count), interlaced) in wanted.into_iter().flat_map(|one| [(one, false), (one, true)]) {
            let mut image = Image::noise(17, 13, color, depth, 5);
            image.interlaced = interlaced;
            let file = image.file(&image.palette(1));
            let made = recode(&file, channels_wanted, true);
            if depth == 16 || (count.is_none() && (depth < 8 || color == 3)) {
                assert_eq!(made, Err(ImageFaultKind::Unsupported), "color {color}, {depth} bits");
                continue;
            }
            let expected = decode(&file, &Options { channels: channels_wanted, ..Options::default() }).expect("pixels");
            let (found, width, height, found_channels) = judged(&made.expect("a file"));
            assert_eq!(found.into_iter().map(u16::from).collect::<Vec<_>>(), samples(&expected));
            assert_eq!((width, height, found_channels), (17, 13, count.unwrap_or(channels(color))));
        }
    }
}

#[test]
fn files_when_they_hold_more_than_pixels_then_are_left_to_others() {
    let image = Image::noise(4, 4, 2, 8, 3);
    let with = |kind: &[u8; 4], body: &[u8]| image.file(&[chunk(kind, body)]);
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
fn files_when_damaged_or_too_large_then_leave_the_output_as_it_was() {
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
