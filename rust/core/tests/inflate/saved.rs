//! Seek points saved by one source and restored by another.
use super::data::{
    add_container, assert_random_reads, compress_gzip, compress_zlib, generate_data, open_source, read_all,
};
use recordmill_core::checksum::crc32;
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::source::ReadAt;

const SPACING: u64 = 128 * 1024;

fn append_crc(mut body: Vec<u8>) -> Vec<u8> {
    let crc = crc32(0, &body);
    body.extend(crc.to_le_bytes());
    body
}

#[test]
fn restore_seek_points_makes_seek_points_and_size_available_without_reading() {
    let plain = generate_data(3_000_000, 21);
    let gzips = [compress_gzip(&plain[..1_000_000], 6), compress_gzip(&plain[1_000_000..], 9)].concat();
    for (file, container) in [(gzips, Container::Gzip), (compress_zlib(&plain, 6), Container::Zlib)] {
        let first = open_source(file.clone(), container, SPACING);
        assert_eq!(read_all(&first, 1 << 16).1, None);
        let blob = first.save_seek_points().expect("memory");
        assert_eq!(blob, first.save_seek_points().expect("memory"));
        assert!(blob.len() < first.num_seek_points() * 32 * 1024, "{} bytes", blob.len());
        assert_random_reads(&first, &plain, 40, 1);
        let second = open_source(file, container, SPACING);
        second.restore_seek_points(&blob).expect("own blob");
        assert_eq!(second.num_bytes(), Some(plain.len() as u64));
        assert_eq!(second.num_seek_points(), first.num_seek_points());
        assert_random_reads(&second, &plain, 100, 2);
        assert!(read_all(&second, 1 << 16) == (plain.clone(), None));
        assert_eq!(second.save_seek_points().expect("memory"), blob);
    }
}

#[test]
fn restored_partial_seek_points_are_extended_by_later_reads() {
    let plain = generate_data(2_000_000, 22);
    let file = compress_gzip(&plain, 6);
    let first = open_source(file.clone(), Container::Gzip, SPACING);
    first.read_at(0, &mut vec![0; 1_000_000]).unwrap();
    let half = first.num_seek_points();
    let second = open_source(file.clone(), Container::Gzip, SPACING);
    second.restore_seek_points(&first.save_seek_points().expect("memory")).expect("own blob");
    assert_eq!((second.num_bytes(), second.num_seek_points()), (None, half));
    assert_random_reads(&second, &plain, 50, 3);
    let whole = open_source(file, Container::Gzip, SPACING);
    assert!(read_all(&second, 1 << 16) == read_all(&whole, 1 << 16));
    assert_eq!(second.num_seek_points(), whole.num_seek_points());
}

#[test]
fn restore_seek_points_of_fewer_points_keeps_existing_points() {
    let plain = generate_data(1_000_000, 23);
    let file = compress_gzip(&plain, 6);
    let empty = open_source(file.clone(), Container::Gzip, SPACING).save_seek_points().expect("memory");
    let source = open_source(file, Container::Gzip, SPACING);
    read_all(&source, 1 << 16);
    let num_points = source.num_seek_points();
    source.restore_seek_points(&empty).expect("own blob");
    assert_eq!((source.num_seek_points(), source.num_bytes()), (num_points, Some(1_000_000)));
}

#[test]
fn cursor_from_restored_point_detects_wrong_member_checksum() {
    let plain = generate_data(1_000_000, 24);
    let raw_wrong = add_container(Container::Gzip, &super::data::deflate_whole(&plain, 6, 0), &plain[1..]);
    let first = open_source(raw_wrong.clone(), Container::Gzip, SPACING);
    let (data, fault) = read_all(&first, 1 << 16);
    let second = open_source(raw_wrong, Container::Gzip, SPACING);
    second.restore_seek_points(&first.save_seek_points().expect("memory")).expect("own blob");
    assert_eq!(second.num_bytes(), None, "the end was not valid");
    assert!(data == plain);
    let error = second.read_at(1_000_000, &mut [0; 8]).unwrap_err();
    assert_eq!(error.to_string(), fault.expect("wrong checksum").to_string());
}

#[test]
fn restore_seek_points_of_damaged_blob_fails_and_leaves_the_source_unchanged() {
    let plain = generate_data(600_000, 25);
    let file = compress_gzip(&plain, 6);
    let first = open_source(file.clone(), Container::Gzip, SPACING);
    read_all(&first, 1 << 16);
    let blob = first.save_seek_points().expect("memory");
    let source = open_source(file.clone(), Container::Gzip, SPACING);
    for len in (0..blob.len()).step_by(17) {
        assert!(source.restore_seek_points(&blob[..len]).is_err(), "truncated at {len}");
    }
    for position in (0..blob.len()).step_by(13) {
        let mut wrong = blob.clone();
        wrong[position] ^= 0x20;
        assert!(source.restore_seek_points(&wrong).is_err(), "flip at {position}");
    }
    assert_eq!((source.num_bytes(), source.num_seek_points()), (None, 0));
    let other_size = open_source([file.clone(), vec![0]].concat(), Container::Gzip, SPACING);
    assert!(other_size.restore_seek_points(&blob).unwrap_err().message.contains("another size"));
    let other_kind = open_source(file, Container::Zlib, SPACING);
    assert!(other_kind.restore_seek_points(&blob).unwrap_err().message.contains("another compression format"));
}

#[test]
fn restore_seek_points_of_forged_fields_with_correct_checksum_never_panics() {
    let plain = generate_data(600_000, 26);
    let file = compress_gzip(&plain, 6);
    let first = open_source(file.clone(), Container::Gzip, SPACING);
    read_all(&first, 1 << 16);
    let blob = first.save_seek_points().expect("memory");
    let body = &blob[..blob.len() - 4];
    let mut num_rejected = 0;
    for position in (0..120).chain((120..body.len()).step_by(997)) {
        for value in [0x00, 0x01, 0x7F, 0xFF] {
            let mut forged = body.to_vec();
            forged[position] = value;
            let source = open_source(file.clone(), Container::Gzip, SPACING);
            num_rejected += usize::from(source.restore_seek_points(&append_crc(forged)).is_err());
            let mut buf = [0; 64];
            for offset in [0, 130_000, 300_000, 599_990] {
                let _ = source.read_at(offset, &mut buf);
            }
        }
    }
    assert!(num_rejected > 100, "{num_rejected}");
    assert!(
        open_source(file, Container::Gzip, SPACING).restore_seek_points(&append_crc([body, &[0]].concat())).is_err()
    );
}

#[test]
fn restored_size_above_the_limit_does_not_lift_the_limit() {
    let plain = generate_data(600_000, 27);
    let file = compress_gzip(&plain, 6);
    let first = open_source(file.clone(), Container::Gzip, SPACING);
    read_all(&first, 1 << 16);
    let second = CompressedSource::new(file, Container::Gzip, Limits { max_bytes: 200_000 }, SPACING);
    second.restore_seek_points(&first.save_seek_points().expect("memory")).expect("own blob");
    assert_eq!(second.num_bytes(), None);
    assert!(second.read_at(500_000, &mut [0; 8]).is_err());
    let (data, fault) = read_all(&second, 5000);
    assert!(data == plain[..200_000] && fault.is_some());
}
