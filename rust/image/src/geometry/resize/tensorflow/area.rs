//! `ResizeArea`: every output is the mean of the area it covers, summed in float32 row by row.
use super::across::{Add, Rows, Span};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::pixels::Size;
use std::ops::Range;

/// Where one output lies among the inputs.
struct Cell {
    begin: f32,
    past: f32,
    scale: f32,
}

/// Appends `source` at `size` to `output`.
pub(super) fn append<T: PixelType>(source: View<T>, size: Size, output: &mut Vec<f32>) {
    let from = source.size();
    let (width_scale, height_scale) = (from.width as f32 / size.width as f32, from.height as f32 / size.height as f32);
    let columns = (0..size.width).map(|x| Cell::new(x, width_scale).span()).collect();
    let factor = (1.0 / f64::from(height_scale * width_scale)) as f32;
    // -0.0 and a term are that term.
    let mut rows = Rows::new(columns, from.width, source.channels(), -0.0);
    let mut sums = vec![0.0; size.width * source.channels()];
    let mut at = usize::MAX;
    for line in (0..size.height).map(|y| Cell::new(y, height_scale)) {
        sums.fill(0.0);
        for input in line.inputs() {
            let y = input.min(from.height - 1);
            // The last row of a line is often the first of the next.
            if at != y {
                rows.sum(source.row(y));
                at = y;
            }
            dispatch::run(Add { row: rows.sums(), weight: line.share(input), sums: &mut sums });
        }
        dispatch::run(Scaled { sums: &sums, factor, output });
    }
}

/// Sums times a factor, behind others.
struct Scaled<'a> {
    sums: &'a [f32],
    factor: f32,
    output: &'a mut Vec<f32>,
}

impl Kernel for Scaled<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.output.extend(self.sums.iter().map(|sum| sum * self.factor));
    }
}

impl Cell {
    /// Output `place`.
    fn new(place: usize, scale: f32) -> Self {
        Self { begin: place as f32 * scale, past: (place + 1) as f32 * scale, scale }
    }

    /// The inputs that it covers.
    fn inputs(&self) -> Range<usize> {
        self.begin.floor() as usize..self.past.ceil() as usize
    }

    /// How much it covers of one of them; those between the first and the last always count in full.
    fn share(&self, input: usize) -> f32 {
        let Range { start, end } = self.inputs();
        let (low, high) = (input as f32, (input + 1) as f32);
        match (low < self.begin, high > self.past) {
            _ if start < input && input + 1 < end => 1.0,
            (true, true) => self.scale,
            (true, false) => high - self.begin,
            (false, true) => self.past - low,
            (false, false) => 1.0,
        }
    }

    /// All of them with their shares.
    fn span(&self) -> Span {
        let weights = self.inputs().map(|input| self.share(input)).collect();
        Span { places: self.inputs().map(|input| input as u32).collect(), weights }
    }
}
