//! The PNG encoder for 8-bit samples. It selects a filter for every row and writes only the required chunks.
use libdeflater::{CompressionLvl, Compressor, Crc};

use super::chunks::SIGNATURE;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// The highest libdeflate level without lazy matching. Lazy matching makes files 1 to 2 % smaller but doubles the time
/// for small images.
const LEVEL: i32 = 4;
/// Upper bound of the memory that libdeflate allocates for a compressor of this level.
const COMPRESSOR_BYTES: usize = 1 << 20;
/// Largest width or height that PNG allows (PNG specification, section 11.2.1).
const MAX_SIDE: usize = 0x7fff_ffff;
/// Largest size in bytes of the buffer that is kept after an image.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Encodes PNG files one after another and reuses its buffers. Use one per thread.
#[derive(Default)]
pub struct Encoder {
    compressor: Option<Compressor>,
    filters: FilterSelector,
    rows: Vec<u8>,
}

impl Encoder {
    /// Appends a PNG file with the given 8-bit samples to `out`. One to four channels mean gray, gray and alpha, RGB,
    /// or RGBA.
    pub fn encode(&mut self, samples: &[u8], size: Size, channels: usize, out: &mut Vec<u8>) -> Result<()> {
        let color = color_type(channels)?;
        check_sizes(samples.len(), size, channels)?;
        self.rows.clear();
        self.filters.filter_rows(samples, size.width * channels, channels, &mut self.rows)?;
        memory::extend_from_slice(out, &SIGNATURE)?;
        let [width, height] = [size.width as u32, size.height as u32].map(u32::to_be_bytes);
        append_chunk(b"IHDR", out, |out| {
            memory::extend_from_slice(out, &[&width[..], &height, &[8, color, 0, 0, 0]].concat())
        })?;
        if self.compressor.is_none() {
            // libdeflater panics if there is not enough memory.
            memory::check_available(COMPRESSOR_BYTES)?;
        }
        let compressor = self
            .compressor
            .get_or_insert_with(|| Compressor::new(CompressionLvl::new(LEVEL).expect("libdeflate has levels 1 to 12")));
        append_chunk(b"IDAT", out, |out| compress_rows(compressor, &self.rows, out))?;
        append_chunk(b"IEND", out, |_| Ok(()))?;
        if self.rows.capacity() > MAX_KEPT_BYTES {
            self.rows = Vec::new();
        }
        Ok(())
    }
}

/// Returns the color type for a number of 8-bit channels (PNG specification, section 11.2.1).
fn color_type(channels: usize) -> Result<u8> {
    match channels {
        1 => Ok(0),
        2 => Ok(4),
        3 => Ok(2),
        4 => Ok(6),
        _ => Err(bad_argument("1 to 4 channels", channels.to_string())),
    }
}

fn check_sizes(num_samples: usize, size: Size, channels: usize) -> Result<()> {
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

fn compress_rows(compressor: &mut Compressor, rows: &[u8], out: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    let start = out.len();
    memory::resize(out, start + compressor.zlib_compress_bound(rows.len()), 0)?;
    let length = compressor.zlib_compress(rows, &mut out[start..]).expect("the bound is room enough");
    out.truncate(start + length);
    Ok(())
}

/// Appends a chunk; `fill` appends its body (PNG specification, section 5.3).
fn append_chunk(
    kind: &[u8; 4],
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), OutOfMemory>,
) -> Result<()> {
    let start = out.len();
    memory::extend_from_slice(out, &[0; 4])?;
    memory::extend_from_slice(out, kind)?;
    fill(out)?;
    let length = out.len() - start - 8;
    let Some(length) = u32::try_from(length).ok().filter(|&length| length as usize <= MAX_SIDE) else {
        return Err(ImageFault::beyond_limit(0, MAX_SIDE, "bytes of compressed rows", length.to_string()));
    };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    let mut crc = Crc::new();
    crc.update(&out[start + 4..]);
    memory::extend_from_slice(out, &crc.sum().to_be_bytes())?;
    Ok(())
}

/// Selects the row filters: each row uses the one with the smallest sum of absolute differences (PNG specification,
/// sections 9 and 12.7).
#[derive(Default)]
pub(super) struct FilterSelector {
    /// The current row with each filter applied.
    candidates: [Vec<u8>; 5],
    /// A row of zeros, which precedes the first row.
    zeros: Vec<u8>,
}

impl FilterSelector {
    /// Appends the filtered rows of `length` bytes, each after its filter code. A pixel has `step` bytes.
    pub(super) fn filter_rows(
        &mut self,
        samples: &[u8],
        length: usize,
        step: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), OutOfMemory> {
        for candidate in &mut self.candidates {
            memory::resize(candidate, length, 0)?;
        }
        self.zeros.clear();
        memory::resize(&mut self.zeros, length, 0)?;
        memory::reserve(out, samples.len() + samples.len() / length.max(1))?;
        let mut above = &self.zeros[..];
        for row in samples.chunks_exact(length) {
            let code = choose_filter(&mut self.candidates, row, above, step);
            out.push(code as u8);
            out.extend_from_slice(&self.candidates[code]);
            above = row;
        }
        Ok(())
    }
}

/// Applies every filter to a row. Returns the code of the filter with the smallest sum of absolute differences.
fn choose_filter(candidates: &mut [Vec<u8>; 5], row: &[u8], above: &[u8], step: usize) -> usize {
    let [none, sub, up, average, paeth] = candidates;
    none.copy_from_slice(row);
    let first = step.min(row.len());
    // The pixel to the left of the first pixel counts as zero.
    for at in 0..first {
        sub[at] = row[at];
        average[at] = row[at].wrapping_sub(above[at] / 2);
        paeth[at] = row[at].wrapping_sub(above[at]);
    }
    for ((out, &here), &above) in up.iter_mut().zip(row).zip(above) {
        *out = here.wrapping_sub(above);
    }
    let left = &row[..row.len() - first];
    let (here, over, corner) = (&row[first..], &above[first..], &above[..row.len() - first]);
    for ((out, &here), &left) in sub[first..].iter_mut().zip(here).zip(left) {
        *out = here.wrapping_sub(left);
    }
    for (((out, &here), &left), &over) in average[first..].iter_mut().zip(here).zip(left).zip(over) {
        *out = here.wrapping_sub(((u16::from(left) + u16::from(over)) / 2) as u8);
    }
    for ((((out, &here), &left), &over), &corner) in paeth[first..].iter_mut().zip(here).zip(left).zip(over).zip(corner)
    {
        *out = here.wrapping_sub(paeth_predictor(left, over, corner));
    }
    let sums = candidates.each_ref().map(|candidate| absolute_sum(candidate));
    (0..sums.len()).min_by_key(|&code| sums[code]).unwrap_or(0)
}

/// Paeth predictor (PNG specification, section 9.4), without branches.
fn paeth_predictor(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let (from_left, from_above, from_corner) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    let side = if from_above <= from_corner { above } else { corner };
    if from_left <= from_above && from_left <= from_corner { left } else { side }
}

/// Returns the sum of absolute values, with bytes read as signed integers.
fn absolute_sum(filtered: &[u8]) -> u64 {
    filtered
        .chunks(1 << 16)
        .map(|chunk| chunk.iter().map(|&byte| u32::from(byte.cast_signed().unsigned_abs())).sum::<u32>())
        .map(u64::from)
        .sum()
}
