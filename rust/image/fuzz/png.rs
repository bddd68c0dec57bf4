//! Fuzzes PNG decoding with arbitrary files, and with arbitrary pixels in a valid file. Decoding must not panic, must
//! do bounded work, and must give the pixels of the `png` crate.
#[path = "../tests/png/encoder.rs"]
#[allow(dead_code)]
mod encoder;

use encoder::{COMBINATIONS, Image, make_chunk, samples_per_pixel};
use recordmill_image::pixels::{Pixels, Samples};
use recordmill_image::png::{Channels, Decoder, Depth, GrayRule, Header, Limits, Options, Palette};
use std::io::Cursor;

const LIMITS: Limits = Limits { max_pixels: 1 << 18, max_bytes: 1 << 21 };
const LENIENT: Options = Options {
    palette: Palette::Colors,
    channels: Channels::AsStored,
    depth: Depth::AsStored,
    gray: GrayRule::Pillow,
    checksums: false,
    limits: LIMITS,
};

/// Returns whether the transparent color of a file has bits above the bit depth. The specification ignores such bits,
/// but the `png` crate compares them.
fn has_key_beyond_bit_depth(info: &png::Info) -> bool {
    let key = info.trns.as_deref().filter(|_| info.color_type != png::ColorType::Indexed);
    let depth = info.bit_depth as u8;
    depth < 8 && key.is_some_and(|key| key.iter().any(|byte| byte >> depth != 0))
}

/// Returns samples and channels as expanded by the `png` crate, if it accepts the file.
fn decode_with_png_crate(file: &[u8]) -> Option<(Vec<u16>, Channels)> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    decoder.ignore_checksums(true);
    let mut reader = decoder.read_info().ok()?;
    if has_key_beyond_bit_depth(reader.info()) {
        return None;
    }
    let mut out = vec![0; reader.output_buffer_size().filter(|&length| length <= 1 << 22)?];
    let info = reader.next_frame(&mut out).ok()?;
    out.truncate(info.buffer_size());
    let samples = match info.bit_depth {
        png::BitDepth::Sixteen => out.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
        _ => out.iter().map(|&sample| sample.into()).collect(),
    };
    let channels = match info.color_type {
        png::ColorType::Grayscale => Channels::Gray,
        png::ColorType::GrayscaleAlpha => Channels::GrayAlpha,
        png::ColorType::Rgb => Channels::Rgb,
        _ => Channels::Rgba,
    };
    Some((samples, channels))
}

fn samples_as_u16(pixels: &Pixels) -> Vec<u16> {
    match &pixels.samples {
        Samples::U8(samples) => samples.iter().map(|&sample| sample.into()).collect(),
        Samples::U16(samples) => samples.clone(),
    }
}

/// Decodes with every combination of options: none may panic, and decoding into a caller's buffer must give the same
/// pixels.
fn decode_with_all_options(decoder: &mut Decoder, file: &[u8]) {
    let header = Header::parse(file);
    for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba, Channels::Bgr, Channels::Bgra]
    {
        for (gray, palette) in [(GrayRule::Pillow, Palette::Colors), (GrayRule::Libpng, Palette::Indices)] {
            let options = Options { channels, gray, palette, depth: Depth::Eight, ..LENIENT };
            let Ok(pixels) = decoder.decode(file, &options) else { continue };
            let header = header.as_ref().expect("a header, as there are pixels");
            let shape = options.shape(header).expect("a shape");
            let (row, stride) = (shape.row_samples(), shape.row_samples() + 5);
            let mut out = vec![0; stride * shape.size.height];
            decoder.decode_into(file, &options, &mut out, stride).expect("the same pixels");
            let rows: Vec<u8> = out.chunks(stride).flat_map(|line| &line[..row]).copied().collect();
            assert!(pixels.samples == Samples::U8(rows));
        }
    }
}

fn compare_with_png_crate(file: &[u8]) {
    let mut decoder = Decoder::new();
    let stored = decoder.decode(file, &LENIENT);
    decode_with_all_options(&mut decoder, file);
    if let (Ok(_), Some((expected, channels))) = (&stored, decode_with_png_crate(file)) {
        let ours = decoder.decode(file, &Options { channels, ..LENIENT }).expect("pixels, as there were some");
        assert!(samples_as_u16(&ours) == expected);
    }
    if let Ok(strict) = decoder.decode(file, &Options { checksums: true, ..LENIENT }) {
        assert!(stored.is_ok_and(|stored| stored == strict));
    }
}

/// Builds a file with the pixels, filters, palette and transparency that the input describes.
fn build_file(input: &[u8]) -> Option<Vec<u8>> {
    let (&[kind, width, height, entries, key, ref rest @ ..], interlaced) = (input, input.len() % 2 == 1) else {
        return None;
    };
    let (color, depth) = COMBINATIONS[usize::from(kind) % COMBINATIONS.len()];
    let (width, height) = (usize::from(width % 64) + 1, usize::from(height % 64) + 1);
    let byte = |k: usize| rest.get(k % rest.len().max(1)).copied().unwrap_or(0);
    let sample = |k: usize| u16::from_be_bytes([byte(k), byte(k + 1)]) >> (16 - depth);
    let samples = (0..width * height * samples_per_pixel(color)).map(sample).collect();
    let image = Image { width, height, color, depth, interlaced, samples };
    let mut before = vec![make_chunk(b"PLTE", &(0..3 * (usize::from(entries) + 1)).map(byte).collect::<Vec<_>>())];
    if key % 2 == 1 {
        let length = if color == 3 { usize::from(key) } else { 2 * samples_per_pixel(color) };
        before.push(make_chunk(b"tRNS", &(0..length).map(byte).collect::<Vec<_>>()));
    }
    Some(image.file_with_filters(&before, |row| byte(row * 7) % 5))
}

/// Checks one input of the fuzz target.
pub fn check_input(input: &[u8]) {
    match input.first() {
        Some(0x89) => compare_with_png_crate(input),
        _ => build_file(input).iter().for_each(|file| compare_with_png_crate(file)),
    }
}
