//! Affine transform with the arithmetic of Pillow's `Image.transform` (Geometry.c), sampled at pixel centers.
//!
//! The map converts output positions to source positions, like Pillow's `data`. Bilinear values are computed in float64
//! and truncated to integers. Nearest-neighbor positions use 16.16 fixed point if its range suffices. Both methods are
//! bit-exact with Pillow's 8-bit modes and its mode `F`; 16-bit samples are computed as `F` and rounded.
use super::pixel_type::PixelType;
use super::view::{MAX_CHANNELS, View, bad_argument, count_values};
use crate::fault::Result;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// An affine map, `x' = a x + b y + c` and `y' = d x + e y + f`. Coordinates are continuous: pixel (0, 0) covers 0 to 1
/// on both axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Coefficient of `x` in `x'`.
    pub a: f64,
    /// Coefficient of `y` in `x'`.
    pub b: f64,
    /// Offset of `x'`.
    pub c: f64,
    /// Coefficient of `x` in `y'`.
    pub d: f64,
    /// Coefficient of `y` in `y'`.
    pub e: f64,
    /// Offset of `y'`.
    pub f: f64,
}

impl Affine {
    /// The identity map.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 0.0, e: 1.0, f: 0.0 };

    /// Maps (`x`, `y`).
    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a * x + self.b * y + self.c, self.d * x + self.e * y + self.f)
    }

    /// Returns an error unless all coefficients are finite.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let numbers = [self.a, self.b, self.c, self.d, self.e, self.f];
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(());
        }
        bad_argument("finite numbers", format!("{self:?}"))
    }
}

/// Interpolation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// The pixel that contains the mapped center.
    Nearest,
    /// The four pixels around the mapped center. Beyond the border, the nearest pixel of the image is used instead.
    Bilinear,
}

/// Computes an image of `size` whose pixel at `p` is the source at `map(p)`, or `fill` outside the source.
pub fn warp<T: PixelType>(
    source: View<T>,
    map: &Affine,
    size: Size,
    sampling: Sampling,
    fill: [T; MAX_CHANNELS],
) -> Result<Vec<T>> {
    map.check_finite()?;
    let channels = source.channels();
    let mut output = memory::repeat(&fill[..channels], count_values(size, channels)? / channels)?;
    let rows = output.chunks_exact_mut(size.width * channels);
    match sampling {
        Sampling::Bilinear => rows.enumerate().for_each(|(y, row)| interpolate_row(source, map, y, row)),
        Sampling::Nearest => {
            let positions = NearestPositions::new(map, size)?;
            rows.enumerate().for_each(|(y, row)| positions.copy_row(source, y, row));
        }
    }
    Ok(output)
}

fn interpolate_row<T: PixelType>(source: View<T>, map: &Affine, y: usize, row: &mut [T]) {
    let Size { width, height } = source.size();
    for (x, pixel) in row.chunks_exact_mut(source.channels()).enumerate() {
        let (x, y) = map.apply(x as f64 + 0.5, y as f64 + 0.5);
        if (0.0..width as f64).contains(&x) && (0.0..height as f64).contains(&y) {
            interpolate_pixel(source, x - 0.5, y - 0.5, pixel);
        }
    }
}

/// Interpolates at (`x`, `y`), where pixel centers are integers.
fn interpolate_pixel<T: PixelType>(source: View<T>, x: f64, y: f64, pixel: &mut [T]) {
    let Size { width, height } = source.size();
    let (left, upper) = (x.floor(), y.floor());
    let (across, down) = (x - left, y - upper);
    let clamp = |position: f64, length: usize| (position.max(0.0) as usize).min(length - 1);
    let columns = [clamp(left, width), clamp(left + 1.0, width)];
    let rows = [clamp(upper, height), clamp(upper + 1.0, height)];
    for (channel, value) in pixel.iter_mut().enumerate() {
        let level = |column: usize, row: usize| -> f32 { source.pixel(columns[column], rows[row])[channel].into() };
        // Pillow subtracts neighbors in float32.
        let step = |row: usize| f64::from(level(1, row) - level(0, row));
        let interpolate = |row: usize| f64::from(level(0, row)) + step(row) * across;
        let (first, second) = (interpolate(0), interpolate(1));
        *value = T::from_interpolated(first + (second - first) * down);
    }
}

