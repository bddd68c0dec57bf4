//! Tests of channel and depth conversions against formulas for single pixels.
use crate::encoder::{COMBINATIONS, Image, make_chunk, samples_per_pixel};
use crate::{decode, fault_kind, samples_as_u16};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::png::{Channels, Depth, GrayRule, Options, Palette};

const TARGETS: [Channels; 6] =
    [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba, Channels::Bgr, Channels::Bgra];

/// Returns red, green, blue and alpha of a stored pixel, and their maximum value.
fn stored_color(image: &Image, palette: &[u8], pixel: &[u16]) -> ([u64; 4], u64) {
    let top = if image.depth == 16 { 65_535 } else { 255 };
    let scale = if image.color == 0 && image.depth < 8 { 255 / ((1 << image.depth) - 1) } else { 1 };
    let p: Vec<u64> = pixel.iter().map(|&sample| u64::from(sample) * scale).collect();
    let entry = |k: usize| u64::from(palette[pixel[0] as usize * 3 + k]);
    let rgba = match image.color {
        0 => [p[0], p[0], p[0], top],
        2 => [p[0], p[1], p[2], top],
        3 => [entry(0), entry(1), entry(2), top],
        4 => [p[0], p[0], p[0], p[1]],
        _ => [p[0], p[1], p[2], p[3]],
    };
    (rgba, top)
}

/// Returns the gray level of a pixel by a conversion rule. Pixels that are stored as gray are unchanged.
fn expected_gray(rule: GrayRule, [r, g, b, _]: [u64; 4], top: u64, stored_gray: bool) -> u64 {
    match rule {
        _ if stored_gray => r,
        GrayRule::Pillow => (19_595 * r + 38_470 * g + 7_471 * b + 32_768) / 65_536,
        GrayRule::Libpng => (9_797 * r + 19_234 * g + 3_737 * b + if top == 255 { 0 } else { 16_384 }) / 32_768,
    }
}

fn expected_samples(image: &Image, palette: &[u8], options: &Options) -> Vec<u16> {
    let eight = |value: u64| if options.depth == Depth::Eight && image.depth == 16 { value >> 8 } else { value };
    let mut out = Vec::new();
    for pixel in image.samples.chunks(samples_per_pixel(image.color)) {
        let (rgba, top) = stored_color(image, palette, pixel);
        let stored_gray = matches!(image.color, 0 | 4);
        let narrow = rgba.map(eight);
        let level = match options.gray {
            GrayRule::Pillow => expected_gray(GrayRule::Pillow, narrow, top, stored_gray),
            GrayRule::Libpng => eight(expected_gray(GrayRule::Libpng, rgba, top, stored_gray)),
        };
        let [r, g, b, a] = narrow;
        let values: &[u64] = match options.channels {
            Channels::Gray => &[level],
            Channels::GrayAlpha => &[level, a],
            Channels::Rgb => &[r, g, b],
            Channels::Bgr => &[b, g, r],
            Channels::Bgra => &[b, g, r, a],
            _ => &[r, g, b, a],
        };
        out.extend(values.iter().map(|&value| value as u16));
    }
    out
}

#[test]
fn every_conversion_equals_its_formula() {
    for (color, depth) in COMBINATIONS {
        let image = Image::noise(37, 5, color, depth, 11);
        let before = image.palette_chunk(5);
        let palette: &[u8] = before.first().map_or(&[], |chunk| &chunk[8..chunk.len() - 4]);
        let file = image.file(&before);
        for channels in TARGETS {
            for (depth, gray) in [Depth::AsStored, Depth::Eight]
                .into_iter()
                .flat_map(|depth| [GrayRule::Pillow, GrayRule::Libpng].map(|gray| (depth, gray)))
            {
                let options = Options { channels, depth, gray, ..Options::default() };
                let pixels = decode(&file, &options).expect("an image");
                assert_eq!(
                    samples_as_u16(&pixels),
                    expected_samples(&image, palette, &options),
                    "color {color}, {options:?}"
                );
            }
        }
    }
}

#[test]
fn indices_beyond_palette_are_kept_and_as_colors_rejected() {
    for depth in [2, 8] {
        let mut image = Image::noise(30, 4, 3, depth, 6);
        image.samples[77] = 3;
        let file = image.file(&[make_chunk(b"PLTE", &[1; 9])]);
        let indices = Options { palette: Palette::Indices, ..Options::default() };
        assert_eq!(samples_as_u16(&decode(&file, &indices).expect("indices")), image.samples);
        assert_eq!(fault_kind(&file), ImageFaultKind::BadTable);
    }
}

