//! Reads of one source by several threads.
use super::data::{assert_random_reads, drain, gzip, mixture, open, read};
use recordmill_core::inflate::Container;
use std::thread;

#[test]
fn concurrent_random_reads_return_plain_data() {
    let plain = mixture(3_000_000, 31);
    let source = open(gzip(&plain, 6), Container::Gzip, 200_000);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (source, plain) = (&source, &plain);
            scope.spawn(move || assert_random_reads(source, plain, 40, seed));
        }
    });
    drain(&source, 1 << 16);
    let points = source.seek_points();
    assert!(points.len() >= 5);
    assert!(points.windows(2).all(|pair| pair[0].offset_out + 200_000 <= pair[1].offset_out));
}

#[test]
fn concurrent_sequential_reads_return_plain_data() {
    let plain = mixture(4_000_000, 32);
    let source = open(gzip(&plain, 6), Container::Gzip, 200_000);
    let parts: Vec<Vec<u8>> = thread::scope(|scope| {
        let source = &source;
        let part = |start: u64| move || (0..1000).flat_map(|step| read(source, start + step * 500, 500)).collect();
        let handles: Vec<_> = (0..8).map(|index| scope.spawn(part(index * 500_000))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert!(parts.concat() == plain);
}
