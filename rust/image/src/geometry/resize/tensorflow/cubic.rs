//! `ResizeBicubic` with `half_pixel_centers`: Keys' cubic (a = -0.5) from a table of 1,024 steps; taps outside the
//! image are omitted.
use super::horizontal::{HorizontalPass, Span};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

const STEPS: usize = 1024;

/// The four input positions of one output position, and their weights.
struct Taps {
    indices: [usize; 4],
    weights: [f32; 4],
}

/// Appends `source` resized to `size` to `output`.
pub(super) fn append_resized<T: PixelType>(
    source: View<T>,
    size: Size,
    output: &mut Vec<f32>,
) -> Result<(), OutOfMemory> {
    let table = memory::collect((0..STEPS + 1).map(kernel_values))?;
    let columns = compute_taps(&table, source.size().width, size.width)?;
    let span = |taps: &Taps| {
        let indices = memory::copy(&taps.indices.map(|index| index as u32))?;
        Ok(Span { indices, weights: memory::copy(&taps.weights)? })
    };
    let columns = memory::try_collect(columns.iter().map(span))?;
    // Sums begin with -0.0, because -0.0 + x is x for every x, whereas 0.0 + -0.0 is 0.0.
    let mut rows = HorizontalPass::new(columns, source.size().width, source.channels(), -0.0)?;
    let mut interpolated = memory::filled(source.size().width * source.channels(), 0.0)?;
    for line in compute_taps(&table, source.size().height, size.height)? {
        let four = line.indices.map(|y| source.row(y));
        dispatch::run(VerticalPass { rows: four, weights: line.weights, interpolated: &mut interpolated });
        output.extend_from_slice(rows.sum_row(&interpolated));
    }
    Ok(())
}

/// Interpolates vertically between four rows.
struct VerticalPass<'a, T> {
    rows: [&'a [T]; 4],
    weights: [f32; 4],
    interpolated: &'a mut [f32],
}

impl<T: PixelType> Kernel for VerticalPass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [first, second, third, fourth] = self.rows;
        let values = first.iter().zip(second).zip(third).zip(fourth);
        for (to, (((first, second), third), fourth)) in self.interpolated.iter_mut().zip(values) {
            *to = weighted_sum([*first, *second, *third, *fourth].map(T::into), self.weights);
        }
    }
}

#[inline(always)]
fn weighted_sum(values: [f32; 4], weights: [f32; 4]) -> f32 {
    values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2] + values[3] * weights[3]
}

/// Returns the cubic kernel at a distance of `step / STEPS` pixels from its center, and at one pixel more.
fn kernel_values(step: usize) -> (f32, f32) {
    const A: f64 = -0.5;
    let near = step as f64 / STEPS as f64;
    let far = f64::from((near + 1.0) as f32);
    let inner = ((A + 2.0) * near - (A + 3.0)) * near * near + 1.0;
    let outer = ((A * far - 5.0 * A) * far + 8.0 * A) * far - 4.0 * A;
    (inner as f32, outer as f32)
}

fn compute_taps(table: &[(f32, f32)], input: usize, output: usize) -> Result<Vec<Taps>, OutOfMemory> {
    let scale = input as f32 / output as f32;
    let tap = |index: usize| {
        let position = (index as f32 + 0.5) * scale - 0.5;
        let floor = position.floor();
        let step = ((position - floor) * STEPS as f32).round_ties_even() as usize;
        let full = [table[step].1, table[step].0, table[STEPS - step].0, table[STEPS - step].1];
        let unclamped: [i64; 4] = std::array::from_fn(|tap| floor as i64 - 1 + tap as i64);
        let inside = |index: i64| (0..input as i64).contains(&index);
        let weights = std::array::from_fn(|tap| if inside(unclamped[tap]) { full[tap] } else { 0.0 });
        Taps {
            indices: unclamped.map(|index| index.clamp(0, input as i64 - 1) as usize),
            weights: normalize_weights(weights),
        }
    };
    memory::collect((0..output).map(tap))
}

fn normalize_weights(weights: [f32; 4]) -> [f32; 4] {
    let sum = weights[0] + weights[1] + weights[2] + weights[3];
    if sum.abs() < 1000.0 * f32::MIN_POSITIVE {
        return weights;
    }
    let inverse = 1.0 / sum;
    weights.map(|weight| weight * inverse)
}
