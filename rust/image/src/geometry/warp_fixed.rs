//! Affine transform of 8-bit images with the fixed-point arithmetic of OpenCV's `warpAffine`
//! (modules/imgproc/src/imgwarp.cpp of 3.x and 4.x up to 4.11, also used by MXNet).
//!
//! The map converts output positions to source positions, and pixel centers are integers. Positions have ten fraction
//! bits when they are added and five when weights are looked up. Weights have fifteen fraction bits.
use super::resize::opencv::{cubic_weights, lanczos_weights};
use super::view::{MAX_CHANNELS, View, count_values};
use super::warp::Affine;
use crate::fault::Result;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
use std::sync::OnceLock;

/// Interpolation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taps {
    /// The nearest pixel.
    Nearest,
    /// Bilinear: 2 x 2 pixels.
    Linear,
    /// Bicubic: 4 x 4 pixels with Keys' cubic.
    Cubic,
    /// Lanczos: 8 x 8 pixels.
    Lanczos4,
}

/// 1.0 in the fixed-point unit of positions.
const POSITION_ONE: f64 = 1024.0;
/// Number of subpixel positions per axis. Positions are rounded to 1/32 of a pixel before weights are looked up.
const SUBPIXELS: usize = 32;
/// 1.0 in the fixed-point unit of weights.
const WEIGHT_ONE: i32 = 1 << 15;

/// Computes an image of `size` whose pixel at `p` is the source at `map(p)`, or `fill` outside the source.
pub fn warp_fixed(source: View<u8>, map: &Affine, size: Size, taps: Taps, fill: [u8; MAX_CHANNELS]) -> Result<Vec<u8>> {
    map.check_finite()?;
    let channels = source.channels();
    let mut output = memory::filled(count_values(size, channels)?, 0)?;
    let positions = SourcePositions::new(map, size.width)?;
    match channels {
        1 => fill_rows::<1>(source, &positions, taps, fill, &mut output)?,
        2 => fill_rows::<2>(source, &positions, taps, fill, &mut output)?,
        3 => fill_rows::<3>(source, &positions, taps, fill, &mut output)?,
        _ => fill_rows::<4>(source, &positions, taps, fill, &mut output)?,
    }
    Ok(output)
}

fn fill_rows<const C: usize>(
    source: View<u8>,
    positions: &SourcePositions,
    taps: Taps,
    fill: [u8; MAX_CHANNELS],
    output: &mut [u8],
) -> Result<(), OutOfMemory> {
    let cubic = if taps == Taps::Cubic { cubic_table()? } else { &[] };
    let lanczos = if taps == Taps::Lanczos4 { lanczos_table()? } else { &[] };
    let fill = std::array::from_fn::<u8, C, _>(|channel| fill[channel]);
    for (y, row) in output.chunks_exact_mut(positions.columns.len() * C).enumerate() {
        let pixels = positions.row(y, taps).zip(row.as_chunks_mut::<C>().0);
        match taps {
            Taps::Nearest => pixels.for_each(|(([x, y], _), to)| *to = pixel_or_none(source, x, y).unwrap_or(fill)),
            Taps::Linear => {
                pixels.for_each(|(position, to)| *to = weighted_sum(source, position, linear_weights, fill))
            }
            Taps::Cubic => pixels.for_each(|(position, to)| *to = weighted_sum(source, position, |at| cubic[at], fill)),
            Taps::Lanczos4 => {
                pixels.for_each(|(position, to)| *to = weighted_sum(source, position, |at| lanczos[at], fill));
            }
        }
    }
    Ok(())
}

/// Source position of an output pixel: integer column and row, and the index of the weights for its subpixel position.
type SourcePosition = ([i64; 2], usize);

/// Computes source positions. `columns` holds the terms that depend only on the output column.
struct SourcePositions {
    columns: Vec<[i64; 2]>,
    map: Affine,
}

impl SourcePositions {
    fn new(map: &Affine, width: usize) -> Result<Self, OutOfMemory> {
        let column = |x: usize| [to_fixed_position(map.a * x as f64), to_fixed_position(map.d * x as f64)];
        Ok(Self { columns: memory::collect((0..width).map(column))?, map: *map })
    }

    fn row(&self, y: usize, taps: Taps) -> impl Iterator<Item = SourcePosition> + '_ {
        let start = [
            to_fixed_position(self.map.b * y as f64 + self.map.c),
            to_fixed_position(self.map.e * y as f64 + self.map.f),
        ];
        let nearest = taps == Taps::Nearest;
        let (half, bits) = if nearest { (512, 10) } else { (16, 5) };
        self.columns.iter().map(move |column| {
            let [x, y] = [0, 1].map(|axis| (start[axis] + half + column[axis]) >> bits);
            if nearest {
                return ([x, y].map(saturate_16), 0);
            }
            let step = |position: i64| (position & (SUBPIXELS as i64 - 1)) as usize;
            ([x >> 5, y >> 5].map(saturate_16), step(y) * SUBPIXELS + step(x))
        })
    }
}

