//! Tests of the chunk structure: order, length, repetition and damage of chunks.
use crate::encoder::{Image, assemble, chunk, compress};
use crate::{decode, fault};
use recordmill_image::fault::ImageFaultKind::{self, *};
use recordmill_image::pixels::Pixels;
use recordmill_image::png::{Header, Options};

fn image() -> Image {
    Image::noise(9, 7, 2, 8, 1)
}

fn stream() -> Vec<u8> {
    compress(&image().raw(|row| (row % 5) as u8))
}

/// Returns a file with a valid header, followed by `chunks`.
fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    assemble(&[&[image().header()], chunks].concat())
}

fn data(body: &[u8]) -> Vec<u8> {
    chunk(b"IDAT", body)
}

fn end() -> Vec<u8> {
    chunk(b"IEND", b"")
}

fn intact_pixels() -> Pixels {
    decode(&image().file(&[]), &Options::default()).expect("a valid image")
}

fn assert_accepted(chunks: &[Vec<u8>]) {
    assert_eq!(decode(&file(chunks), &Options::default()), Ok(intact_pixels()));
}

fn assert_rejected(file: &[u8], kind: ImageFaultKind) {
    assert_eq!(fault(file), kind);
}

/// Returns a file with one byte of the header changed.
fn changed(index: usize, value: u8) -> Vec<u8> {
    let mut body = image().header()[8..21].to_vec();
    body[index] = value;
    assemble(&[chunk(b"IHDR", &body), data(&stream()), end()])
}

#[test]
fn idat_chunks_form_one_stream_however_it_is_split() {
    let stream = stream();
    let bytes: Vec<_> = stream.iter().map(|byte| data(&[*byte])).collect();
    assert_accepted(&[&bytes[..], &[end()]].concat());
    let (head, tail) = stream.split_at(9);
    assert_accepted(&[data(b""), data(head), data(b""), data(tail), data(b""), end()]);
    assert_accepted(&[data(b""), data(&stream), data(b""), end()]);
}

#[test]
fn interrupted_idat_chunks_are_rejected() {
    let (head, tail) = (data(&stream()[..9]), data(&stream()[9..]));
    let text = chunk(b"tEXt", b"a\0b");
    assert_rejected(&file(&[head, text.clone(), tail, end()]), BadChunk);
    assert_rejected(&file(&[data(&stream()), text, data(&stream()), end()]), BadChunk);
}

#[test]
fn missing_or_empty_image_data_is_rejected() {
    assert_rejected(&file(&[end()]), BadChunk);
    assert_rejected(&file(&[data(b""), end()]), Truncated);
    assert_rejected(&file(&[data(&stream()[..20]), end()]), BadCompression);
}

#[test]
fn unknown_ancillary_chunks_are_skipped_and_critical_ones_rejected() {
    let (known, unknown) = (chunk(b"abCd", b"12"), chunk(b"ABCD", b"12"));
    assert_accepted(&[known.clone(), data(&stream()), known, end()]);
    assert_rejected(&file(&[unknown.clone(), data(&stream()), end()]), BadChunk);
    assert_rejected(&file(&[data(&stream()), unknown, end()]), BadChunk);
    assert_rejected(&file(&[chunk(b"a1Cd", b""), data(&stream()), end()]), BadChunk);
}

#[test]
fn missing_end_is_rejected_and_data_after_end_ignored() {
    assert_rejected(&file(&[data(&stream())]), Truncated);
    assert_rejected(&file(&[data(&stream()), end()[..7].to_vec()]), Truncated);
    assert_accepted(&[data(&stream()), end(), b"more".to_vec()]);
}

#[test]
fn invalid_header_is_rejected() {
    for (index, value, kind) in [
        (3, 0, BadDimensions),
        (0, 0x80, BadDimensions),
        (8, 3, BadChunk),
        (8, 4, BadChunk),
        (9, 1, BadChunk),
        (9, 7, BadChunk),
        (10, 1, BadChunk),
        (11, 64, BadChunk),
        (12, 2, BadChunk),
    ] {
        assert_rejected(&changed(index, value), kind);
    }
    let long = chunk(b"IHDR", &[&image().header()[8..21], b"x"].concat());
    assert_rejected(&assemble(&[long, data(&stream()), end()]), BadChunk);
    assert_rejected(&assemble(&[chunk(b"tEXt", b"a\0b"), image().header(), data(&stream()), end()]), BadChunk);
    assert_rejected(&file(&[image().header(), data(&stream()), end()]), BadChunk);
    assert_rejected(b"\x89PNG\r\n\x1a\r", BadMarker);
    assert_rejected(b"\x89PNG", Truncated);
}

