//! Images under an affine map, sampled at pixel centers with the arithmetic of Pillow's `Image.transform` (Geometry.c).
//!
//! The map given leads from the output to the source, as Pillow's `data` does. Bilinear values are float64 and cut to
//! integers; nearest neighbors use 16.16 fixed point where it suffices. Both equal Pillow's eight-bit modes and its mode
//! `F` bit for bit; 16-bit values go through `F` and are rounded.
use super::pixel_type::PixelType;
use super::view::{MAX_CHANNELS, View, count_values, refuse};
use crate::fault::Result;
use crate::pixels::Size;

/// An affine map of the plane, `x' = a x + b y + c` and `y' = d x + e y + f`. Coordinates are continuous: pixel (0, 0) covers 0 to 1 on
/// both axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// How much of `x` goes into `x'`.
    pub a: f64,
    /// How much of `y` goes into `x'`.
    pub b: f64,
    /// What is added to `x'`.
    pub c: f64,
    /// How much of `x` goes into `y'`.
    pub d: f64,
    /// How much of `y` goes into `y'`.
    pub e: f64,
    /// What is added to `y'`.
    pub f: f64,
}

impl Affine {
    /// Nothing moves.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 0.0, e: 1.0, f: 0.0 };

    /// Where (`x`, `y`) goes.
    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a * x + self.b * y + self.c, self.d * x + self.e * y + self.f)
    }

    /// A fault unless all numbers are finite.
    pub(crate) fn check(&self) -> Result<()> {
        let numbers = [self.a, self.b, self.c, self.d, self.e, self.f];
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(());
        }
        refuse("finite numbers", format!("{self:?}"))
    }
}

/// How an output pixel is made of source pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// The pixel under the center.
    Nearest,
    /// The four pixels around the center; at the border, those that exist.
    Bilinear,
}

/// The output of `size` whose pixel at `p` is the source at `map(p)`, or `fill` outside.
pub fn warp<T: PixelType>(
    source: View<T>,
    map: &Affine,
    size: Size,
    sampling: Sampling,
    fill: [T; MAX_CHANNELS],
) -> Result<Vec<T>> {
    map.check()?;
    let channels = source.channels();
    let mut output = fill[..channels].repeat(count_values(size, channels)? / channels);
    let rows = output.chunks_exact_mut(size.width * channels);
    match sampling {
        Sampling::Bilinear => rows.enumerate().for_each(|(y, row)| mix_row(source, map, y, row)),
        Sampling::Nearest => {
            let steps = Steps::new(map, size);
            rows.enumerate().for_each(|(y, row)| steps.copy_row(source, y, row));
        }
    }
    Ok(output)
}

fn mix_row<T: PixelType>(source: View<T>, map: &Affine, y: usize, row: &mut [T]) {
    let Size { width, height } = source.size();
    for (x, pixel) in row.chunks_exact_mut(source.channels()).enumerate() {
        let (x, y) = map.apply(x as f64 + 0.5, y as f64 + 0.5);
        if (0.0..width as f64).contains(&x) && (0.0..height as f64).contains(&y) {
            mix_pixel(source, x - 0.5, y - 0.5, pixel);
        }
    }
}

/// The mixture around (`x`, `y`), in which pixel centers are whole numbers.
fn mix_pixel<T: PixelType>(source: View<T>, x: f64, y: f64, pixel: &mut [T]) {
    let Size { width, height } = source.size();
    let (left, upper) = (x.floor(), y.floor());
    let (across, down) = (x - left, y - upper);
    let clamp = |place: f64, length: usize| (place.max(0.0) as usize).min(length - 1);
    let columns = [clamp(left, width), clamp(left + 1.0, width)];
    let rows = [clamp(upper, height), clamp(upper + 1.0, height)];
    for (channel, value) in pixel.iter_mut().enumerate() {
        let level = |column: usize, row: usize| -> f32 { source.pixel(columns[column], rows[row])[channel].into() };
        // Pillow subtracts neighbors in float32.
        let step = |row: usize| f64::from(level(1, row) - level(0, row));
        let between = |row: usize| f64::from(level(0, row)) + step(row) * across;
        let (first, second) = (between(0), between(1));
        *value = T::mixed(first + (second - first) * down);
    }
}

/// The numbers of a nearest-neighbor walk over the output.
enum Steps {
    /// Rows and columns stay rows and columns: source places by repeated sums, `None` outside.
    Grid { columns: Vec<f64>, rows: Vec<f64> },
    /// 16.16 fixed point: start, step along x, step along y for each coordinate.
    Fixed { x: [i64; 3], y: [i64; 3] },
    /// The same in float64, for sources beyond 32,768 pixels.
    Wide { x: [f64; 3], y: [f64; 3] },
}

impl Steps {
    fn new(map: &Affine, size: Size) -> Self {
        if map.b == 0.0 && map.d == 0.0 {
            let sums = |start: f64, step: f64, count: usize| {
                std::iter::successors(Some(start + step * 0.5), |place| Some(place + step)).take(count).collect()
            };
            return Self::Grid { columns: sums(map.c, map.a, size.width), rows: sums(map.f, map.e, size.height) };
        }
        let corners = [(0, 0), (size.width, size.height), (0, size.height), (size.width, 0)];
        let near = |(x, y): (usize, usize)| {
            let (x, y) = map.apply(x as f64, y as f64);
            x.abs() < 32768.0 && y.abs() < 32768.0
        };
        if corners.into_iter().all(near) {
            let fix = |value: f64| (value * 65536.0 + 0.5).floor() as i64;
            let x = [fix(map.c + map.a * 0.5 + map.b * 0.5), fix(map.a), fix(map.b)];
            return Self::Fixed { x, y: [fix(map.f + map.d * 0.5 + map.e * 0.5), fix(map.d), fix(map.e)] };
        }
        let x = [map.c + map.b * 0.5 + map.a * 0.5, map.a, map.b];
        Self::Wide { x, y: [map.f + map.e * 0.5 + map.d * 0.5, map.d, map.e] }
    }

    fn copy_row<T: Copy>(&self, source: View<T>, y: usize, row: &mut [T]) {
        let pixels = row.chunks_exact_mut(source.channels()).enumerate();
        match self {
            Self::Grid { columns, rows } => pixels.for_each(|(x, to)| copy(source, cut(columns[x]), cut(rows[y]), to)),
            Self::Fixed { x: across, y: down } => pixels.for_each(|(x, to)| {
                let place = |steps: &[i64; 3]| (steps[0] + steps[2] * y as i64 + steps[1] * x as i64) >> 16;
                copy(source, place(across), place(down), to);
            }),
            Self::Wide { x: across, y: down } => pixels.for_each(|(x, to)| {
                let place = |steps: &[f64; 3]| cut(steps[0] + steps[2] * y as f64 + steps[1] * x as f64);
                copy(source, place(across), place(down), to);
            }),
        }
    }
}

/// The pixel that holds `place`; -1 before the first.
fn cut(place: f64) -> i64 {
    if place < 0.0 { -1 } else { place as i64 }
}

fn copy<T: Copy>(source: View<T>, x: i64, y: i64, to: &mut [T]) {
    let Size { width, height } = source.size();
    if (0..width as i64).contains(&x) && (0..height as i64).contains(&y) {
        to.copy_from_slice(source.pixel(x as usize, y as usize));
    }
}
