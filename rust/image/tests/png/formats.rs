//! Tests of every color type, bit depth, filter, interlacing and small size against the stored samples and the `png`
//! crate.
use crate::encoder::{COMBINATIONS, Image, samples_per_pixel};
use crate::{decode, samples_as_u16};
use recordmill_image::png::{Channels, ColorType, Header, Options, Palette};
use std::io::Cursor;

/// Returns the samples that decoding an image without palette must give; gray of fewer than 8 bits is scaled to 8 bits.
fn expected_samples(image: &Image) -> Vec<u16> {
    let top = u16::MAX >> (16 - image.depth);
    let scale = if image.depth < 8 && image.color == 0 { 255 / top } else { 1 };
    image.samples.iter().map(|sample| sample * scale).collect()
}

fn assert_decodes_to_stored(image: &Image, file: &[u8], what: &str) {
    let options = Options { palette: Palette::Indices, ..Options::default() };
    let pixels = decode(file, &options).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    assert_eq!((pixels.size.width, pixels.size.height), (image.width, image.height), "{what}");
    assert_eq!(pixels.channels, samples_per_pixel(image.color), "{what}");
    assert_eq!(samples_as_u16(&pixels), expected_samples(image), "{what}");
}

/// Decodes a file with the `png` crate, which expands palettes, low bit depths and transparency.
fn decode_with_png_crate(file: &[u8]) -> (Vec<u16>, png::ColorType) {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a header");
    let mut out = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut out).expect("an image");
    out.truncate(info.buffer_size());
    let samples = match info.bit_depth {
        png::BitDepth::Sixteen => out.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect(),
        _ => out.iter().map(|&sample| sample.into()).collect(),
    };
    (samples, info.color_type)
}

fn assert_equals_png_crate(file: &[u8], what: &str) {
    let (expected, color) = decode_with_png_crate(file);
    let channels = match color {
        png::ColorType::Grayscale => Channels::Gray,
        png::ColorType::GrayscaleAlpha => Channels::GrayAlpha,
        png::ColorType::Rgb => Channels::Rgb,
        _ => Channels::Rgba,
    };
    let pixels = decode(file, &Options { channels, ..Options::default() }).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(samples_as_u16(&pixels), expected, "{what}");
}

#[test]
fn every_format_with_mixed_filters_gives_stored_samples() {
    for (color, depth) in COMBINATIONS {
        for interlaced in [false, true] {
            for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 3), (5, 5), (8, 8), (17, 13), (33, 7)] {
                let mut image = Image::noise(width, height, color, depth, width as u64);
                image.interlaced = interlaced;
                let file = image.file(&image.palette_chunk(1));
                let what = format!("color {color}, {depth} bits, {width} x {height}, interlaced {interlaced}");
                assert_decodes_to_stored(&image, &file, &what);
                assert_equals_png_crate(&file, &what);
            }
        }
    }
}

#[test]
fn every_format_with_single_filter_gives_stored_samples() {
    for (color, depth) in COMBINATIONS {
        for filter in 0..5 {
            let image = Image::noise(67, 6, color, depth, 7);
            for image in [image.clone(), image.interlaced()] {
                let file = image.file_with_filters(&image.palette_chunk(2), |_| filter);
                assert_decodes_to_stored(&image, &file, &format!("color {color}, {depth} bits, filter {filter}"));
            }
        }
    }
}

#[test]
fn reused_decoder_keeps_no_state_between_images() {
    let mut decoder = recordmill_image::png::Decoder::new();
    for round in 0..3 {
        for (color, depth) in COMBINATIONS {
            let side = if round == 1 { 3 } else { 40 };
            let image = Image::noise(side, side, color, depth, round);
            let file = image.file(&image.palette_chunk(round));
            let options = Options { channels: Channels::Rgba, ..Options::default() };
            assert_eq!(decoder.decode(&file, &options), decode(&file, &options));
        }
    }
}

#[test]
fn transparency_as_alpha_equals_png_crate() {
    for (color, depth) in COMBINATIONS.into_iter().filter(|(color, _)| matches!(color, 0 | 2 | 3)) {
        let image = Image::noise(31, 9, color, depth, 3);
        let body = match color {
            3 => vec![7, 200],
            _ => image.samples[..samples_per_pixel(color)].iter().flat_map(|sample| sample.to_be_bytes()).collect(),
        };
        let before = [image.palette_chunk(4), vec![crate::encoder::make_chunk(b"tRNS", &body)]].concat();
        for image in [image.clone(), image.interlaced()] {
            assert_equals_png_crate(&image.file(&before), &format!("color {color}, {depth} bits"));
        }
    }
}

#[test]
fn parse_reads_all_header_fields() {
    let image = Image::noise(31, 9, 3, 4, 3).interlaced();
    let chunks = [image.palette_chunk(4), vec![crate::encoder::make_chunk(b"tRNS", &[9])]].concat();
    let header = Header::parse(&image.file(&chunks)).expect("a header");
    assert_eq!((header.size.width, header.size.height, header.bit_depth), (31, 9, 4));
    assert_eq!(header.color, ColorType::Palette);
    assert!(header.interlaced && header.transparency && header.orientation.is_none());
}
