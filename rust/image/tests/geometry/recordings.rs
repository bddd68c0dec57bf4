//! Reads `tests/recordings/resize`: source images, and the results of other libraries.
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::Size;
use std::path::PathBuf;

/// A source image with 8 and with 16 bits.
pub struct SourceImage {
    pub size: Size,
    pub channels: usize,
    pub bytes: Vec<u8>,
    pub deep: Vec<u16>,
}

impl SourceImage {
    pub fn view(&self) -> View<'_, u8> {
        View::new(&self.bytes, self.size, self.channels).expect("a recorded image")
    }

    pub fn view_16_bit(&self) -> View<'_, u16> {
        View::new(&self.deep, self.size, self.channels).expect("a recorded image")
    }
}

/// Recorded pixel values of any sample type.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedPixels {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

/// One result of a library: source image, operation, output size and pixels.
pub struct RecordedResult {
    pub line: String,
    pub operation: String,
    pub image: usize,
    pub size: Size,
    pub arguments: Vec<f64>,
    pub expected: RecordedPixels,
}

fn recordings_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings/resize")
}

fn read_lines(name: &str) -> Vec<String> {
    let path = recordings_folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

fn read_bytes(name: &str) -> Vec<u8> {
    std::fs::read(recordings_folder().join(name)).expect("a recording")
}

pub fn read_images() -> Vec<SourceImage> {
    let data = read_bytes("images.bin");
    let image = |line: &String| {
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let (size, channels) = (Size { width: numbers[0], height: numbers[1] }, numbers[2]);
        let bytes = data[numbers[3]..][..size.width * size.height * channels].to_vec();
        let deep = bytes.iter().map(|byte| u16::from(*byte) * 257).collect();
        SourceImage { size, channels, bytes, deep }
    };
    read_lines("images.txt").iter().map(image).collect()
}

/// Returns the recorded results of a library whose operation begins with `prefix`. Panics if there are none, because
/// the test would check nothing.
pub fn read_cases(library: &str, prefix: &str) -> Vec<RecordedResult> {
    let data = read_bytes(&format!("{library}.bin"));
    let lines = read_lines(&format!("{library}.txt"));
    let cases: Vec<RecordedResult> =
        lines.iter().filter(|line| line.starts_with(prefix)).map(|line| parse_case(line, &data)).collect();
    assert!(!cases.is_empty(), "{library} has no recordings of {prefix}");
    cases
}

fn parse_case(line: &str, data: &[u8]) -> RecordedResult {
    let words: Vec<&str> = line.split(' ').collect();
    let numbers: Vec<usize> = words[2..7].iter().map(|word| word.parse().expect("a number")).collect();
    let size = Size { width: numbers[1], height: numbers[2] };
    let count = size.width * size.height * numbers[3];
    let data = &data[numbers[4]..];
    let expected = match words[1] {
        "u8" => RecordedPixels::U8(data[..count].to_vec()),
        "u16" => {
            RecordedPixels::U16(data[..count * 2].as_chunks().0.iter().map(|two| u16::from_le_bytes(*two)).collect())
        }
        _ => {
            RecordedPixels::F32(data[..count * 4].as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect())
        }
    };
    let arguments = words[7..].iter().map(|word| word.parse().expect("a number")).collect();
    RecordedResult {
        line: line.to_owned(),
        operation: words[0].to_owned(),
        image: numbers[0],
        size,
        arguments,
        expected,
    }
}

/// Returns an image of noise that is the same in every run (xorshift).
pub fn noise_image(size: Size, channels: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..size.width * size.height * channels).map(|_| next()).collect()
}
