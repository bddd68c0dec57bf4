//! Small streams cut at every byte and with every bit flipped.
use super::data::{FIXED, Numbers, deflate_pieces, deflate_whole, drain, mixture, open, wrap};
use super::fixed::{gzip_with_all_fields, zlib_text};
use recordmill_core::inflate::Container;
use recordmill_core::source::ReadAt;

fn streams() -> Vec<(Vec<u8>, Container, Vec<u8>)> {
    let plain = mixture(1500, 61);
    let raws = [
        deflate_whole(&plain, 0, 0),
        deflate_whole(&plain, 6, FIXED),
        deflate_whole(&plain, 9, 0),
        deflate_pieces(&plain, 6, 0, 200),
    ];
    let mut streams = Vec::new();
    for raw in raws {
        for container in [Container::Gzip, Container::Zlib] {
            streams.push((wrap(container, &raw, &plain), container, plain.clone()));
        }
    }
    let (file, text) = gzip_with_all_fields();
    streams.push((file, Container::Gzip, text.to_vec()));
    let (file, text) = zlib_text();
    streams.push((file, Container::Zlib, text.to_vec()));
    streams
}

#[test]
fn test_stream_when_cut_at_any_byte_then_a_true_prefix_comes_before_the_fault() {
    for (file, container, plain) in streams() {
        for len in 1..file.len() {
            let source = open(file[..len].to_vec(), container, 500);
            let (data, fault) = drain(&source, 97);
            let fault = fault.unwrap_or_else(|| panic!("cut at {len} of {}", file.len()));
            assert!(plain.starts_with(&data), "cut at {len}");
            assert!(fault.message.starts_with("stream ends early") || len == 1, "cut at {len}: {fault}");
        }
    }
}

#[test]
fn test_cut_stream_when_longer_then_never_yields_less() {
    for (file, container, _) in streams() {
        let yields = |len: usize| drain(&open(file[..len].to_vec(), container, 500), 1000).0.len();
        let counts: Vec<usize> = (1..=file.len()).map(yields).collect();
        assert!(counts.is_sorted());
    }
}

#[test]
fn test_stream_when_a_bit_flips_then_never_passes_as_sound_with_other_data() {
    for (file, container, plain) in streams() {
        for bit in 0..file.len() * 8 {
            let mut wrong = file.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let source = open(wrong, container, 500);
            let (data, fault) = drain(&source, 701);
            assert!(fault.is_some() || data == plain, "bit {bit}");
            let (again, same) = drain(&source, 64);
            assert!(again == data && same == fault, "bit {bit}");
        }
    }
}

#[test]
fn test_random_bytes_when_read_as_deflate_then_never_panic_and_agree_at_any_offset() {
    let mut numbers = Numbers(62);
    for round in 0..3000 {
        let noise: Vec<u8> = (0..numbers.below(300)).map(|_| numbers.next() as u8).collect();
        let container = [Container::Gzip, Container::Zlib][round % 2];
        let source = open(wrap(container, &noise, b""), container, 64);
        let (data, fault) = drain(&source, 50);
        assert!(fault.is_some() || data.is_empty());
        let offset = numbers.below(data.len() as u64 + 1);
        let mut buf = [0; 40];
        if let Ok(count) = source.read_at(offset, &mut buf) {
            assert_eq!(buf[..count], data[offset as usize..][..count]);
        }
    }
}
