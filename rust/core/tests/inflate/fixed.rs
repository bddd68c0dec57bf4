//! Streams written by the reference implementation (zlib 1.3 through Python).
use super::data::{open_source, read_all};
use recordmill_core::inflate::{Container, detect};

const TEXT: &[u8] = b"recordmill: recordmill: recordmill: the quick brown fox";
const GZIP: &str = "1f8b08000000000002032b4a4dce2f4ac9cdccc9b15228c2c12ec94855282ccd4cce56482aca2fcf5348cbaf0000\
                    14a8611537000000";
const ZLIB_FAST: &str = "78012b4a4dce2f4ac9cdccc9b15228c2c12ec94855282ccd4cce56482aca2fcf5348cbaf00004c8414c9";
const ZLIB: &str = "789c2b4a4dce2f4ac9cdccc9b15228c2c12ec94855282ccd4cce56482aca2fcf5348cbaf00004c8414c9";
/// A header with all optional fields: text flag, extra field of 6 bytes, name, comment, header CRC.
const GZIP_ALL_FIELDS: &str = "1f8b081f00f1536500030600524d020061626e616d652e74667265636f7264006120636f6d6d656e740083282b4a\
                               4dce2f4ac9cdccc9b15228c2c12ec94855282ccd4cce56482aca2fcf5348cbaf000014a8611537000000";
const GZIP_EMPTY: &str = "1f8b080000000000020303000000000000000000";
const ZLIB_EMPTY: &str = "789c030000000001";

pub fn parse_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

pub fn gzip_with_all_fields() -> (Vec<u8>, &'static [u8]) {
    (parse_hex(GZIP_ALL_FIELDS), TEXT)
}

pub fn zlib_text() -> (Vec<u8>, &'static [u8]) {
    (parse_hex(ZLIB), TEXT)
}

pub fn gzip_text() -> (Vec<u8>, &'static [u8]) {
    (parse_hex(GZIP), TEXT)
}

#[test]
fn reference_streams_decompress_to_their_text() {
    for (hex, container) in [
        (GZIP, Container::Gzip),
        (GZIP_ALL_FIELDS, Container::Gzip),
        (ZLIB, Container::Zlib),
        (ZLIB_FAST, Container::Zlib),
    ] {
        for step in [1, 7, 1000] {
            let source = open_source(parse_hex(hex), container, 1 << 20);
            assert_eq!(read_all(&source, step), (TEXT.to_vec(), None));
        }
    }
}

#[test]
fn empty_reference_streams_decompress_to_nothing() {
    for (hex, container) in [(GZIP_EMPTY, Container::Gzip), (ZLIB_EMPTY, Container::Zlib)] {
        assert_eq!(read_all(&open_source(parse_hex(hex), container, 1 << 20), 10), (Vec::new(), None));
    }
}

#[test]
fn empty_file_is_an_empty_stream() {
    for container in [Container::Gzip, Container::Zlib] {
        assert_eq!(read_all(&open_source(Vec::new(), container, 1 << 20), 10), (Vec::new(), None));
    }
}

#[test]
fn detect_recognizes_supported_headers() {
    assert_eq!(detect(&parse_hex(GZIP)), Some(Container::Gzip));
    assert_eq!(detect(&parse_hex(ZLIB)), Some(Container::Zlib));
    assert_eq!(detect(&parse_hex(ZLIB_FAST)), Some(Container::Zlib));
    assert_eq!(detect(&[0x1F, 0x8B, 7]), None);
    assert_eq!(detect(&[0x1F, 0x8B]), None);
    assert_eq!(detect(&[0x78, 0xBB]), None, "preset dictionary");
    assert_eq!(detect(&[0x88, 0x1C]), None, "window of 64 KiB");
    assert_eq!(detect(&[0x79, 0x9B]), None, "method 9");
    assert_eq!(detect(&[0x78, 0x9D]), None, "check bits");
    assert_eq!(detect(&[0x78]), None);
    assert_eq!(detect(&[]), None);
}
