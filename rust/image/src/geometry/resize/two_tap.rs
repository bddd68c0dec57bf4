//! The two-tap bilinear kernel in float32: interpolates horizontally, then vertically. It is the fastest kernel.
//!
//! Every value is bit-exact with `tf.image.resize(image, size, "bilinear", antialias=False)`: multiplication and
//! addition are rounded separately on every machine.
use super::taps::{Tap, bilinear_taps};
use crate::collate::kernels::MultiplyByFactor;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};
use std::ops::Range;

/// Number of values per load and store. Lanes beyond the channels of a pixel are overwritten by the next pixel.
const LANES: usize = 4;
/// Number of pixels per bounds check of the output.
const GROUP: usize = 4;

/// A window of a resized image, prepared for computation. The taps of its columns and lines count positions from the
/// start of `source_window`, the part of the source that they read.
pub(crate) struct ResizeWindow {
    columns: Vec<Tap>,
    lines: Vec<Tap>,
    window: Window,
    source_window: Window,
    factor: f32,
}

impl ResizeWindow {
    /// Prepares the `window` of an image of size `from` resized to `to`.
    pub fn new(from: Size, to: Size, window: Window) -> Result<Self, OutOfMemory> {
        let mut columns = bilinear_taps(from.width, to.width)?;
        let mut lines = bilinear_taps(from.height, to.height)?;
        let across = crop_taps(&mut columns, window.x..window.x + window.width, from.width);
        let down = crop_taps(&mut lines, window.y..window.y + window.height, from.height);
        let source_window = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Ok(Self { columns, lines, window, source_window, factor: 1.0 })
    }

    /// Sets the factor by which samples are multiplied before the resize.
    pub fn with_factor(self, factor: f32) -> Self {
        Self { factor, ..self }
    }

    /// Returns the window of the source that the computation reads.
    pub fn source_window(&self) -> Window {
        self.source_window
    }

    /// Returns the two source rows of each output row, relative to the source window.
    pub fn source_row_pairs(&self) -> impl ExactSizeIterator<Item = [usize; 2]> {
        self.lines.iter().map(|tap| [tap.first as usize, (tap.first as usize + 1).min(self.source_window.height - 1)])
    }
}

/// Keeps only the taps of the output positions `part`, and makes their input positions relative to the first input that
/// is read. Returns the range of inputs that are read.
fn crop_taps(taps: &mut Vec<Tap>, part: Range<usize>, input: usize) -> Range<usize> {
    taps.truncate(part.end);
    taps.drain(..part.start);
    let start = taps.iter().map(|tap| tap.first).min().unwrap_or(0);
    let last = taps.iter().map(|tap| tap.first).max().unwrap_or(0);
    taps.iter_mut().for_each(|tap| tap.first -= start);
    start as usize..(last as usize + 2).min(input)
}

/// Reads a source image as pairs of horizontally resized float32 rows, each pair with its vertical weight.
pub(crate) struct TwoTap<'a, T> {
    source: View<'a, T>,
    size: Size,
    across: HorizontalPass,
    lines: Vec<Tap>,
    upper: ResizedRow,
    lower: ResizedRow,
    wide: Vec<f32>,
}

/// Parameters of the horizontal pass.
struct HorizontalPass {
    columns: Vec<Tap>,
    factor: f32,
    /// Whether no tap reads past the end of a row and the factor is 1, so that float rows can be read without a copy.
    is_direct: bool,
}

/// One horizontally resized source row.
struct ResizedRow {
    y: usize,
    values: Vec<f32>,
}

impl ResizedRow {
    /// Reads source row `y` and resizes it horizontally. A row that cannot be used directly is first converted to
    /// floats in `wide`.
    fn resize_source_row<T: PixelType>(
        &mut self,
        y: usize,
        source: View<T>,
        across: &HorizontalPass,
        wide: &mut [f32],
    ) {
        let row = match T::as_f32_slice(source.row_to_end(y)) {
            Some(floats) if across.is_direct && floats.len() >= wide.len() => floats,
            _ => {
                dispatch::run(MultiplyByFactor { source: source.row(y), factor: across.factor, output: wide });
                wide
            }
        };
        resize_row(row, &across.columns, source.channels(), &mut self.values);
        self.y = y;
    }
}

impl<'a, T: PixelType> TwoTap<'a, T> {
    /// Creates a reader of `source` resized to `size`; `flip` flips it horizontally.
    pub fn new(source: View<'a, T>, size: Size, flip: bool) -> Result<Self, OutOfMemory> {
        let part = ResizeWindow {
            columns: bilinear_taps(source.size().width, size.width)?,
            lines: bilinear_taps(source.size().height, size.height)?,
            window: Window::whole(size),
            source_window: Window::whole(source.size()),
            factor: 1.0,
        };
        Self::from_part(source, part, flip)
    }