#[test]
fn chunk_with_false_length_is_rejected() {
    for (length, kind) in [(0x8000_0000u32, BadChunk), (0x7fff_ffff, Truncated), (2000, Truncated)] {
        let body = [&length.to_be_bytes()[..], b"tEXt", b"abc"].concat();
        assert_rejected(&file(&[body, data(&stream()), end()]), kind);
    }
}

#[test]
fn missing_repeated_or_invalid_palette_is_rejected() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let entries = |count: usize| chunk(b"PLTE", &vec![7; count]);
    for (before, kind) in [
        (vec![], BadTable),
        (vec![entries(0)], BadTable),
        (vec![entries(767)], BadTable),
        (vec![entries(771)], BadTable),
        (vec![entries(768), entries(768)], BadChunk),
    ] {
        assert_rejected(&image.file(&before), kind);
    }
    let small = Image::noise(9, 7, 3, 2, 1);
    assert!(decode(&small.file(&[entries(24)]), &Options::default()).is_ok());
}

#[test]
fn suggested_palette_of_truecolor_image_is_ignored() {
    let advice = chunk(b"PLTE", &[1; 6]);
    assert_accepted(&[advice.clone(), data(&stream()), end()]);
    assert_accepted(&[data(&stream()), advice.clone(), end()]);
    assert_accepted(&[chunk(b"PLTE", b"12345"), advice.clone(), data(&stream()), end()]);
    assert_rejected(&file(&[advice.clone(), advice, data(&stream()), end()]), BadChunk);
}

#[test]
fn misplaced_or_invalid_transparency_is_rejected() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let (palette, alpha) = (image.palette(1).concat(), |count: usize| chunk(b"tRNS", &vec![7; count]));
    for before in [
        vec![alpha(3), palette.clone()],
        vec![palette.clone(), alpha(0)],
        vec![palette.clone(), alpha(257)],
        vec![palette.clone(), alpha(3), alpha(3)],
    ] {
        assert_rejected(&image.file(&before), BadChunk);
    }
    assert_rejected(&file(&[alpha(5), data(&stream()), end()]), BadChunk);
    assert_rejected(&file(&[data(&stream()), alpha(6), end()]), BadChunk);
    let with_alpha = Image::noise(9, 7, 6, 8, 1);
    assert_eq!(
        decode(&with_alpha.file(&[alpha(6)]), &Options::default()),
        decode(&with_alpha.file(&[]), &Options::default())
    );
}

#[test]
fn wrong_crc_is_rejected_unless_checksums_are_off() {
    let without_checksums = Options { checksums: false, ..Options::default() };
    let text = chunk(b"tEXt", b"a\0b");
    let all = [image().header(), text.clone(), data(&stream()), text, end()];
    for damaged in 0..all.len() {
        let mut chunks = all.clone();
        *chunks[damaged].last_mut().expect("a check value") ^= 1;
        let file = assemble(&chunks);
        assert_rejected(&file, BadChecksum);
        assert_eq!(decode(&file, &without_checksums), Ok(intact_pixels()));
    }
}

#[test]
fn wrong_adler_is_rejected_unless_checksums_are_off() {
    let without_checksums = Options { checksums: false, ..Options::default() };
    let mut stream = stream();
    *stream.last_mut().expect("a check value") ^= 1;
    let file = file(&[data(&stream), end()]);
    assert_rejected(&file, BadChecksum);
    assert_eq!(decode(&file, &without_checksums), Ok(intact_pixels()));
}

#[test]
fn header_contains_orientation_of_either_byte_order() {
    let little = b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let big = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0";
    for (body, expected) in
        [(&little[..], Some(6)), (&big[..], Some(8)), (&big[..19], None), (b"II\x2a\0\xff\xff\xff\xff", None)]
    {
        let exif = chunk(b"eXIf", body);
        for chunks in [[exif.clone(), data(&stream())], [data(&stream()), exif.clone()]] {
            let header = Header::parse(&file(&[&chunks[..], &[end()]].concat())).expect("a header");
            assert_eq!(header.orientation, expected);
        }
    }
}
