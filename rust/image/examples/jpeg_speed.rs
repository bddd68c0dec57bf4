//! Measures JPEG decoding over a folder: milliseconds of CPU time per image.
//!
//! Usage: jpeg_speed FOLDER [whole|windows|entry] [number of images] [rounds]
use recordmill_image::jpeg::{Decoder, EntryPoints, Header, Options};
use recordmill_image::pixels::{Size, Window};
use std::hint::black_box;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rest @ ..] = &arguments[..] else {
        return Err("usage: jpeg_speed FOLDER [mode] [images] [rounds]".into());
    };
    let mode = rest.first().map_or("whole", String::as_str);
    let number = |index: usize, usual: usize| rest.get(index).map_or(Ok(usual), |text| text.parse());
    let (num_images, num_rounds) = (number(1, 400)?, number(2, 5)?);
    let images = read(Path::new(folder), num_images)?;
    let jobs: Vec<Job> = images.iter().map(|data| Job::new(data, mode)).collect::<Result<_, _>>()?;
    let mut decoder = Decoder::new();
    let mut out = vec![0; jobs.iter().map(Job::largest).max().unwrap_or(0)];
    let mut rounds = Vec::new();
    for _ in 0..num_rounds {
        let start = cpu_ms()?;
        for job in &jobs {
            job.run(&mut decoder, &mut out)?;
        }
        rounds.push((cpu_ms()? - start) / jobs.iter().map(|job| job.windows.len()).sum::<usize>() as f64);
    }
    rounds.sort_by(f64::total_cmp);
    println!("{mode}: best {:.4} ms, median {:.4} ms per image", rounds[0], rounds[rounds.len() / 2]);
    Ok(())
}

/// One file and what is decoded of it.
struct Job<'a> {
    data: &'a [u8],
    windows: Vec<Option<Window>>,
    size: Size,
    /// Entry points as they are kept; read anew for each window.
    points: Option<Vec<u8>>,
}

impl<'a> Job<'a> {
    fn new(data: &'a [u8], mode: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let size = Header::parse(data)?.size;
        let windows = match mode {
            "whole" => vec![None],
            "windows" | "entry" => random_windows(size).into_iter().map(Some).collect(),
            _ => return Err(format!("unknown mode {mode}").into()),
        };
        let points = if mode == "entry" { Some(EntryPoints::build(data, 1)?.to_bytes()) } else { None };
        Ok(Self { data, windows, size, points })
    }

    fn largest(&self) -> usize {
        self.size.width * self.size.height * 3
    }

    fn run(&self, decoder: &mut Decoder, out: &mut [u8]) -> Result<(), Box<dyn std::error::Error>> {
        for &window in &self.windows {
            let width = window.map_or(self.size.width, |window| window.width);
            let points = self.points.as_ref().map(|bytes| EntryPoints::from_bytes(bytes)).transpose()?;
            decoder.decode(self.data, window, &Options::default(), points.as_ref(), out, width * 3)?;
            black_box(&out);
        }
        Ok(())
    }
}

/// Four windows as random-resized crops draw them: 8 % to all of the area, sides from 3:4 to 4:3.
fn random_windows(size: Size) -> Vec<Window> {
    let mut state = (size.width * 65_537 + size.height) as u64 | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut windows = Vec::new();
    while windows.len() < 4 {
        let area = (size.width * size.height) as f64 * (0.08 + 0.92 * uniform());
        let ratio = ((0.75_f64).ln() + uniform() * (16.0_f64 / 9.0).ln()).exp();
        let (width, height) = ((area * ratio).sqrt().round() as usize, (area / ratio).sqrt().round() as usize);
        if (1..=size.width).contains(&width) && (1..=size.height).contains(&height) {
            let x = (uniform() * (size.width - width + 1) as f64) as usize;
            let y = (uniform() * (size.height - height + 1) as f64) as usize;
            windows.push(Window { x, y, width, height });
        }
    }
    windows
}

/// The first `num_images` JPEG files of `folder`, evenly spread.
fn read(folder: &Path, num_images: usize) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "jpg" || suffix == "jpeg"));
    paths.sort();
    let step = (paths.len() / num_images).max(1);
    paths.iter().step_by(step).take(num_images).map(std::fs::read).collect()
}

/// CPU time of this process in milliseconds.
fn cpu_ms() -> Result<f64, Box<dyn std::error::Error>> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6)
}
