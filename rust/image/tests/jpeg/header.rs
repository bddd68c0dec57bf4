//! Tests of header parsing: size, sampling, color, restart interval, orientation, and unsupported files.
use crate::common::encode_test_file;
use crate::libjpeg::{LibjpegOptions, Recipe, decode};
use mozjpeg_sys::J_COLOR_SPACE::JCS_RGB;
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Coding, ColorModel, Decoder, Header, Options};
use recordmill_image::pixels::{Samples, Size};

/// Returns `data` with a segment of marker `code` inserted after the start of the image.
fn insert_segment(data: &[u8], code: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&data[..2], &[0xff, code], &length, body, &data[2..]].concat()
}

/// Returns the offset of the frame header in `data`.
fn frame_header_offset(data: &[u8]) -> usize {
    data.windows(2).position(|pair| matches!(pair, [0xff, 0xc0..=0xc2])).expect("a frame header")
}

/// Returns the body of an EXIF segment, in either byte order, whose second entry is the orientation `value`.
fn exif_segment(value: u16, is_big: bool) -> Vec<u8> {
    let short = |number: u16| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
    let long = |number: u32| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut body = b"Exif\0\0".to_vec();
    body.extend(if is_big { b"MM\0*" } else { b"II*\0" });
    body.extend([&long(8)[..], &short(2)].concat());
    body.extend([&short(0x0100)[..], &short(4), &long(1), &long(77)].concat());
    body.extend([&short(0x0112)[..], &short(3), &long(1), &short(value), &short(0)].concat());
    body.extend(long(0));
    body
}

#[test]
fn parse_reads_header_of_each_kind() {
    let header = Header::parse(&encode_test_file(&Recipe { restart_interval: 7, ..Recipe::new(31, 17, (2, 1)) }, 1))
        .expect("a valid file");
    assert_eq!(header.size, Size { width: 31, height: 17 });
    assert_eq!(header.sampling, [(2, 1), (1, 1), (1, 1)]);
    assert_eq!((header.coding, header.color), (Coding::Sequential, ColorModel::YCbCr));
    assert_eq!((header.restart_interval, header.bits, header.orientation, header.num_channels()), (7, 8, 1, 3));
    let header =
        Header::parse(&encode_test_file(&Recipe { progressive: true, ..Recipe::gray(5, 6) }, 1)).expect("a valid file");
    assert_eq!((header.coding, header.color, header.num_channels()), (Coding::Progressive, ColorModel::Gray, 1));
    let header = Header::parse(&encode_test_file(&Recipe { color: JCS_RGB, ..Recipe::new(5, 6, (1, 1)) }, 1))
        .expect("a valid file");
    assert_eq!(header.color, ColorModel::Rgb);
}

#[test]
fn parse_reads_exif_orientation() {
    let data = encode_test_file(&Recipe::new(20, 10, (2, 2)), 1);
    for value in 1..=8 {
        for is_big in [false, true] {
            let header =
                Header::parse(&insert_segment(&data, 0xe1, &exif_segment(value, is_big))).expect("a valid file");
            assert_eq!(u16::from(header.orientation), value);
        }
    }
    for value in [0, 9, 300] {
        let header = Header::parse(&insert_segment(&data, 0xe1, &exif_segment(value, true))).expect("a valid file");
        assert_eq!(header.orientation, 1);
    }
}

#[test]
fn parse_ignores_cut_or_damaged_exif() {
    let data = encode_test_file(&Recipe::new(20, 10, (2, 2)), 1);
    let whole = exif_segment(6, false);
    for length in 0..whole.len() - 6 {
        let header = Header::parse(&insert_segment(&data, 0xe1, &whole[..length])).expect("a valid file");
        assert_eq!(header.orientation, 1, "{length}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        let header = Header::parse(&insert_segment(&data, 0xe1, &damaged)).expect("a valid file");
        assert!((1..=8).contains(&header.orientation));
    }
}

#[test]
fn color_model_from_adobe_segment_and_ids_equals_libjpeg() {
    let data = encode_test_file(&Recipe::new(20, 12, (1, 1)), 1);
    let without_jfif = [&data[..2], &data[20..]].concat();
    let mut named = without_jfif.clone();
    let at = frame_header_offset(&named);
    let scan = named.windows(2).position(|pair| pair == [0xff, 0xda]).expect("a scan header");
    for (component, id) in b"RGB".iter().enumerate() {
        named[at + 10 + 3 * component] = *id;
        named[scan + 5 + 2 * component] = *id;
    }
    let adobe = |transform| insert_segment(&without_jfif, 0xee, &[b"Adobe\0\x64\0\0\0\0", &[transform][..]].concat());
    let files = [
        (data, ColorModel::YCbCr),
        (without_jfif.clone(), ColorModel::YCbCr),
        (named, ColorModel::Rgb),
        (adobe(0), ColorModel::Rgb),
        (adobe(1), ColorModel::YCbCr),
    ];
    for (data, color) in files {
        assert_eq!(Header::parse(&data).expect("a valid file").color, color);
        let found = Decoder::new().decode_pixels(&data, None, &Options::default()).expect("a valid file");
        assert_eq!(found.samples, Samples::U8(decode(&data, LibjpegOptions::default()).expect("a valid file").samples));
    }
    assert_eq!(Header::parse(&adobe(2)).expect_err("no such transform").kind, ImageFaultKind::Unsupported);
}

#[test]
fn parse_rejects_unsupported_kinds() {
    let data = encode_test_file(&Recipe::new(20, 12, (1, 1)), 1);
    let at = frame_header_offset(&data);
    let changes: [(usize, u8); 6] = [(1, 0xc3), (1, 0xc9), (1, 0xca), (1, 0xc5), (4, 12), (4, 16)];
    for (offset, value) in changes {
        let mut changed = data.clone();
        changed[at + offset] = value;
        assert_eq!(
            Header::parse(&changed).expect_err("another kind").kind,
            ImageFaultKind::Unsupported,
            "{offset} {value}"
        );
    }
    let four = [
        &data[..at],
        &[0xff, 0xc0, 0, 20, 8, 0, 12, 0, 20, 4],
        &[1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0],
        &data[at + 19..],
    ];
    let inks = Header::parse(&four.concat()).expect("four components");
    assert_eq!((inks.color, inks.num_channels()), (ColorModel::Cmyk { adobe: false }, 4));
    let two = [&data[..at], &[0xff, 0xc0, 0, 14, 8, 0, 12, 0, 20, 2, 1, 0x11, 0, 2, 0x11, 0], &data[at + 19..]];
    assert_eq!(Header::parse(&two.concat()).expect_err("two components").kind, ImageFaultKind::Unsupported);
    assert_eq!(
        Header::parse(&insert_segment(&data, 0xdc, &[0, 12])).expect_err("DNL").kind,
        ImageFaultKind::Unsupported
    );
}

#[test]
fn parse_rejects_data_that_is_not_jpeg() {
    for (data, kind) in [(&b""[..], ImageFaultKind::Truncated), (b"\xff", ImageFaultKind::Truncated)] {
        assert_eq!(Header::parse(data).expect_err("no image").kind, kind);
    }
    assert_eq!(Header::parse(b"\x89PNG\r\n\x1a\n").expect_err("no image").kind, ImageFaultKind::BadMarker);
    assert_eq!(Header::parse(b"\xff\xd8\xff\xd9").expect_err("no scan").kind, ImageFaultKind::BadMarker);
}
