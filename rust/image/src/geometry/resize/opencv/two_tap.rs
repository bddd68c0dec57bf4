//! OpenCV's linear kernel for 8-bit images. The horizontal pass gives 16-bit values. The vertical pass multiplies them
//! by 16-bit weights and adds only the upper halves of the two products.
use super::coefficients::Taps;
#[cfg(target_arch = "x86_64")]
use super::two_tap_avx2;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Window;
use std::ops::Range;

/// Number of columns processed at a time.
pub(super) const STEP: usize = 4;
/// Number of values per load: the two source pixels of an output pixel, and unused values after them.
pub(super) const LOAD: usize = 8;
/// Number of values per store.
pub(super) const STORE: usize = 8;

/// A window of a resized image, prepared for computation. The taps of its columns and lines count positions from the
/// start of `source_window`, the part of the source that they read.
pub(crate) struct ResizeWindow {
    columns: Vec<Taps<2>>,
    lines: Vec<Taps<2>>,
    source_window: Window,
}

impl ResizeWindow {
    /// Prepares the `window` of a resized image. `columns` and `lines` are the taps of the whole resized image.
    pub(super) fn new(mut columns: Vec<Taps<2>>, mut lines: Vec<Taps<2>>, window: Window) -> Self {
        columns.iter_mut().for_each(|taps| *taps = taps.clamp_at_border());
        let across = crop_taps(&mut columns, window.x..window.x + window.width);
        let down = crop_taps(&mut lines, window.y..window.y + window.height);
        let source_window = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Self { columns, lines, source_window }
    }

    /// Returns the window of the source that the computation reads.
    pub fn source_window(&self) -> Window {
        self.source_window
    }

    /// Returns the two source rows of each output row, relative to the source window.
    pub fn source_row_pairs(&self) -> impl ExactSizeIterator<Item = [usize; 2]> {
        self.lines.iter().map(|taps| taps.indices)
    }

    /// Creates a resizer of the source window that flips it horizontally if `flip` is set.
    pub fn row_resizer(mut self, source: View<'_, u8>, flip: bool) -> Result<RowResizer<'_>, OutOfMemory> {
        if flip {
            self.columns.reverse();
        }
        RowResizer::new(source, self.columns, self.lines)
    }
}

/// Keeps only the taps of the output positions `part`, and makes their input positions relative to the first input that
/// is read. Returns the range of inputs that are read.
fn crop_taps(taps: &mut Vec<Taps<2>>, part: Range<usize>) -> Range<usize> {
    taps.truncate(part.end);
    taps.drain(..part.start);
    let indices = || taps.iter().flat_map(|taps| taps.indices);
    let source_window = indices().min().unwrap_or(0)..indices().max().map_or(0, |last| last + 1);
    for taps in taps {
        taps.indices = taps.indices.map(|index| index - source_window.start);
    }
    source_window
}

/// Computes output rows from top to bottom.
pub(crate) struct RowResizer<'a> {
    source: View<'a, u8>,
    length: usize,
    columns: ColumnTaps,
    lines: Vec<Taps<2>>,
    padded: Vec<u8>,
    /// Cached source rows after the horizontal pass, each with its row number. Row `y` is cached at index `y % 2`.
    cached: [(usize, Vec<i16>); 2],
}

/// For each output column, the index of its first value in a source row, and the weights of its taps.
pub(super) struct ColumnTaps {
    pub starts: Vec<u32>,
    pub weights: Vec<[i16; 2]>,
    /// Number of values that a row must have, because loads read up to this index. Shorter rows are padded.
    pub reach: usize,
}

impl ColumnTaps {
    fn new(taps: Vec<Taps<2>>, channels: usize) -> Result<Self, OutOfMemory> {
        let whole = taps.len().next_multiple_of(STEP);
        let (mut starts, mut weights) = (memory::with_capacity(whole)?, memory::with_capacity(whole)?);
        starts.extend(taps.iter().map(|taps| (taps.indices[0] * channels) as u32));
        weights.extend(taps.iter().map(|taps| taps.weights.map(|weight| weight as i16)));
        let reach = starts.iter().copied().max().unwrap_or(0) as usize + LOAD;
        starts.resize(whole, 0);
        weights.resize(whole, [0; 2]);
        Ok(Self { starts, weights, reach })
    }
}