#[test]
fn palette_indices_with_color_channels_are_bad_argument() {
    let image = Image::noise(3, 3, 3, 8, 6);
    let options = Options { palette: Palette::Indices, channels: Channels::Rgb, ..Options::default() };
    let fault = decode(&image.file(&image.palette_chunk(1)), &options).expect_err("a fault");
    assert_eq!(fault.kind, ImageFaultKind::BadArgument);
    let gray = Image::noise(3, 3, 0, 8, 6);
    assert_eq!(decode(&gray.file(&[]), &options).expect("gray as colors").channels, 3);
}

#[test]
fn libpng_gray_with_unsupported_gamma_is_rejected() {
    let options = Options { channels: Channels::Gray, gray: GrayRule::Libpng, ..Options::default() };
    let kind = |image: &Image, before: Vec<u8>| decode(&image.file(&[before]), &options).map_err(|fault| fault.kind);
    let (rgb, wide, gray) = (Image::noise(3, 3, 2, 8, 6), Image::noise(3, 3, 2, 16, 6), Image::noise(3, 3, 0, 16, 6));
    assert_eq!(kind(&rgb, make_chunk(b"iCCP", b"a\0\0")), Err(ImageFaultKind::Unsupported));
    assert_eq!(kind(&wide, make_chunk(b"sRGB", b"\0")), Err(ImageFaultKind::Unsupported));
    assert!(kind(&wide, make_chunk(b"gAMA", &100_000u32.to_be_bytes())).is_ok());
    assert!(kind(&gray, make_chunk(b"sRGB", b"\0")).is_ok());
}

#[test]
fn gamma_out_of_range_or_after_palette_is_ignored() {
    let options = Options { channels: Channels::Gray, gray: GrayRule::Libpng, ..Options::default() };
    let gamma = |value: u32| make_chunk(b"gAMA", &value.to_be_bytes());
    let rgb = Image::noise(20, 3, 2, 8, 6);
    let plain = decode(&rgb.file(&[]), &options);
    assert_eq!(decode(&rgb.file(&[gamma(15)]), &options), plain);
    let linear = decode(&rgb.file(&[gamma(30_000)]), &options);
    assert_ne!(linear, plain);
    assert_eq!(decode(&rgb.file(&[make_chunk(b"PLTE", b"1234"), gamma(30_000)]), &options), linear);
    assert_eq!(decode(&rgb.file(&[make_chunk(b"PLTE", b"123"), gamma(30_000)]), &options), plain);
    let indexed = Image::noise(20, 3, 3, 4, 6);
    let palette = indexed.palette_chunk(1).concat();
    let after = indexed.file(&[palette.clone(), gamma(30_000)]);
    assert_eq!(decode(&after, &options), decode(&indexed.file(&[palette]), &options));
}

#[test]
fn classes_option_gives_stored_values_and_rejects_colors() {
    let options = Options { palette: Palette::Classes, ..Options::default() };
    for (color, depth) in [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (3, 1), (3, 4), (3, 8)] {
        let image = Image::noise(13, 5, color, depth, 3);
        let before = if color == 3 { image.palette_chunk(1) } else { Vec::new() };
        let pixels = decode(&image.file(&before), &options).expect("classes");
        assert_eq!((pixels.channels, samples_as_u16(&pixels)), (1, image.samples.clone()), "{color} {depth}");
    }
    for color in [2, 4, 6] {
        let image = Image::noise(3, 3, color, 8, 3);
        assert_eq!(decode(&image.file(&[]), &options).map_err(|fault| fault.kind), Err(ImageFaultKind::Unsupported));
    }
}

#[test]
fn depth_only_eight_rejects_16_bit_image() {
    let options = Options { depth: Depth::OnlyEight, ..Options::default() };
    let decoded = |depth| decode(&Image::noise(3, 3, 0, depth, 3).file(&[]), &options).map_err(|fault| fault.kind);
    assert_eq!(decoded(16), Err(ImageFaultKind::Unsupported));
    assert!(decoded(8).is_ok());
}

#[test]
fn transparent_color_becomes_alpha_with_transparency() {
    let options = Options { channels: Channels::WithTransparency, ..Options::default() };
    for (color, length, channels) in [(0, 2, 2), (2, 6, 4)] {
        let image = Image::noise(5, 4, color, 8, 3);
        let file = image.file(&[make_chunk(b"tRNS", &vec![0; length])]);
        assert_eq!(decode(&file, &options).expect("an image").channels, channels);
        assert_eq!(decode(&image.file(&[]), &options).expect("an image").channels, channels - 1);
    }
}
