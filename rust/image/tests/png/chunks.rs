//! Tests of the chunk structure: order, length, repetition and damage of chunks.
use crate::encoder::{Image, compress_to_zlib, join_chunks, make_chunk};
use crate::{decode, fault_kind};
use recordmill_image::fault::ImageFaultKind::{self, *};
use recordmill_image::pixels::Pixels;
use recordmill_image::png::{Header, Options};

fn small_gray_image() -> Image {
    Image::noise(9, 7, 2, 8, 1)
}

fn compressed_rows() -> Vec<u8> {
    compress_to_zlib(&small_gray_image().filtered_rows(|row| (row % 5) as u8))
}

/// Returns a file with a valid header, followed by `chunks`.
fn file_with_chunks(chunks: &[Vec<u8>]) -> Vec<u8> {
    join_chunks(&[&[small_gray_image().ihdr_chunk()], chunks].concat())
}

fn idat_chunk(body: &[u8]) -> Vec<u8> {
    make_chunk(b"IDAT", body)
}

fn iend_chunk() -> Vec<u8> {
    make_chunk(b"IEND", b"")
}

fn decode_intact_file() -> Pixels {
    decode(&small_gray_image().file(&[]), &Options::default()).expect("a valid image")
}

fn assert_accepted(chunks: &[Vec<u8>]) {
    assert_eq!(decode(&file_with_chunks(chunks), &Options::default()), Ok(decode_intact_file()));
}

fn assert_rejected(file: &[u8], kind: ImageFaultKind) {
    assert_eq!(fault_kind(file), kind);
}

/// Returns a file with one byte of the header changed.
fn file_with_header_byte(index: usize, value: u8) -> Vec<u8> {
    let mut body = small_gray_image().ihdr_chunk()[8..21].to_vec();
    body[index] = value;
    join_chunks(&[make_chunk(b"IHDR", &body), idat_chunk(&compressed_rows()), iend_chunk()])
}

#[test]
fn idat_chunks_form_one_stream_however_it_is_split() {
    let stream = compressed_rows();
    let bytes: Vec<_> = stream.iter().map(|byte| idat_chunk(&[*byte])).collect();
    assert_accepted(&[&bytes[..], &[iend_chunk()]].concat());
    let (head, tail) = stream.split_at(9);
    assert_accepted(&[
        idat_chunk(b""),
        idat_chunk(head),
        idat_chunk(b""),
        idat_chunk(tail),
        idat_chunk(b""),
        iend_chunk(),
    ]);
    assert_accepted(&[idat_chunk(b""), idat_chunk(&stream), idat_chunk(b""), iend_chunk()]);
}

#[test]
fn interrupted_idat_chunks_are_rejected() {
    let (head, tail) = (idat_chunk(&compressed_rows()[..9]), idat_chunk(&compressed_rows()[9..]));
    let text = make_chunk(b"tEXt", b"a\0b");
    assert_rejected(&file_with_chunks(&[head, text.clone(), tail, iend_chunk()]), BadChunk);
    assert_rejected(
        &file_with_chunks(&[idat_chunk(&compressed_rows()), text, idat_chunk(&compressed_rows()), iend_chunk()]),
        BadChunk,
    );
}

#[test]
fn missing_or_empty_image_data_is_rejected() {
    assert_rejected(&file_with_chunks(&[iend_chunk()]), BadChunk);
    assert_rejected(&file_with_chunks(&[idat_chunk(b""), iend_chunk()]), Truncated);
    assert_rejected(&file_with_chunks(&[idat_chunk(&compressed_rows()[..20]), iend_chunk()]), BadCompression);
}

#[test]
fn unknown_ancillary_chunks_are_skipped_and_critical_ones_rejected() {
    let (known, unknown) = (make_chunk(b"abCd", b"12"), make_chunk(b"ABCD", b"12"));
    assert_accepted(&[known.clone(), idat_chunk(&compressed_rows()), known, iend_chunk()]);
    assert_rejected(&file_with_chunks(&[unknown.clone(), idat_chunk(&compressed_rows()), iend_chunk()]), BadChunk);
    assert_rejected(&file_with_chunks(&[idat_chunk(&compressed_rows()), unknown, iend_chunk()]), BadChunk);
    assert_rejected(
        &file_with_chunks(&[make_chunk(b"a1Cd", b""), idat_chunk(&compressed_rows()), iend_chunk()]),
        BadChunk,
    );
}

