//! Reads at random offsets of multi-megabyte streams with all block types, by one or several threads.
use super::data::{
    DEFAULT, FIXED, Random, assert_random_reads, deflate_whole, deflate_with_flushes, generate_data, read_all,
};
use super::data::{add_container, compress_gzip, open_source, read_range};
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::source::{ReadAt, SourceError};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

const SPACING: u64 = 128 * 1024;

/// A source that counts the bytes read from it.
struct CountingSource {
    file: Vec<u8>,
    num_read: AtomicU64,
}

impl ReadAt for CountingSource {
    fn num_bytes(&self) -> Option<u64> {
        self.file.num_bytes()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let count = self.file.read_at(offset, buf)?;
        self.num_read.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

fn assert_reads_of_containers(raw: &[u8], plain: &[u8], name: &str) {
    for container in [Container::Gzip, Container::Zlib] {
        let file = add_container(container, raw, plain);
        let cold = open_source(file.clone(), container, SPACING);
        assert_random_reads(&cold, plain, 20, 1);
        let source = open_source(file, container, SPACING);
        let (data, fault) = read_all(&source, 100_000);
        assert!(data == plain && fault.is_none(), "{name} {container:?} {fault:?}");
        assert_eq!(source.num_bytes(), Some(plain.len() as u64));
        let num_points = source.num_seek_points() as u64;
        assert!(num_points >= 4 && num_points <= plain.len() as u64 / SPACING, "{name}: {num_points} points");
        assert_random_reads(&source, plain, 100, 2);
    }
}

#[test]
fn random_reads_return_plain_data_for_all_block_types() {
    let plain = generate_data(1_500_000, 7);
    for level in [0, 1, 6, 9] {
        assert_reads_of_containers(&deflate_whole(&plain, level, DEFAULT), &plain, &format!("level {level}"));
    }
    assert_reads_of_containers(&deflate_whole(&plain, 6, FIXED), &plain, "fixed");
    for piece in [700, 100_000] {
        assert_reads_of_containers(
            &deflate_with_flushes(&plain, 6, DEFAULT, piece),
            &plain,
            &format!("pieces of {piece}"),
        );
    }
}

#[test]
fn random_reads_return_plain_data_of_many_members() {
    let mut random = Random(3);
    let (mut plain, mut file) = (Vec::new(), Vec::new());
    for seed in 0..60 {
        let part = generate_data(random.below([1, 500, 90_000, 700_000][seed as usize % 4]) as usize, seed);
        file.extend(compress_gzip(&part, [0, 1, 6, 9][seed as usize % 3]));
        plain.extend(part);
    }
    file.extend([0; 512]);
    let source = open_source(file, Container::Gzip, SPACING);
    assert_random_reads(&source, &plain, 40, 4);
    assert!(read_all(&source, 12_345) == (plain.clone(), None));
    assert!(source.seek_points().expect("memory").len() > 10);
    assert_random_reads(&source, &plain, 100, 5);
}

#[test]
fn seek_points_of_several_passes_are_strictly_increasing() {
    let plain = generate_data(4_000_000, 9);
    let source = open_source(compress_gzip(&plain, 6), Container::Gzip, SPACING);
    for start in [0, 2_000_000, 1_000_000, 3_000_000] {
        assert!(read_range(&source, start, 1_000_000) == plain[start as usize..start as usize + 1_000_000]);
    }
    read_all(&source, 1 << 16);
    let points = source.seek_points().expect("memory");
    assert!(
        points.windows(2).all(|pair| {
            pair[0].offset_out + SPACING <= pair[1].offset_out && pair[0].offset_in < pair[1].offset_in
        })
    );
    assert!(points.len() >= 8, "{}", points.len());
}

#[test]
fn read_with_known_seek_points_reads_little_of_the_file() {
    let plain = generate_data(8_000_000, 11);
    let file = CountingSource { file: compress_gzip(&plain, 6), num_read: AtomicU64::new(0) };
    let size = file.file.len() as u64;
    let source = CompressedSource::new(file, Container::Gzip, Limits::default(), SPACING);
    read_all(&source, 1 << 16);
    assert_eq!(source.compressed_source().num_read.swap(0, Relaxed), size, "one pass reads every byte once");
    let mut buf = [0; 100];
    for offset in [7_000_000, 500_000, 4_000_000, 6_900_000, 2_500_000] {
        source.compressed_source().num_read.store(0, Relaxed);
        assert_eq!(source.read_at(offset, &mut buf).unwrap(), 100);
        let num_read = source.compressed_source().num_read.load(Relaxed);
        assert!(num_read < size / 4, "{num_read} of {size} bytes for one read at {offset}");
    }
}

#[test]
fn two_alternating_readers_read_each_byte_at_most_about_twice() {
    let plain = generate_data(4_000_000, 13);
    let file = CountingSource { file: compress_gzip(&plain, 6), num_read: AtomicU64::new(0) };
    let size = file.file.len() as u64;
    let source = CompressedSource::new(file, Container::Gzip, Limits::default(), SPACING);
    for offset in (0..2_000_000).step_by(500) {
        for start in [offset, offset + 2_000_000] {
            assert!(read_range(&source, start, 500) == plain[start as usize..start as usize + 500]);
        }
    }
    let num_read = source.compressed_source().num_read.load(Relaxed);
    assert!(num_read < 2 * size, "{num_read} of {size} bytes");
}

#[test]
fn read_beyond_the_valid_end_is_empty() {
    let plain = generate_data(50_000, 15);
    let source = open_source(compress_gzip(&plain, 6), Container::Gzip, SPACING);
    assert_eq!(source.num_bytes(), None);
    assert_eq!(read_range(&source, u64::MAX, 10), []);
    assert_eq!(source.num_bytes(), Some(50_000));
    assert_eq!(read_range(&source, 50_000, 10), []);
    assert_eq!(read_range(&source, 49_995, 10), plain[49_995..]);
    assert_eq!(read_range(&source, 0, 0), []);
}

#[test]
fn concurrent_random_reads_return_plain_data() {
    let plain = generate_data(3_000_000, 31);
    let source = open_source(compress_gzip(&plain, 6), Container::Gzip, 200_000);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (source, plain) = (&source, &plain);
            scope.spawn(move || assert_random_reads(source, plain, 40, seed));
        }
    });
    read_all(&source, 1 << 16);
    let points = source.seek_points().expect("memory");
    assert!(points.len() >= 5);
    assert!(points.windows(2).all(|pair| pair[0].offset_out + 200_000 <= pair[1].offset_out));
}

#[test]
fn concurrent_sequential_reads_return_plain_data() {
    let plain = generate_data(4_000_000, 32);
    let source = open_source(compress_gzip(&plain, 6), Container::Gzip, 200_000);
    let parts: Vec<Vec<u8>> = thread::scope(|scope| {
        let source = &source;
        let part =
            |start: u64| move || (0..1000).flat_map(|step| read_range(source, start + step * 500, 500)).collect();
        let handles: Vec<_> = (0..8).map(|index| scope.spawn(part(index * 500_000))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert!(parts.concat() == plain);
}
