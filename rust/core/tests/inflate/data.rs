//! Test data, functions that compress it in several ways, and functions that read compressed sources.
use miniz_oxide::deflate::core::{CompressorOxide, create_comp_flags_from_zip_params};
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::{MZFlush, mz_adler32_oxide};
use recordmill_core::checksum::crc32;
use recordmill_core::error::Fault;
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::source::{ReadAt, SourceError};

/// Compression strategy that uses only fixed Huffman codes.
pub const FIXED: i32 = 4;
pub const DEFAULT: i32 = 0;

/// A small deterministic random generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// Generates `len` bytes that alternate between text, noise and runs of one value.
pub fn generate_data(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut data = Vec::with_capacity(len + 4096);
    while data.len() < len {
        match random.below(8) {
            0 => data.extend((0..random.below(4096)).map(|_| random.0 as u8)),
            1 => (0..random.below(2048)).for_each(|_| data.push(random.next() as u8)),
            _ => (0..random.below(600)).for_each(|_| {
                data.extend_from_slice(format!("image_{:05} ", random.below(3000)).as_bytes());
            }),
        }
    }
    data.truncate(len);
    data
}

/// Compresses pieces of `piece` bytes, each with a sync flush (an empty stored block) at its end, to raw deflate data.
pub fn deflate_with_flushes(data: &[u8], level: i32, strategy: i32, piece: usize) -> Vec<u8> {
    let mut compressor = CompressorOxide::new(create_comp_flags_from_zip_params(level, -15, strategy));
    let mut out = Vec::new();
    let mut buf = vec![0; 64 * 1024];
    let mut feed = |mut input: &[u8], flush: MZFlush| {
        loop {
            let result = deflate(&mut compressor, input, &mut buf, flush);
            input = &input[result.bytes_consumed..];
            out.extend_from_slice(&buf[..result.bytes_written]);
            if input.is_empty() && result.bytes_written < buf.len() {
                break;
            }
        }
    };
    data.chunks(piece).for_each(|chunk| feed(chunk, MZFlush::Sync));
    feed(&[], MZFlush::Finish);
    out
}

/// Compresses `data` to raw deflate data.
pub fn deflate_whole(data: &[u8], level: i32, strategy: i32) -> Vec<u8> {
    let flags = create_comp_flags_from_zip_params(level, -15, strategy);
    let mut compressor = CompressorOxide::new(flags);
    let mut out = vec![0; data.len() + data.len() / 8 + 4096];
    let result = deflate(&mut compressor, data, &mut out, MZFlush::Finish);
    assert_eq!(result.bytes_consumed, data.len());
    out.truncate(result.bytes_written);
    out
}

/// Adds the header and trailer of a container to `raw`, the deflate data of `data`.
pub fn add_container(container: Container, raw: &[u8], data: &[u8]) -> Vec<u8> {
    match container {
        Container::Gzip => {
            let header = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];
            let (crc, length) = (crc32(0, data).to_le_bytes(), (data.len() as u32).to_le_bytes());
            [&header[..], raw, &crc, &length].concat()
        }
        Container::Zlib => [&[0x78, 0x9C], raw, &mz_adler32_oxide(1, data).to_be_bytes()].concat(),
    }
}

pub fn compress_gzip(data: &[u8], level: i32) -> Vec<u8> {
    add_container(Container::Gzip, &deflate_whole(data, level, DEFAULT), data)
}

pub fn compress_zlib(data: &[u8], level: i32) -> Vec<u8> {
    add_container(Container::Zlib, &deflate_whole(data, level, DEFAULT), data)
}

pub fn open_source(file: Vec<u8>, container: Container, spacing: u64) -> CompressedSource<Vec<u8>> {
    CompressedSource::new(file, container, Limits::default(), spacing)
}

/// Reads the whole source, `step` bytes at a time. Returns the data and, if a fault ended the read, that fault.
pub fn read_all(source: &dyn ReadAt, step: usize) -> (Vec<u8>, Option<Fault>) {
    let (mut data, mut buf) = (Vec::new(), vec![0; step]);
    loop {
        match source.read_at(data.len() as u64, &mut buf) {
            Ok(0) => return (data, None),
            Ok(count) => data.extend_from_slice(&buf[..count]),
            Err(SourceError::Fault(fault)) => return (data, Some(fault)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Reads up to `len` bytes at `offset`.
pub fn read_range(source: &dyn ReadAt, offset: u64, len: usize) -> Vec<u8> {
    let mut buf = vec![0; len];
    let count = source.read_at(offset, &mut buf).expect("a valid stream");
    buf.truncate(count);
    buf
}

/// Compares `rounds` reads at random offsets with the plain data.
pub fn assert_random_reads(source: &dyn ReadAt, plain: &[u8], rounds: usize, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..rounds {
        let offset = random.below(plain.len() as u64 + 10) as usize;
        let len = 1 + random.below([16, 3000, 200_000][random.0 as usize % 3]) as usize;
        let expected = &plain[offset.min(plain.len())..(offset + len).min(plain.len())];
        assert!(read_range(source, offset as u64, len) == expected, "offset {offset}, length {len}");
    }
}
