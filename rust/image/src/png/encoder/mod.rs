//! From 8-bit samples to a PNG file: a filter for every row, one deflated run of data, no chunk that is not needed.
mod filters;

use libdeflater::{CompressionLvl, Compressor, Crc};

use super::chunks::SIGNATURE;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Size;
use filters::Filters;

/// The last level without lazy matching, which makes files 1 to 2 % smaller and takes small images twice the time.
const LEVEL: i32 = 4;
/// The largest side that PNG allows (PNG specification, section 11.2.1).
const MAX_SIDE: usize = 0x7fff_ffff;
/// Scratch above this is given back after an image.
const KEPT: usize = 32 << 20;

/// Encodes image after image, its memory reused; each thread has its own.
#[derive(Default)]
pub struct Encoder {
    compressor: Option<Compressor>,
    filters: Filters,
    rows: Vec<u8>,
}

impl Encoder {
    /// Appends the PNG file of 8-bit samples: gray, gray and alpha, RGB or RGBA, by the number of channels.
    pub fn encode(&mut self, samples: &[u8], size: Size, channels: usize, out: &mut Vec<u8>) -> Result<()> {
        let color = color_type(channels)?;
        check(samples.len(), size, channels)?;
        self.rows.clear();
        self.filters.apply(samples, size.width * channels, channels, &mut self.rows);
        out.extend_from_slice(&SIGNATURE);
        let [width, height] = [size.width as u32, size.height as u32].map(u32::to_be_bytes);
        chunk(b"IHDR", out, |out| out.extend([&width[..], &height, &[8, color, 0, 0, 0]].concat()))?;
        let compressor = self
            .compressor
            .get_or_insert_with(|| Compressor::new(CompressionLvl::new(LEVEL).expect("libdeflate has levels 1 to 12")));
        chunk(b"IDAT", out, |out| deflate(compressor, &self.rows, out))?;
        chunk(b"IEND", out, |_| {})?;
        if self.rows.capacity() > KEPT {
            self.rows = Vec::new();
        }
        Ok(())
    }
}

/// The color type of so many 8-bit channels (PNG specification, section 11.2.1).
fn color_type(channels: usize) -> Result<u8> {
    match channels {
        1 => Ok(0),
        2 => Ok(4),
        3 => Ok(2),
        4 => Ok(6),
        _ => Err(bad_argument("1 to 4 channels", channels.to_string())),
    }
}

fn check(num_samples: usize, size: Size, channels: usize) -> Result<()> {
    if [size.width, size.height].iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
        return Err(bad_argument("sides of 1 to 2147483647 pixels", format!("{} x {}", size.width, size.height)));
    }
    let needed = size.width.checked_mul(size.height).and_then(|pixels| pixels.checked_mul(channels));
    if needed != Some(num_samples) {
        let expected = format!("{} x {} x {channels} samples", size.width, size.height);
        return Err(bad_argument(&expected, num_samples.to_string()));
    }
    Ok(())
}

fn bad_argument(expected: &str, found: String) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadArgument, 0, expected, found)
}

fn deflate(compressor: &mut Compressor, rows: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + compressor.zlib_compress_bound(rows.len()), 0);
    let length = compressor.zlib_compress(rows, &mut out[start..]).expect("the bound is room enough");
    out.truncate(start + length);
}

/// Appends a chunk with the body that `fill` appends (PNG specification, section 5.3).
fn chunk(kind: &[u8; 4], out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(kind);
    fill(out);
    let length = out.len() - start - 8;
    let Some(length) = u32::try_from(length).ok().filter(|&length| length as usize <= MAX_SIDE) else {
        return Err(ImageFault::beyond_limit(0, MAX_SIDE, "bytes of compressed rows", length.to_string()));
    };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    let mut crc = Crc::new();
    crc.update(&out[start + 4..]);
    out.extend_from_slice(&crc.sum().to_be_bytes());
    Ok(())
}
