//! Separable kernels with fixed-point weights. The horizontal pass comes first and sums in 32-bit integers. The
//! vertical pass rounds as OpenCV does for the kernel.
use super::coefficients::{ONE, Taps};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};

/// Number of values per load. Lanes beyond the channels of a pixel are overwritten by the next pixel.
const LANES: usize = 4;
/// Number of values that OpenCV's cubic kernel processes at a time on x86.
const CUBIC_BLOCK: usize = 8;

/// Resizes with the four taps per axis of a cubic kernel.
pub(super) fn resize_cubic(source: View<u8>, columns: &[Taps<4>], lines: &[Taps<4>]) -> Result<Vec<u8>, OutOfMemory> {
    resize_separable(source, columns, lines, |rows, weights, output| {
        dispatch::run(CubicVerticalPass { rows, weights, output })
    })
}

/// Resizes with the eight taps per axis of a Lanczos kernel.
pub(super) fn resize_lanczos(source: View<u8>, columns: &[Taps<8>], lines: &[Taps<8>]) -> Result<Vec<u8>, OutOfMemory> {
    resize_separable(source, columns, lines, |rows, weights, output| {
        dispatch::run(IntegerVerticalPass { rows, weights, output })
    })
}

/// Cache of horizontally resized source rows. Row `y` is cached at index `y % K`.
struct RowCache<'a, const K: usize> {
    source: View<'a, u8>,
    columns: &'a [Taps<K>],
    wide: Vec<i32>,
    cached: [(usize, Vec<i32>); K],
}

impl<'a, const K: usize> RowCache<'a, K> {
    fn new(source: View<'a, u8>, columns: &'a [Taps<K>]) -> Result<Self, OutOfMemory> {
        let channels = source.channels();
        let cached = memory::filled_rows(columns.len() * channels + LANES, 0)?.map(|row| (usize::MAX, row));
        let wide = memory::filled(source.size().width * channels + LANES, 0)?;
        Ok(Self { source, columns, wide, cached })
    }

    fn rows(&mut self, indices: [usize; K]) -> [&[i32]; K] {
        for y in indices {
            if self.cached[y % K].0 != y {
                self.resize_row(y);
            }
        }
        let length = self.columns.len() * self.source.channels();
        indices.map(|y| &self.cached[y % K].1[..length])
    }

    fn resize_row(&mut self, y: usize) {
        let Self { source, columns, wide, cached } = self;
        let (row, (index, output)) = (source.row(y), &mut cached[y % K]);
        *index = y;
        match source.channels() {
            1 => dispatch::run(HorizontalPass::<K, 1> { row, wide, columns, output }),
            2 => dispatch::run(HorizontalPass::<K, 2> { row, wide, columns, output }),
            3 => dispatch::run(HorizontalPass::<K, 3> { row, wide, columns, output }),
            _ => dispatch::run(HorizontalPass::<K, 4> { row, wide, columns, output }),
        }
    }
}

fn resize_separable<const K: usize>(
    source: View<u8>,
    columns: &[Taps<K>],
    lines: &[Taps<K>],
    down: impl Fn([&[i32]; K], [i32; K], &mut [u8]),
) -> Result<Vec<u8>, OutOfMemory> {
    let length = columns.len() * source.channels();
    let mut output = memory::filled(length * lines.len(), 0)?;
    let mut cached = RowCache::new(source, columns)?;
    for (output, line) in output.chunks_exact_mut(length).zip(lines) {
        down(cached.rows(line.indices), line.weights, output);
    }
    Ok(output)
}

struct HorizontalPass<'a, const K: usize, const CHANNELS: usize> {
    row: &'a [u8],
    wide: &'a mut [i32],
    columns: &'a [Taps<K>],
    output: &'a mut [i32],
}

impl<const K: usize, const CHANNELS: usize> Kernel for HorizontalPass<'_, K, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.wide.iter_mut().zip(self.row).for_each(|(to, from)| *to = i32::from(*from));
        for (index, taps) in self.columns.iter().enumerate() {
            let mut sum = [0; LANES];
            for (index, weight) in taps.indices.iter().zip(taps.weights) {
                let values: &[i32; LANES] = self.wide[index * CHANNELS..].first_chunk().expect("the row is padded");
                sum = std::array::from_fn(|lane| sum[lane] + values[lane] * weight);
            }
            self.output[index * CHANNELS..][..LANES].copy_from_slice(&sum);
        }
    }
}

/// Computes the weighted sum of rows in integers, rounded half up.
struct IntegerVerticalPass<'a, const K: usize> {
    rows: [&'a [i32]; K],
    weights: [i32; K],
    output: &'a mut [u8],
}

impl<const K: usize> Kernel for IntegerVerticalPass<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (index, to) in self.output.iter_mut().enumerate() {
            let terms = self.rows.iter().zip(self.weights).map(|(row, weight)| row[index] * weight);
            *to = ((terms.sum::<i32>() + (1 << 21)) >> 22).clamp(0, 255) as u8;
        }
    }
}

/// Computes the weighted sum of four rows. Whole blocks of `CUBIC_BLOCK` values are summed in float32, as OpenCV's
/// vector code does. The rest is summed in integers.
struct CubicVerticalPass<'a> {
    rows: [&'a [i32]; 4],
    weights: [i32; 4],
    output: &'a mut [u8],
}

impl Kernel for CubicVerticalPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let whole = self.output.len() / CUBIC_BLOCK * CUBIC_BLOCK;
        let (blocks, rest) = self.output.split_at_mut(whole);
        let [a, b, c, d] = self.weights.map(|weight| weight as f32 * (1.0 / (ONE * ONE)));
        let [first, second, third, fourth] = self.rows;
        for (index, to) in blocks.iter_mut().enumerate() {
            let sum = third[index] as f32 * c + fourth[index] as f32 * d;
            let sum = first[index] as f32 * a + (second[index] as f32 * b + sum);
            *to = crate::collate::kernels::to_byte(sum);
        }
        IntegerVerticalPass { rows: self.rows.map(|row| &row[whole..]), weights: self.weights, output: rest }.run();
    }
}