/// Rounds a position to fixed point with ten fraction bits, ties to even.
fn to_fixed_position(position: f64) -> i64 {
    i64::from((position * POSITION_ONE).round_ties_even() as i32)
}

/// Saturates a position to 16 bits, because OpenCV stores positions in 16 bits.
fn saturate_16(position: i64) -> i64 {
    position.clamp(i64::from(i16::MIN), i64::from(i16::MAX))
}

fn pixel_or_none<const C: usize>(source: View<u8>, x: i64, y: i64) -> Option<[u8; C]> {
    let Size { width, height } = source.size();
    let inside = (0..width as i64).contains(&x) && (0..height as i64).contains(&y);
    inside.then(|| std::array::from_fn(|channel| source.pixel(x as usize, y as usize)[channel]))
}

/// Returns the weighted sum of `K` by `K` pixels; pixels outside the source are `fill`.
#[inline(always)]
fn weighted_sum<const K: usize, const C: usize>(
    source: View<u8>,
    ([x, y], at): SourcePosition,
    weights: impl Fn(usize) -> [[i32; K]; K],
    fill: [u8; C],
) -> [u8; C] {
    let Size { width, height } = source.size();
    let (left, upper, reach) = (x - (K as i64 / 2 - 1), y - (K as i64 / 2 - 1), K as i64);
    if left >= width as i64 || upper >= height as i64 || left + reach <= 0 || upper + reach <= 0 {
        return fill;
    }
    let within = left >= 0 && upper >= 0 && left + reach <= width as i64 && upper + reach <= height as i64;
    let mut sums = [WEIGHT_ONE / 2; C];
    for (row, line) in weights(at).iter().enumerate() {
        let pixels: [[u8; C]; K] = if within {
            let from = &source.row(upper as usize + row)[left as usize * C..][..K * C];
            std::array::from_fn(|column| std::array::from_fn(|channel| from[column * C + channel]))
        } else {
            std::array::from_fn(|column| {
                pixel_or_none(source, left + column as i64, upper + row as i64).unwrap_or(fill)
            })
        };
        for (from, weight) in pixels.iter().zip(line) {
            sums.iter_mut().zip(from).for_each(|(sum, level)| *sum += weight * i32::from(*level));
        }
    }
    sums.map(|sum| (sum >> 15).clamp(0, 255) as u8)
}

/// Returns the bilinear weights, which are exact.
fn linear_weights(at: usize) -> [[i32; 2]; 2] {
    let (down, across) = ((at / SUBPIXELS) as i32, (at % SUBPIXELS) as i32);
    let axis = |step: i32| [SUBPIXELS as i32 - step, step];
    axis(down).map(|row| axis(across).map(|column| row * column * SUBPIXELS as i32))
}

fn cubic_table() -> Result<&'static [[[i32; 4]; 4]], OutOfMemory> {
    static TABLE: OnceLock<Vec<[[i32; 4]; 4]>> = OnceLock::new();
    table_of_all_positions(&TABLE, cubic_weights)
}

fn lanczos_table() -> Result<&'static [[[i32; 8]; 8]], OutOfMemory> {
    static TABLE: OnceLock<Vec<[[i32; 8]; 8]>> = OnceLock::new();
    table_of_all_positions(&TABLE, lanczos_weights)
}

/// Returns the weights for every subpixel position, which are computed on first use and kept in `table`.
fn table_of_all_positions<const K: usize>(
    table: &'static OnceLock<Vec<[[i32; K]; K]>>,
    kernel: impl Fn(f32) -> [f32; K],
) -> Result<&'static [[[i32; K]; K]], OutOfMemory> {
    if let Some(weights) = table.get() {
        return Ok(weights);
    }
    let axes: [[f32; K]; SUBPIXELS] = std::array::from_fn(|step| kernel(step as f32 / SUBPIXELS as f32));
    let weights = memory::collect((0..SUBPIXELS * SUBPIXELS).map(|at| {
        let (down, across) = (axes[at / SUBPIXELS], axes[at % SUBPIXELS]);
        correct_weight_sum(down.map(|row| across.map(|column| to_fixed_weight(row * column))))
    }))?;
    Ok(table.get_or_init(|| weights))
}

fn to_fixed_weight(weight: f32) -> i32 {
    i32::from((weight * WEIGHT_ONE as f32).round_ties_even() as i16)
}

/// Corrects weights so that their sum is one. If the sum is too small, the largest of the four center weights is
/// increased. If it is too large, the smallest of these is decreased.
fn correct_weight_sum<const K: usize>(mut weights: [[i32; K]; K]) -> [[i32; K]; K] {
    let excess = weights.iter().flatten().sum::<i32>() - WEIGHT_ONE;
    let middle = K / 2;
    let (mut least, mut most) = ((middle, middle), (middle, middle));
    for position in [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| (middle + row, middle + column)) {
        let at = |(row, column): (usize, usize)| weights[row][column];
        if at(position) < at(least) {
            least = position;
        } else if at(position) > at(most) {
            most = position;
        }
    }
    let (row, column) = if excess < 0 { most } else { least };
    weights[row][column] -= excess;
    weights
}
