//! CPU time of our PNG decoder and of the `png` crate on the files of a folder, the two taking turns; the best round counts.
//!
//! `cargo run --release -p recordmill-image --example png_speed -- FOLDER [FILES] [ROUNDS]`
use recordmill_image::pixels::Samples;
use recordmill_image::png::{Decoder, Options};
use std::io::Cursor;
use std::time::Instant;

/// The bytes of up to `count` PNG files of a folder.
fn load(folder: &str, count: usize) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "png"));
    paths.sort();
    paths.iter().take(count).map(|path| std::fs::read(path).expect("a file")).collect()
}

fn theirs(file: &[u8], out: &mut Vec<u8>) -> usize {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a header");
    let length = reader.output_buffer_size().expect("a size");
    out.resize(length.max(out.len()), 0);
    reader.next_frame(&mut out[..length]).expect("an image");
    length
}

fn ours(decoder: &mut Decoder, file: &[u8]) -> Vec<u8> {
    let pixels = decoder.decode(file, &Options::default()).expect("an image");
    match pixels.samples {
        Samples::U8(samples) => samples,
        Samples::U16(samples) => samples.iter().flat_map(|sample| sample.to_be_bytes()).collect(),
    }
}

/// CPU seconds of this thread so far, from Linux's scheduler; elsewhere the clock's.
fn cpu_seconds(start: Instant) -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |count| count * 1e-9)
}

/// CPU seconds per file of one round.
fn seconds<T>(start: Instant, files: &[Vec<u8>], mut decode: impl FnMut(&[u8]) -> T) -> f64 {
    let before = cpu_seconds(start);
    for file in files {
        std::hint::black_box(decode(file));
    }
    (cpu_seconds(start) - before) / files.len() as f64
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |k: usize, usual| arguments.get(k).map_or(usual, |text| text.parse().expect("a number"));
    let folder = arguments.first().expect("a folder of PNG files");
    let (files, rounds) = (load(folder, number(1, 1000)), number(2, 15));
    assert!(!files.is_empty(), "no PNG files in {folder}");
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    for file in &files {
        let length = theirs(file, &mut out);
        assert!(ours(&mut decoder, file) == out[..length], "other pixels than the png crate");
    }
    let start = Instant::now();
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        best[0] = best[0].min(seconds(start, &files, |file| ours(&mut decoder, file)));
        best[1] = best[1].min(seconds(start, &files, |file| theirs(file, &mut out)));
    }
    for (name, seconds) in ["recordmill", "png crate"].iter().zip(best) {
        println!("{name}: {:.2} us per image, {:.0} images/s", seconds * 1e6, 1.0 / seconds);
    }
    println!("ratio {:.2}", best[1] / best[0]);
}