/// Source positions of a nearest-neighbor transform.
enum NearestPositions {
    /// Axis-aligned maps: source positions of each column and row, computed by repeated addition as in Pillow.
    Grid { columns: Vec<f64>, rows: Vec<f64> },
    /// Other maps, in 16.16 fixed point. Each source coordinate has three numbers: its value at the first output pixel,
    /// its increment per output column, and its increment per output row.
    Fixed { x: [i64; 3], y: [i64; 3] },
    /// The same values in float64, for maps with source positions of 32,768 or more.
    Wide { x: [f64; 3], y: [f64; 3] },
}

impl NearestPositions {
    fn new(map: &Affine, size: Size) -> Result<Self, OutOfMemory> {
        if map.b == 0.0 && map.d == 0.0 {
            let sums = |start: f64, step: f64, count: usize| {
                let positions = std::iter::successors(Some(start + step * 0.5), |position| Some(position + step));
                memory::collect_count(positions, count)
            };
            let (columns, rows) = (sums(map.c, map.a, size.width)?, sums(map.f, map.e, size.height)?);
            return Ok(Self::Grid { columns, rows });
        }
        let corners = [(0, 0), (size.width, size.height), (0, size.height), (size.width, 0)];
        let near = |(x, y): (usize, usize)| {
            let (x, y) = map.apply(x as f64, y as f64);
            x.abs() < 32768.0 && y.abs() < 32768.0
        };
        if corners.into_iter().all(near) {
            let fix = |value: f64| (value * 65536.0 + 0.5).floor() as i64;
            let x = [fix(map.c + map.a * 0.5 + map.b * 0.5), fix(map.a), fix(map.b)];
            return Ok(Self::Fixed { x, y: [fix(map.f + map.d * 0.5 + map.e * 0.5), fix(map.d), fix(map.e)] });
        }
        let x = [map.c + map.b * 0.5 + map.a * 0.5, map.a, map.b];
        Ok(Self::Wide { x, y: [map.f + map.e * 0.5 + map.d * 0.5, map.d, map.e] })
    }

    fn copy_row<T: Copy>(&self, source: View<T>, y: usize, row: &mut [T]) {
        let pixels = row.chunks_exact_mut(source.channels()).enumerate();
        match self {
            Self::Grid { columns, rows } => pixels
                .for_each(|(x, to)| copy_pixel(source, containing_pixel(columns[x]), containing_pixel(rows[y]), to)),
            Self::Fixed { x: across, y: down } => pixels.for_each(|(x, to)| {
                let position =
                    |positions: &[i64; 3]| (positions[0] + positions[2] * y as i64 + positions[1] * x as i64) >> 16;
                copy_pixel(source, position(across), position(down), to);
            }),
            Self::Wide { x: across, y: down } => pixels.for_each(|(x, to)| {
                let position = |positions: &[f64; 3]| {
                    containing_pixel(positions[0] + positions[2] * y as f64 + positions[1] * x as f64)
                };
                copy_pixel(source, position(across), position(down), to);
            }),
        }
    }
}

/// Returns the index of the pixel that contains `position`, or -1 for negative positions.
fn containing_pixel(position: f64) -> i64 {
    if position < 0.0 { -1 } else { position as i64 }
}

fn copy_pixel<T: Copy>(source: View<T>, x: i64, y: i64, to: &mut [T]) {
    let Size { width, height } = source.size();
    if (0..width as i64).contains(&x) && (0..height as i64).contains(&y) {
        to.copy_from_slice(source.pixel(x as usize, y as usize));
    }
}
