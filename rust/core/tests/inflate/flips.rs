//! Small streams truncated at every byte and with every bit flipped.
use super::data::{
    FIXED, Random, add_container, deflate_whole, deflate_with_flushes, generate_data, open_source, read_all,
};
use super::fixed::{gzip_with_all_fields, zlib_text};
use recordmill_core::inflate::Container;
use recordmill_core::source::ReadAt;

fn compressed_samples() -> Vec<(Vec<u8>, Container, Vec<u8>)> {
    let plain = generate_data(1500, 61);
    let raws = [
        deflate_whole(&plain, 0, 0),
        deflate_whole(&plain, 6, FIXED),
        deflate_whole(&plain, 9, 0),
        deflate_with_flushes(&plain, 6, 0, 200),
    ];
    let mut streams = Vec::new();
    for raw in raws {
        for container in [Container::Gzip, Container::Zlib] {
            streams.push((add_container(container, &raw, &plain), container, plain.clone()));
        }
    }
    let (file, text) = gzip_with_all_fields();
    streams.push((file, Container::Gzip, text.to_vec()));
    let (file, text) = zlib_text();
    streams.push((file, Container::Zlib, text.to_vec()));
    streams
}

#[test]
fn truncated_stream_yields_a_prefix_of_the_data_before_the_fault() {
    for (file, container, plain) in compressed_samples() {
        for len in 1..file.len() {
            let source = open_source(file[..len].to_vec(), container, 500);
            let (data, fault) = read_all(&source, 97);
            let fault = fault.unwrap_or_else(|| panic!("truncated at {len} of {}", file.len()));
            assert!(plain.starts_with(&data), "truncated at {len}");
            assert!(fault.message.starts_with("stream ends early") || len == 1, "truncated at {len}: {fault}");
        }
    }
}

#[test]
fn longer_truncated_stream_never_yields_less_data() {
    for (file, container, _) in compressed_samples() {
        let count_output = |len: usize| read_all(&open_source(file[..len].to_vec(), container, 500), 1000).0.len();
        let counts: Vec<usize> = (1..=file.len()).map(count_output).collect();
        assert!(counts.is_sorted());
    }
}

#[test]
fn stream_with_a_flipped_bit_yields_the_same_data_or_a_fault() {
    for (file, container, plain) in compressed_samples() {
        for bit in 0..file.len() * 8 {
            let mut wrong = file.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let source = open_source(wrong, container, 500);
            let (data, fault) = read_all(&source, 701);
            assert!(fault.is_some() || data == plain, "bit {bit}");
            let (again, same) = read_all(&source, 64);
            assert!(again == data && same == fault, "bit {bit}");
        }
    }
}

#[test]
fn random_deflate_data_never_panics_and_reads_consistently_at_any_offset() {
    let mut random = Random(62);
    for round in 0..3000 {
        let noise: Vec<u8> = (0..random.below(300)).map(|_| random.next() as u8).collect();
        let container = [Container::Gzip, Container::Zlib][round % 2];
        let source = open_source(add_container(container, &noise, b""), container, 64);
        let (data, fault) = read_all(&source, 50);
        assert!(fault.is_some() || data.is_empty());
        let offset = random.below(data.len() as u64 + 1);
        let mut buf = [0; 40];
        if let Ok(count) = source.read_at(offset, &mut buf) {
            assert_eq!(buf[..count], data[offset as usize..][..count]);
        }
    }
}
