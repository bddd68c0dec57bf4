//! CPU time of our PNG decoder and of the `png` crate on the files of a folder, the two taking turns; the best round counts.
//!
//! `cargo run --release -p recordmill-image --example png_speed -- FOLDER [FILES] [ROUNDS]`
use recordmill_image::pixels::Samples;
use recordmill_image::png::{Decoder, Header, Options};
use std::io::Cursor;

/// The bytes of up to `count` PNG files of a folder.
fn load(folder: &str, count: usize) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "png"));
    paths.sort();
    paths.iter().take(count).map(|path| std::fs::read(path).expect("a file")).collect()
}

fn theirs(file: &[u8], out: &mut Vec<u8>) -> usize {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a header");
    let length = reader.output_buffer_size().expect("a size");
    out.resize(length.max(out.len()), 0);
    reader.next_frame(&mut out[..length]).expect("an image");
    length
}

/// Into memory that is kept, as batches are; 16-bit samples, which have no such way, into memory of their own.
fn ours(decoder: &mut Decoder, file: &[u8], out: &mut Vec<u8>) -> usize {
    let (options, header) = (Options::default(), Header::parse(file).expect("a header"));
    let shape = options.shape(&header).expect("a shape");
    let length = shape.row_samples() * shape.size.height * usize::from(shape.bits / 8);
    out.resize(length.max(out.len()), 0);
    if shape.bits == 8 {
        decoder.decode_into(file, &options, &mut out[..length], shape.row_samples()).expect("an image");
    } else if let Samples::U16(samples) = decoder.decode(file, &options).expect("an image").samples {
        for (bytes, sample) in out.as_chunks_mut::<2>().0.iter_mut().zip(samples) {
            *bytes = sample.to_be_bytes();
        }
    }
    length
}

/// CPU seconds of this thread so far.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds on the clock, where no CPU time is to be had.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64())
}

/// CPU seconds per file of one round.
fn seconds<T>(files: &[Vec<u8>], mut decode: impl FnMut(&[u8]) -> T) -> f64 {
    let before = cpu_seconds();
    for file in files {
        std::hint::black_box(decode(file));
    }
    (cpu_seconds() - before) / files.len() as f64
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |k: usize, usual| arguments.get(k).map_or(usual, |text| text.parse().expect("a number"));
    let folder = arguments.first().expect("a folder of PNG files");
    let (files, rounds) = (load(folder, number(1, 1000)), number(2, 15));
    assert!(!files.is_empty(), "no PNG files in {folder}");
    let (mut decoder, mut out, mut own) = (Decoder::new(), Vec::new(), Vec::new());
    for file in &files {
        let lengths = (ours(&mut decoder, file, &mut own), theirs(file, &mut out));
        assert!(own[..lengths.0] == out[..lengths.1], "other pixels than the png crate");
    }
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        best[0] = best[0].min(seconds(&files, |file| ours(&mut decoder, file, &mut own)));
        best[1] = best[1].min(seconds(&files, |file| theirs(file, &mut out)));
    }
    for (name, seconds) in ["recordmill", "png crate"].iter().zip(best) {
        println!("{name}: {:.2} us per image, {:.0} images/s", seconds * 1e6, 1.0 / seconds);
    }
    println!("ratio {:.2}", best[1] / best[0]);
}