impl<'a> RowResizer<'a> {
    /// Creates a resizer of `source` with the taps of each axis.
    fn new(source: View<'a, u8>, across: Vec<Taps<2>>, lines: Vec<Taps<2>>) -> Result<Self, OutOfMemory> {
        let channels = source.channels();
        let length = across.len() * channels;
        let columns = ColumnTaps::new(across, channels)?;
        let cached = memory::filled_rows(columns.starts.len() * channels + STORE, 0)?.map(|row| (usize::MAX, row));
        Ok(Self { source, length, lines, padded: memory::with_capacity(columns.reach)?, cached, columns })
    }

    /// Computes output row `y`.
    pub fn compute_row(&mut self, y: usize, output: &mut [u8]) {
        let Taps { indices, weights, .. } = self.lines[y];
        for index in indices {
            if self.cached[index % 2].0 != index {
                self.resize_row(index);
            }
        }
        let rows = indices.map(|index| &self.cached[index % 2].1[..self.length]);
        dispatch::run(VerticalPass { rows, weights: weights.map(|weight| weight as i16), output });
    }

    fn resize_row(&mut self, y: usize) {
        let Self { source, columns, padded, cached, .. } = self;
        let mut row = source.row_to_end(y);
        if row.len() < columns.reach {
            // `padded` has capacity for `reach` bytes, so these calls do not allocate.
            padded.clear();
            padded.extend_from_slice(row);
            padded.resize(columns.reach, 0);
            row = padded;
        }
        let (index, output) = &mut cached[y % 2];
        *index = y;
        match source.channels() {
            1 => resize_row_horizontally::<1>(row, columns, output),
            2 => resize_row_horizontally::<2>(row, columns, output),
            3 => resize_row_horizontally::<3>(row, columns, output),
            _ => resize_row_horizontally::<4>(row, columns, output),
        }
    }
}

fn resize_row_horizontally<const CHANNELS: usize>(row: &[u8], columns: &ColumnTaps, output: &mut [i16]) {
    #[cfg(target_arch = "x86_64")]
    if dispatch::has_avx2() {
        // SAFETY: the function needs only AVX2, which `has_avx2` found on this machine.
        #[allow(unsafe_code)]
        return unsafe { two_tap_avx2::resize_row_horizontally::<CHANNELS>(row, columns, output) };
    }
    dispatch::run(HorizontalPass::<CHANNELS> { row, columns, output });
}

/// Resizes a row of pixels of `CHANNELS` values horizontally. The weighted sums are shifted right by four bits, so that
/// they fit into 16 bits.
struct HorizontalPass<'a, const CHANNELS: usize> {
    row: &'a [u8],
    columns: &'a ColumnTaps,
    output: &'a mut [i16],
}

impl<const CHANNELS: usize> Kernel for HorizontalPass<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (pixels, _) = self.output.as_chunks_mut::<CHANNELS>();
        for ((pixel, start), [left, right]) in pixels.iter_mut().zip(&self.columns.starts).zip(&self.columns.weights) {
            let from: &[u8; LOAD] = self.row[*start as usize..].first_chunk().expect("the row is padded");
            let part = |index: usize, weight: i16| i32::from(from[index]) * i32::from(weight);
            *pixel =
                std::array::from_fn(|channel| ((part(channel, *left) + part(channel + CHANNELS, *right)) >> 4) as i16);
        }
    }
}

struct VerticalPass<'a> {
    rows: [&'a [i16]; 2],
    weights: [i16; 2],
    output: &'a mut [u8],
}

impl Kernel for VerticalPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [first, second] = self.weights;
        let upper_half = |value: i16, weight: i16| ((i32::from(value) * i32::from(weight)) >> 16) as i16;
        for ((to, upper), lower) in self.output.iter_mut().zip(self.rows[0]).zip(self.rows[1]) {
            let sum = upper_half(*upper, first) + upper_half(*lower, second);
            *to = ((sum + 2) >> 2) as u8;
        }
    }
}
