//! Which files are accepted: order, lengths, repetition and damage of chunks.
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

/// A sound header, then `chunks`.
fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    assemble(&[&[image().header()], chunks].concat())
}

fn data(body: &[u8]) -> Vec<u8> {
    chunk(b"IDAT", body)
}

fn end() -> Vec<u8> {
    chunk(b"IEND", b"")
}

fn sound() -> Pixels {
    decode(&image().file(&[]), &Options::default()).expect("a sound image")
}

fn assert_sound(chunks: &[Vec<u8>]) {
    assert_eq!(decode(&file(chunks), &Options::default()), Ok(sound()));
}

fn assert_refused(file: &[u8], kind: ImageFaultKind) {
    assert_eq!(fault(file), kind);
}

/// A header with another value in one place.
fn changed(place: usize, value: u8) -> Vec<u8> {
    let mut body = image().header()[8..21].to_vec();
    body[place] = value;
    assemble(&[chunk(b"IHDR", &body), data(&stream()), end()])
}

#[test]
fn image_data_when_split_anyhow_then_is_one_stream() {
    let stream = stream();
    let bytes: Vec<_> = stream.iter().map(|byte| data(&[*byte])).collect();
    assert_sound(&[&bytes[..], &[end()]].concat());
    let (head, tail) = stream.split_at(9);
    assert_sound(&[data(b""), data(head), data(b""), data(tail), data(b""), end()]);
    assert_sound(&[data(b""), data(&stream), data(b""), end()]);
}

#[test]
fn image_data_when_interrupted_then_is_refused() {
    let (head, tail) = (data(&stream()[..9]), data(&stream()[9..]));
    let text = chunk(b"tEXt", b"a\0b");
    assert_refused(&file(&[head, text.clone(), tail, end()]), BadChunk);
    assert_refused(&file(&[data(&stream()), text, data(&stream()), end()]), BadChunk);
}

#[test]
fn image_data_when_missing_or_empty_then_is_refused() {
    assert_refused(&file(&[end()]), BadChunk);
    assert_refused(&file(&[data(b""), end()]), Truncated);
    assert_refused(&file(&[data(&stream()[..20]), end()]), BadCompression);
}

#[test]
fn unknown_chunks_when_ancillary_then_are_skipped_and_when_critical_then_are_refused() {
    let (known, unknown) = (chunk(b"abCd", b"12"), chunk(b"ABCD", b"12"));
    assert_sound(&[known.clone(), data(&stream()), known, end()]);
    assert_refused(&file(&[unknown.clone(), data(&stream()), end()]), BadChunk);
    assert_refused(&file(&[data(&stream()), unknown, end()]), BadChunk);
    assert_refused(&file(&[chunk(b"a1Cd", b""), data(&stream()), end()]), BadChunk);
}

#[test]
fn end_when_missing_then_is_refused_and_when_followed_by_data_then_is_the_end() {
    assert_refused(&file(&[data(&stream())]), Truncated);
    assert_refused(&file(&[data(&stream()), end()[..7].to_vec()]), Truncated);
    assert_sound(&[data(&stream()), end(), b"more".to_vec()]);
}

#[test]
fn header_when_wrong_then_is_refused() {
    for (place, value, kind) in [
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
        assert_refused(&changed(place, value), kind);
    }
    let long = chunk(b"IHDR", &[&image().header()[8..21], b"x"].concat());
    assert_refused(&assemble(&[long, data(&stream()), end()]), BadChunk);
    assert_refused(&assemble(&[chunk(b"tEXt", b"a\0b"), image().header(), data(&stream()), end()]), BadChunk);
    assert_refused(&file(&[image().header(), data(&stream()), end()]), BadChunk);
    assert_refused(b"\x89PNG\r\n\x1a\r", BadMarker);
    assert_refused(b"\x89PNG", Truncated);
}

#[test]
fn chunk_when_its_length_lies_then_is_refused() {
    for (length, kind) in [(0x8000_0000u32, BadChunk), (0x7fff_ffff, Truncated), (2000, Truncated)] {
        let body = [&length.to_be_bytes()[..], b"tEXt", b"abc"].concat();
        assert_refused(&file(&[body, data(&stream()), end()]), kind);
    }
}

#[test]
fn palette_when_missing_repeated_or_of_a_wrong_length_then_is_refused() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let entries = |count: usize| chunk(b"PLTE", &vec![7; count]);
    for (before, kind) in [
        (vec![], BadTable),
        (vec![entries(0)], BadTable),
        (vec![entries(767)], BadTable),
        (vec![entries(771)], BadTable),
        (vec![entries(768), entries(768)], BadChunk),
    ] {
        assert_refused(&image.file(&before), kind);
    }
    let small = Image::noise(9, 7, 3, 2, 1);
    assert!(decode(&small.file(&[entries(24)]), &Options::default()).is_ok());
}

#[test]
fn palette_when_the_image_has_none_then_is_advice() {
    let advice = chunk(b"PLTE", &[1; 6]);
    assert_sound(&[advice.clone(), data(&stream()), end()]);
    assert_sound(&[data(&stream()), advice.clone(), end()]);
    assert_sound(&[chunk(b"PLTE", b"12345"), advice.clone(), data(&stream()), end()]);
    assert_refused(&file(&[advice.clone(), advice, data(&stream()), end()]), BadChunk);
}

#[test]
fn transparency_when_out_of_place_or_of_a_wrong_length_then_is_refused() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let (palette, alpha) = (image.palette(1).concat(), |count: usize| chunk(b"tRNS", &vec![7; count]));
    for before in [
        vec![alpha(3), palette.clone()],
        vec![palette.clone(), alpha(0)],
        vec![palette.clone(), alpha(257)],
        vec![palette.clone(), alpha(3), alpha(3)],
    ] {
        assert_refused(&image.file(&before), BadChunk);
    }
    assert_refused(&file(&[alpha(5), data(&stream()), end()]), BadChunk);
    assert_refused(&file(&[data(&stream()), alpha(6), end()]), BadChunk);
    let with_alpha = Image::noise(9, 7, 6, 8, 1);
    assert_eq!(
        decode(&with_alpha.file(&[alpha(6)]), &Options::default()),
        decode(&with_alpha.file(&[]), &Options::default())
    );
}

#[test]
fn check_value_when_wrong_then_is_refused_unless_checksums_are_off() {
    let careless = Options { checksums: false, ..Options::default() };
    let text = chunk(b"tEXt", b"a\0b");
    let all = [image().header(), text.clone(), data(&stream()), text, end()];
    for damaged in 0..all.len() {
        let mut chunks = all.clone();
        *chunks[damaged].last_mut().expect("a check value") ^= 1;
        let file = assemble(&chunks);
        assert_refused(&file, BadChecksum);
        assert_eq!(decode(&file, &careless), Ok(sound()));
    }
}

#[test]
fn adler_when_wrong_then_is_refused_unless_checksums_are_off() {
    let careless = Options { checksums: false, ..Options::default() };
    let mut stream = stream();
    *stream.last_mut().expect("a check value") ^= 1;
    let file = file(&[data(&stream), end()]);
    assert_refused(&file, BadChecksum);
    assert_eq!(decode(&file, &careless), Ok(sound()));
}

#[test]
fn orientation_when_stored_in_either_byte_order_then_is_in_the_header() {
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