#[test]
fn missing_end_is_rejected_and_data_after_end_ignored() {
    assert_rejected(&file_with_chunks(&[idat_chunk(&compressed_rows())]), Truncated);
    assert_rejected(&file_with_chunks(&[idat_chunk(&compressed_rows()), iend_chunk()[..7].to_vec()]), Truncated);
    assert_accepted(&[idat_chunk(&compressed_rows()), iend_chunk(), b"more".to_vec()]);
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
        assert_rejected(&file_with_header_byte(index, value), kind);
    }
    let long = make_chunk(b"IHDR", &[&small_gray_image().ihdr_chunk()[8..21], b"x"].concat());
    assert_rejected(&join_chunks(&[long, idat_chunk(&compressed_rows()), iend_chunk()]), BadChunk);
    assert_rejected(
        &join_chunks(&[
            make_chunk(b"tEXt", b"a\0b"),
            small_gray_image().ihdr_chunk(),
            idat_chunk(&compressed_rows()),
            iend_chunk(),
        ]),
        BadChunk,
    );
    assert_rejected(
        &file_with_chunks(&[small_gray_image().ihdr_chunk(), idat_chunk(&compressed_rows()), iend_chunk()]),
        BadChunk,
    );
    assert_rejected(b"\x89PNG\r\n\x1a\r", BadMarker);
    assert_rejected(b"\x89PNG", Truncated);
}

#[test]
fn chunk_with_false_length_is_rejected() {
    for (length, kind) in [(0x8000_0000u32, BadChunk), (0x7fff_ffff, Truncated), (2000, Truncated)] {
        let body = [&length.to_be_bytes()[..], b"tEXt", b"abc"].concat();
        assert_rejected(&file_with_chunks(&[body, idat_chunk(&compressed_rows()), iend_chunk()]), kind);
    }
}

#[test]
fn missing_repeated_or_invalid_palette_is_rejected() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let entries = |count: usize| make_chunk(b"PLTE", &vec![7; count]);
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
    let advice = make_chunk(b"PLTE", &[1; 6]);
    assert_accepted(&[advice.clone(), idat_chunk(&compressed_rows()), iend_chunk()]);
    assert_accepted(&[idat_chunk(&compressed_rows()), advice.clone(), iend_chunk()]);
    assert_accepted(&[make_chunk(b"PLTE", b"12345"), advice.clone(), idat_chunk(&compressed_rows()), iend_chunk()]);
    assert_rejected(
        &file_with_chunks(&[advice.clone(), advice, idat_chunk(&compressed_rows()), iend_chunk()]),
        BadChunk,
    );
}

#[test]
fn misplaced_or_invalid_transparency_is_rejected() {
    let image = Image::noise(9, 7, 3, 8, 1);
    let (palette, alpha) = (image.palette_chunk(1).concat(), |count: usize| make_chunk(b"tRNS", &vec![7; count]));
    for before in [
        vec![alpha(3), palette.clone()],
        vec![palette.clone(), alpha(0)],
        vec![palette.clone(), alpha(257)],
        vec![palette.clone(), alpha(3), alpha(3)],
    ] {
        assert_rejected(&image.file(&before), BadChunk);
    }
    assert_rejected(&file_with_chunks(&[alpha(5), idat_chunk(&compressed_rows()), iend_chunk()]), BadChunk);
    assert_rejected(&file_with_chunks(&[idat_chunk(&compressed_rows()), alpha(6), iend_chunk()]), BadChunk);
    let with_alpha = Image::noise(9, 7, 6, 8, 1);
    assert_eq!(
        decode(&with_alpha.file(&[alpha(6)]), &Options::default()),
        decode(&with_alpha.file(&[]), &Options::default())
    );
}

#[test]
fn wrong_crc_is_rejected_unless_checksums_are_off() {
    let without_checksums = Options { checksums: false, ..Options::default() };
    let text = make_chunk(b"tEXt", b"a\0b");
    let all = [small_gray_image().ihdr_chunk(), text.clone(), idat_chunk(&compressed_rows()), text, iend_chunk()];
    for damaged in 0..all.len() {
        let mut chunks = all.clone();
        *chunks[damaged].last_mut().expect("a check value") ^= 1;
        let file = join_chunks(&chunks);
        assert_rejected(&file, BadChecksum);
        assert_eq!(decode(&file, &without_checksums), Ok(decode_intact_file()));
    }
}

#[test]
fn wrong_adler_is_rejected_unless_checksums_are_off() {
    let without_checksums = Options { checksums: false, ..Options::default() };
    let mut stream = compressed_rows();
    *stream.last_mut().expect("a check value") ^= 1;
    let file = file_with_chunks(&[idat_chunk(&stream), iend_chunk()]);
    assert_rejected(&file, BadChecksum);
    assert_eq!(decode(&file, &without_checksums), Ok(decode_intact_file()));
}

#[test]
fn header_contains_orientation_of_either_byte_order() {
    let little = b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let big = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0";
    for (body, expected) in
        [(&little[..], Some(6)), (&big[..], Some(8)), (&big[..19], None), (b"II\x2a\0\xff\xff\xff\xff", None)]
    {
        let exif = make_chunk(b"eXIf", body);
        for chunks in [[exif.clone(), idat_chunk(&compressed_rows())], [idat_chunk(&compressed_rows()), exif.clone()]] {
            let header = Header::parse(&file_with_chunks(&[&chunks[..], &[iend_chunk()]].concat())).expect("a header");
            assert_eq!(header.orientation, expected);
        }
    }
}