    /// Creates a reader for the source window of `part`; `flip` flips it horizontally.
    pub fn from_part(source: View<'a, T>, part: ResizeWindow, flip: bool) -> Result<Self, OutOfMemory> {
        let (channels, ResizeWindow { mut columns, lines, window, factor, .. }) = (source.channels(), part);
        let size = Size { width: window.width, height: window.height };
        let is_direct = factor == 1.0 && columns.iter().all(|tap| tap.first as usize + 1 < source.size().width);
        columns.iter_mut().for_each(|tap| tap.first *= channels as u32);
        if flip {
            columns.reverse();
        }
        memory::resize(&mut columns, size.width.next_multiple_of(GROUP), Tap { first: 0, weight: 0.0 })?;
        let rows = memory::filled_rows(columns.len() * channels + LANES, 0.0)?;
        let [upper, lower] = rows.map(|values| ResizedRow { y: usize::MAX, values });
        let wide = memory::filled(source.size().width * channels + channels + LANES, 0.0)?;
        Ok(Self { source, size, lines, upper, lower, across: HorizontalPass { columns, factor, is_direct }, wide })
    }

    /// Returns the two horizontally resized source rows of output row `y`, and the weight of the second.
    pub fn row_pair(&mut self, y: usize) -> (&[f32], &[f32], f32) {
        let Tap { first, weight } = self.lines[y];
        let first = first as usize;
        let second = (first + 1).min(self.source.size().height - 1);
        if self.upper.y != first {
            std::mem::swap(&mut self.upper, &mut self.lower);
        }
        if self.upper.y != first {
            self.upper.resize_source_row(first, self.source, &self.across, &mut self.wide);
        }
        if self.lower.y != second {
            self.lower.resize_source_row(second, self.source, &self.across, &mut self.wide);
        }
        let length = self.size.width * self.source.channels();
        (&self.upper.values[..length], &self.lower.values[..length], weight)
    }

    /// Appends all rows in float32 to `output`, which has room for them.
    pub fn append_rows(mut self, output: &mut Vec<f32>) {
        for y in 0..self.size.height {
            let (upper, lower, weight) = self.row_pair(y);
            dispatch::run(AppendInterpolated { upper, lower, weight, output });
        }
    }
}

/// Interpolates between two rows and appends the result.
struct AppendInterpolated<'a> {
    upper: &'a [f32],
    lower: &'a [f32],
    weight: f32,
    output: &'a mut Vec<f32>,
}

impl Kernel for AppendInterpolated<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = self.upper.iter().zip(self.lower);
        self.output.extend(rows.map(|(upper, lower)| upper + (lower - upper) * self.weight));
    }
}

fn resize_row(row: &[f32], columns: &[Tap], channels: usize, output: &mut [f32]) {
    match channels {
        1 => dispatch::run(ResizeRow::<1> { row, columns, output }),
        2 => dispatch::run(ResizeRow::<2> { row, columns, output }),
        3 => dispatch::run(ResizeRow::<3> { row, columns, output }),
        _ => dispatch::run(ResizeRow::<4> { row, columns, output }),
    }
}

/// Resizes a row of pixels of `CHANNELS` values horizontally. Lanes beyond the channels hold values of neighboring
/// pixels. When the next pixel is stored, it overwrites them.
struct ResizeRow<'a, const CHANNELS: usize> {
    row: &'a [f32],
    columns: &'a [Tap],
    output: &'a mut [f32],
}

impl<const CHANNELS: usize> Kernel for ResizeRow<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (groups, _) = self.columns.as_chunks::<GROUP>();
        let mut offset = 0;
        for group in groups {
            let store = &mut self.output[offset..][..(GROUP - 1) * CHANNELS + LANES];
            for (index, tap) in group.iter().enumerate() {
                let first = tap.first as usize;
                let pair = &self.row[first..first + LANES + CHANNELS];
                let left: &[f32; LANES] = pair.first_chunk().expect("four values");
                let right: &[f32; LANES] = pair.last_chunk().expect("four values");
                let between: [f32; LANES] =
                    std::array::from_fn(|lane| left[lane] + (right[lane] - left[lane]) * tap.weight);
                store[index * CHANNELS..][..LANES].copy_from_slice(&between);
            }
            offset += GROUP * CHANNELS;
        }
    }
}
