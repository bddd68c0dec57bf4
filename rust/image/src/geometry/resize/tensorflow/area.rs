//! `ResizeArea`: every output is the mean of the area it covers, summed in float32 row by row.
use super::horizontal::{AddScaledRow, HorizontalPass, Span};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
use std::ops::Range;

/// The interval of the input axis that one output covers.
struct CoveredInterval {
    begin: f32,
    past: f32,
    scale: f32,
}

/// Appends `source` resized to `size` to `output`.
pub(super) fn append_resized<T: PixelType>(
    source: View<T>,
    size: Size,
    output: &mut Vec<f32>,
) -> Result<(), OutOfMemory> {
    let from = source.size();
    let (width_scale, height_scale) = (from.width as f32 / size.width as f32, from.height as f32 / size.height as f32);
    let columns = memory::try_collect((0..size.width).map(|x| CoveredInterval::new(x, width_scale).to_span()))?;
    let factor = (1.0 / f64::from(height_scale * width_scale)) as f32;
    // Sums begin with -0.0, because -0.0 + x is x for every x, whereas 0.0 + -0.0 is 0.0.
    let mut rows = HorizontalPass::new(columns, from.width, source.channels(), -0.0)?;
    let mut sums = memory::filled(size.width * source.channels(), 0.0)?;
    let mut at = usize::MAX;
    for line in (0..size.height).map(|y| CoveredInterval::new(y, height_scale)) {
        sums.fill(0.0);
        for input in line.covered_inputs() {
            let y = input.min(from.height - 1);
            // Consecutive output rows often share an input row, so the horizontal sums of the last input row are
            // reused.
            if at != y {
                rows.sum_row(source.row(y));
                at = y;
            }
            dispatch::run(AddScaledRow { row: rows.sums_of_last_row(), weight: line.coverage(input), sums: &mut sums });
        }
        dispatch::run(AppendScaled { sums: &sums, factor, output });
    }
    Ok(())
}

/// Multiplies sums by a factor and appends them.
struct AppendScaled<'a> {
    sums: &'a [f32],
    factor: f32,
    output: &'a mut Vec<f32>,
}

impl Kernel for AppendScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.extend(self.sums.iter().map(|sum| sum * self.factor));
    }
}

impl CoveredInterval {
    /// Returns the interval that the output at `index` covers.
    fn new(index: usize, scale: f32) -> Self {
        Self { begin: index as f32 * scale, past: (index + 1) as f32 * scale, scale }
    }

    /// Returns the input positions that the interval covers, fully or partially.
    fn covered_inputs(&self) -> Range<usize> {
        self.begin.floor() as usize..self.past.ceil() as usize
    }

    /// Returns the covered fraction of one input pixel. Pixels between the first and the last one always count in full.
    fn coverage(&self, input: usize) -> f32 {
        let Range { start, end } = self.covered_inputs();
        let (low, high) = (input as f32, (input + 1) as f32);
        match (low < self.begin, high > self.past) {
            _ if start < input && input + 1 < end => 1.0,
            (true, true) => self.scale,
            (true, false) => high - self.begin,
            (false, true) => self.past - low,
            (false, false) => 1.0,
        }
    }

    /// Returns the covered input positions with their weights.
    fn to_span(&self) -> Result<Span, OutOfMemory> {
        let weights = memory::collect(self.covered_inputs().map(|input| self.coverage(input)))?;
        Ok(Span { indices: memory::collect(self.covered_inputs().map(|input| input as u32))?, weights })
    }
}
