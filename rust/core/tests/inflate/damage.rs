//! Each kind of damage: reads return the data before it, and every later read returns the same fault.
use super::data::{add_container, compress_gzip, compress_zlib, generate_data, open_source, read_all};
use super::fixed::{gzip_text, gzip_with_all_fields, zlib_text};
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::source::{ReadAt, SourceError};

const SPACING: u64 = 100_000;

/// Checks that all ways of reading `file` return the first `num_bytes` bytes of `plain` and then the same fault.
fn read_until_fault(file: &[u8], container: Container, plain: &[u8], num_bytes: usize) -> Fault {
    let mut faults = Vec::new();
    for step in [1000, 1_000_000] {
        let source = open_source(file.to_vec(), container, SPACING);
        let (data, fault) = read_all(&source, step);
        assert_eq!(data.len(), num_bytes);
        assert!(data == plain[..num_bytes]);
        faults.push(fault.expect("a fault"));
        for offset in [num_bytes as u64, num_bytes as u64 + 5, u64::MAX] {
            match source.read_at(offset, &mut [0; 3]) {
                Err(SourceError::Fault(again)) => faults.push(again),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(source.num_bytes(), None);
    }
    let fault = faults.pop().unwrap();
    assert!(faults.iter().all(|other| *other == fault), "{faults:?}");
    assert_eq!((fault.kind, fault.offset), (FaultKind::BadCompression, num_bytes as u64));
    fault
}

fn assert_fault(file: &[u8], container: Container, plain: &[u8], num_bytes: usize, message: &str) {
    let fault = read_until_fault(file, container, plain, num_bytes);
    assert!(fault.message.contains(message), "{fault}");
}

#[test]
fn gzip_with_wrong_checksum_yields_all_data_and_a_fault_with_both_checksums() {
    let plain = generate_data(300_000, 41);
    let mut file = compress_gzip(&plain, 6);
    let position = file.len() - 8;
    let stored = u32::from_le_bytes(file[position..position + 4].try_into().unwrap());
    file[position] ^= 1;
    let fault = read_until_fault(&file, Container::Gzip, &plain, plain.len());
    assert_eq!(fault.message, "the CRC-32 of the gzip member is wrong");
    assert_eq!((fault.expected, fault.found), (format!("{stored:#010x}"), format!("{:#010x}", stored ^ 1)));
}

#[test]
fn gzip_with_wrong_length_yields_all_data_and_a_fault_with_both_lengths() {
    let plain = generate_data(300_000, 42);
    let mut file = compress_gzip(&plain, 6);
    let position = file.len() - 4;
    file[position..].copy_from_slice(&300_001_u32.to_le_bytes());
    let fault = read_until_fault(&file, Container::Gzip, &plain, plain.len());
    assert!(fault.message.contains("length of the gzip member"), "{fault}");
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("300000 bytes", "300001 bytes"));
}

#[test]
fn zlib_with_wrong_checksum_yields_all_data_before_the_fault() {
    let plain = generate_data(300_000, 43);
    let mut file = compress_zlib(&plain, 6);
    *file.last_mut().unwrap() ^= 0x80;
    assert_fault(&file, Container::Zlib, &plain, plain.len(), "the Adler-32 of the zlib stream is wrong");
}

#[test]
fn member_with_wrong_checksum_yields_earlier_members_and_a_fault() {
    let plain = generate_data(300_000, 44);
    let file = [
        compress_gzip(&plain[..100_000], 6),
        add_container(Container::Gzip, &[3, 0], b"x"),
        compress_gzip(&plain[100_000..], 6),
    ]
    .concat();
    assert_fault(&file, Container::Gzip, &plain, 100_000, "the CRC-32 of the gzip member is wrong");
}

#[test]
fn missing_or_truncated_trailer_yields_all_data_before_the_fault() {
    let plain = generate_data(200_000, 45);
    for (file, container, size) in
        [(compress_gzip(&plain, 6), Container::Gzip, 8), (compress_zlib(&plain, 6), Container::Zlib, 4)]
    {
        for cut in 1..=size {
            let what = if cut == size { "trailer missing" } else { "trailer truncated" };
            let fault = read_until_fault(&file[..file.len() - cut], container, &plain, plain.len());
            assert!(fault.message.starts_with("stream ends early: ") && fault.message.ends_with(what), "{fault}");
            assert_eq!(fault.found, format!("{} bytes", size - cut));
        }
    }
}

#[test]
fn garbage_after_gzip_is_reported_with_its_size() {
    let plain = generate_data(200_000, 46);
    for tail in [&b"garbage"[..], &[0, 0, 0, 1], &[0x1F], &[0x1F, 0x8C, 8], &[0x1F, 0, 0]] {
        let file = [&compress_gzip(&plain, 6)[..], tail].concat();
        let message = format!("{} bytes of garbage after the last gzip member", tail.len());
        assert_fault(&file, Container::Gzip, &plain, plain.len(), &message);
    }
    let file = [&compress_gzip(&plain, 6)[..], &[0x1F, 0x8B, 8, 0]].concat();
    assert_fault(&file, Container::Gzip, &plain, plain.len(), "stream ends early: inside a gzip header");
}

#[test]
fn zero_padding_after_gzip_is_valid() {
    let plain = generate_data(200_000, 47);
    for count in [1, 511, 100_000] {
        let source = open_source([compress_gzip(&plain, 6), vec![0; count]].concat(), Container::Gzip, SPACING);
        assert!(read_all(&source, 10_000) == (plain.clone(), None));
        assert_eq!(source.num_bytes(), Some(200_000));
    }
}

#[test]
fn garbage_after_zlib_is_reported_with_its_size() {
    let plain = generate_data(200_000, 48);
    for tail in [&[0][..], b"abc"] {
        let message = format!("{} bytes of garbage after the zlib stream", tail.len());
        assert_fault(&[&compress_zlib(&plain, 6)[..], tail].concat(), Container::Zlib, &plain, plain.len(), &message);
    }
}

#[test]
fn wrong_container_is_reported_at_the_first_read() {
    let (gzip, zlib) = (gzip_text().0, zlib_text().0);
    assert_fault(&zlib, Container::Gzip, &[], 0, "not a gzip stream");
    assert_fault(&gzip, Container::Zlib, &[], 0, "not a zlib stream");
    assert_fault(b"plain records", Container::Gzip, &[], 0, "not a gzip stream");
    assert_fault(&[0; 64], Container::Gzip, &[], 0, "not a gzip stream");
    assert_fault(&[0x78, 0xBB, 0, 0, 0, 0], Container::Zlib, &[], 0, "preset dictionary");
}

#[test]
fn gzip_header_fault_names_the_wrong_field() {
    let (file, _) = gzip_with_all_fields();
    for (position, value, message) in [
        (2, 7, "unknown compression method"),
        (3, 0x3F, "reserved flags"),
        (18, b'!', "the CRC-16 of a gzip header is wrong"),
        (25, b'!', "the CRC-16 of a gzip header is wrong"),
    ] {
        let mut wrong = file.clone();
        wrong[position] = value;
        assert_fault(&wrong, Container::Gzip, &[], 0, message);
    }
}

#[test]
fn overwritten_block_yields_data_before_the_damage() {
    let plain = generate_data(2_000_000, 49);
    let mut file = compress_gzip(&plain, 6);
    let position = file.len() / 2;
    file[position..position + 64].fill(0xFF);
    for step in [777, 3_000_000] {
        let source = open_source(file.clone(), Container::Gzip, SPACING);
        let (data, fault) = read_all(&source, step);
        let fault = fault.expect("damage");
        assert_eq!((fault.kind, fault.offset), (FaultKind::BadCompression, data.len() as u64));
        let equal = data.iter().zip(&plain).take_while(|(left, right)| left == right).count();
        assert!(equal > 500_000, "{equal} bytes before the damage");
    }
}

#[test]
fn back_reference_beyond_the_start_of_the_member_is_a_fault() {
    // The second member is a fixed block that copies 3 bytes from distance 1, before the start of its data.
    let file = [compress_gzip(b"abc", 6), add_container(Container::Gzip, &[0x03, 0x02, 0x00], b"")].concat();
    assert_fault(&file, Container::Gzip, b"abc", 3, "bad deflate block");
}

#[test]
fn limit_truncates_the_data_before_the_fault() {
    let plain = generate_data(300_000, 50);
    for max_bytes in [0, 1, 65_536, 131_072, 299_999] {
        let limits = Limits { max_bytes };
        let source = CompressedSource::new(compress_gzip(&plain, 6), Container::Gzip, limits, SPACING);
        let (data, fault) = read_all(&source, 10_000);
        let fault = fault.expect("the limit");
        assert!(data == plain[..max_bytes as usize]);
        assert_eq!((fault.kind, fault.offset), (FaultKind::LimitExceeded, max_bytes));
    }
    for max_bytes in [300_000, u64::MAX] {
        let source = CompressedSource::new(compress_gzip(&plain, 6), Container::Gzip, Limits { max_bytes }, SPACING);
        assert!(read_all(&source, 10_000) == (plain.clone(), None));
    }
}

#[test]
fn decompression_bomb_stops_at_the_limit() {
    let zeros = vec![0; 20_000_000];
    let limits = Limits { max_bytes: 1_000_000 };
    let source = CompressedSource::new(compress_gzip(&zeros, 9), Container::Gzip, limits, SPACING);
    let (data, fault) = read_all(&source, 1 << 16);
    assert_eq!(data.len(), 1_000_000);
    assert_eq!(fault.map(|fault| fault.kind), Some(FaultKind::LimitExceeded));
}

/// A source of which one read fails: the first one at an offset other than 0.
struct FailingOnce(Vec<u8>, std::sync::atomic::AtomicBool);

impl ReadAt for FailingOnce {
    fn num_bytes(&self) -> Option<u64> {
        self.0.num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        if offset > 0 && !self.1.swap(true, std::sync::atomic::Ordering::Relaxed) {
            return Err(std::io::Error::other("disk").into());
        }
        self.0.read_at(offset, buf)
    }
}

#[test]
fn reads_succeed_after_an_io_error() {
    let plain = generate_data(2_000_000, 51);
    let file = FailingOnce(compress_gzip(&plain, 6), false.into());
    let source = CompressedSource::new(file, Container::Gzip, Limits::default(), SPACING);
    let mut buf = vec![0; 2_000_000];
    assert!(matches!(source.read_at(0, &mut buf), Err(SourceError::Io(_))));
    assert_eq!(source.read_at(0, &mut buf).unwrap(), 2_000_000);
    assert!(buf == plain && read_all(&source, 1 << 16).1.is_none());
}
