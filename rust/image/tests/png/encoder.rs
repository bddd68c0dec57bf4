//! A small PNG encoder for tests that supports any color type, bit depth, filter, interlacing and extra chunks.
use libdeflater::{CompressionLvl, Compressor, Crc};

pub const COMBINATIONS: [(u8, u8); 15] = [
    (0, 1),
    (0, 2),
    (0, 4),
    (0, 8),
    (0, 16),
    (2, 8),
    (2, 16),
    (3, 1),
    (3, 2),
    (3, 4),
    (3, 8),
    (4, 8),
    (4, 16),
    (6, 8),
    (6, 16),
];

const ADAM7: [[usize; 4]; 7] =
    [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];

/// An image as stored in a PNG file.
#[derive(Debug, Clone)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub color: u8,
    pub depth: u8,
    pub interlaced: bool,
    pub samples: Vec<u16>,
}

/// Pseudorandom number generator.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % bound
    }
}

impl Image {
    /// Creates an image of noise.
    pub fn noise(width: usize, height: usize, color: u8, depth: u8, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let count = width * height * samples_per_pixel(color);
        let samples = (0..count).map(|_| noise.below(1 << depth) as u16).collect();
        Self { width, height, color, depth, interlaced: false, samples }
    }

    /// Returns the same image with Adam7 interlacing.
    pub fn interlaced(mut self) -> Self {
        self.interlaced = true;
        self
    }

    /// Returns the filtered rows. `choose` maps the row number, counted over all passes, to a filter.
    pub fn filtered_rows(&self, mut choose: impl FnMut(usize) -> u8) -> Vec<u8> {
        let passes: &[_] = if self.interlaced { &ADAM7 } else { &[[0, 0, 1, 1]] };
        let step = (samples_per_pixel(self.color) * usize::from(self.depth)).div_ceil(8);
        let (mut out, mut number) = (Vec::new(), 0);
        for &[x, y, step_x, step_y] in passes {
            let mut above = Vec::new();
            for row in (y..self.height).step_by(step_y).filter(|_| x < self.width) {
                let packed = self.packed_row(row, (x..self.width).step_by(step_x));
                above.resize(packed.len(), 0);
                append_filtered_row(choose(number), step, &packed, &above, &mut out);
                (above, number) = (packed, number + 1);
            }
        }
        out
    }

    fn packed_row(&self, row: usize, columns: impl Iterator<Item = usize>) -> Vec<u8> {
        let count = samples_per_pixel(self.color);
        let starts = columns.map(|column| (row * self.width + column) * count);
        let samples: Vec<u16> = starts.flat_map(|start| self.samples[start..start + count].to_vec()).collect();
        match self.depth {
            16 => samples.iter().flat_map(|sample| sample.to_be_bytes()).collect(),
            depth => samples.chunks(8 / usize::from(depth)).map(|group| pack_samples_into_byte(depth, group)).collect(),
        }
    }

    /// Returns the IHDR chunk.
    pub fn ihdr_chunk(&self) -> Vec<u8> {
        let [width, height] = [self.width, self.height].map(|side| (side as u32).to_be_bytes());
        let rest = [self.depth, self.color, 0, 0, self.interlaced.into()];
        make_chunk(b"IHDR", &[&width[..], &height[..], &rest[..]].concat())
    }

    /// Returns a complete file that cycles through the filters. `before` are the chunks between IHDR and IDAT.
    pub fn file(&self, before: &[Vec<u8>]) -> Vec<u8> {
        self.file_with_filters(before, |row| (row % 5) as u8)
    }

    /// Returns a complete file with the filters that `choose` returns.
    pub fn file_with_filters(&self, before: &[Vec<u8>], choose: impl FnMut(usize) -> u8) -> Vec<u8> {
        let data = make_chunk(b"IDAT", &compress_to_zlib(&self.filtered_rows(choose)));
        join_chunks(&[&[self.ihdr_chunk()], before, &[data, make_chunk(b"IEND", b"")]].concat())
    }

    /// Returns the PLTE chunk of a palette image with a full palette, or no chunk for other images.
    pub fn palette_chunk(&self, seed: u64) -> Vec<Vec<u8>> {
        if self.color != 3 {
            return Vec::new();
        }
        let mut noise = Noise::new(seed);
        let entries: Vec<u8> = (0..3 << self.depth).map(|_| noise.below(256) as u8).collect();
        vec![make_chunk(b"PLTE", &entries)]
    }
}

/// Returns the number of samples per stored pixel.
pub fn samples_per_pixel(color: u8) -> usize {
    [1, 0, 3, 1, 2, 0, 4][usize::from(color)]
}

/// Concatenates signature and chunks.
pub fn join_chunks(chunks: &[Vec<u8>]) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.concat()].concat()
}

/// Returns a chunk with a correct CRC.
pub fn make_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(body);
    [&(body.len() as u32).to_be_bytes()[..], kind, body, &crc.sum().to_be_bytes()].concat()
}

/// Returns a zlib stream of `raw`.
pub fn compress_to_zlib(raw: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut out = vec![0; compressor.zlib_compress_bound(raw.len())];
    let length = compressor.zlib_compress(raw, &mut out).expect("enough room");
    out.truncate(length);
    out
}

fn pack_samples_into_byte(depth: u8, group: &[u16]) -> u8 {
    let shift = |k: usize| 8 - usize::from(depth) * (k + 1);
    group.iter().enumerate().map(|(k, &sample)| (sample as u8) << shift(k)).fold(0, |byte, bits| byte | bits)
}

fn append_filtered_row(kind: u8, step: usize, row: &[u8], above: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    for (k, &value) in row.iter().enumerate() {
        let before = |row: &[u8]| if k >= step { i32::from(row[k - step]) } else { 0 };
        let (a, b, c) = (before(row), i32::from(above[k]), before(above));
        let predicted = match kind {
            1 => a,
            2 => b,
            3 => (a + b) / 2,
            4 => [a, b, c].into_iter().min_by_key(|near| (a + b - c - near).abs()).expect("three"),
            _ => 0,
        };
        out.push(value.wrapping_sub(predicted as u8));
    }
}
