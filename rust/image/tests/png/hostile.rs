//! Tests with damaged files: decoding gives an error or the correct pixels for any truncation or change.
use crate::encoder::{COMBINATIONS, Image, Noise, compress_to_zlib, join_chunks, make_chunk};
use crate::{decode, fault_kind};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::png::{Channels, Decoder, Depth, GrayRule, Header, Limits, Options, Palette};

const WITHOUT_CHECKSUMS: Options = Options {
    checksums: false,
    palette: Palette::Colors,
    channels: Channels::Rgba,
    depth: Depth::AsStored,
    gray: GrayRule::Pillow,
    limits: Limits { max_pixels: 1 << 20, max_bytes: 1 << 22 },
};

fn small_files() -> impl Iterator<Item = Vec<u8>> {
    COMBINATIONS.into_iter().flat_map(|(color, depth)| {
        let image = Image::noise(11, 7, color, depth, 8);
        [image.clone(), image.interlaced()].map(|image| image.file(&image.palette_chunk(3)))
    })
}

#[test]
fn file_cut_anywhere_is_truncated() {
    for file in small_files() {
        for length in 0..file.len() {
            assert_eq!(fault_kind(&file[..length]), ImageFaultKind::Truncated, "{length} of {} bytes", file.len());
            assert!(decode(&file[..length], &WITHOUT_CHECKSUMS).is_err() && Header::parse(&file[..length]).is_err());
        }
    }
}

/// Every byte is covered by a checksum or is part of one, except the lengths and the signature, which are checked
/// themselves.
#[test]
fn any_flipped_bit_is_detected() {
    for file in small_files() {
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged, &Options::default()).is_err(), "bit {bit}");
            let _ = decode(&damaged, &WITHOUT_CHECKSUMS);
        }
    }
}

/// The CRCs match the damaged data, so that only the format rules themselves can detect the damage.
#[test]
fn damaged_content_with_correct_crc_never_panics() {
    let mut noise = Noise::new(5);
    for (color, depth) in COMBINATIONS {
        for round in 0..300 {
            let mut image = Image::noise(11, 7, color, depth, round);
            image.interlaced = round % 2 == 1;
            let mut header = image.ihdr_chunk()[8..21].to_vec();
            let mut stream = compress_to_zlib(&image.filtered_rows(|row| (row % 5) as u8));
            for _ in 0..1 + noise.below(3) {
                let target = if noise.below(3) == 0 { &mut header } else { &mut stream };
                let at = noise.below(target.len() as u64) as usize;
                target[at] = noise.below(256) as u8;
            }
            let chunks = [make_chunk(b"IHDR", &header), image.palette_chunk(1).concat(), make_chunk(b"IDAT", &stream)];
            let file = join_chunks(&[&chunks[..], &[make_chunk(b"IEND", b"")]].concat());
            let _ = decode(&file, &WITHOUT_CHECKSUMS);
            let _ = decode(&file, &Options { limits: WITHOUT_CHECKSUMS.limits, ..Options::default() });
        }
    }
}

#[test]
fn bytes_that_are_not_an_image_are_rejected() {
    let mut noise = Noise::new(9);
    for length in 0..200 {
        let junk: Vec<u8> = (0..length).map(|_| noise.below(256) as u8).collect();
        assert!(decode(&junk, &Options::default()).is_err());
        assert!(decode(&[b"\x89PNG\r\n\x1a\n", &junk[..]].concat(), &Options::default()).is_err());
    }
}

#[test]
fn decoder_decodes_correctly_after_failed_image() {
    let mut decoder = Decoder::new();
    for file in small_files() {
        let intact = decode(&file, &WITHOUT_CHECKSUMS);
        let mut noise = Noise::new(file.len() as u64);
        for _ in 0..50 {
            let mut damaged = file.clone();
            damaged[noise.below(file.len() as u64) as usize] ^= 0x55;
            let _ = decoder.decode(&damaged, &WITHOUT_CHECKSUMS);
            assert_eq!(decoder.decode(&file, &WITHOUT_CHECKSUMS), intact);
        }
    }
}
