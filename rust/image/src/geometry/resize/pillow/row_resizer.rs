//! Computes a resized image row by row, with the horizontal pass first. Between the passes, it stores only about as
//! many source rows as one output row needs.
use super::ResizePlan;
use super::horizontal::{HorizontalPass, ROWS};
use super::passes::VerticalPass;
use super::spans::{Filter, Spans};
use crate::fault::Result;
use crate::geometry::view::View;
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};

/// Computes output rows from top to bottom.
pub(crate) struct RowResizer<'a> {
    source: View<'a, u8>,
    length: usize,
    lines: Spans<i32>,
    horizontal: HorizontalPass,
    vertical: VerticalPass,
    /// Cached source rows after the horizontal pass, each with its row number. Row `y` is cached at index `y %
    /// cached.len()`.
    cached: Vec<(usize, Vec<u8>)>,
}

impl<'a> RowResizer<'a> {
    /// Creates a resizer of `source`, whose horizontal pass comes first.
    pub(super) fn new(source: View<'a, u8>, columns: &Spans<f64>, lines: Spans<i32>) -> Result<Self, OutOfMemory> {
        let columns = columns.to_fixed_point()?;
        let (horizontal, vertical) = (HorizontalPass::new(&columns, source.channels())?, VerticalPass::new(&lines)?);
        // Each call of `fill_cache` computes `ROWS` rows: a needed row and those after it. The cache therefore has room
        // for `ROWS - 1` rows more than the longest span.
        let row = |_| memory::filled(horizontal.padded_len(), 0).map(|row| (usize::MAX, row));
        let cached = memory::try_collect((0..lines.longest_span() + ROWS - 1).map(row))?;
        Ok(Self { source, length: columns.len() * source.channels(), lines, horizontal, vertical, cached })
    }

    /// Computes output row `y`.
    pub fn compute_row(&mut self, y: usize, output: &mut [u8]) -> Result<(), OutOfMemory> {
        let Self { source, length, lines, horizontal, vertical, cached } = self;
        let (span, count) = (lines.get(y), cached.len());
        for row in span.start..span.end() {
            if cached[row % count].0 != row {
                fill_cache(horizontal, *source, row, cached);
            }
        }
        let row = |row: usize| &cached[row % count].1[..*length];
        let (few, many): ([&[u8]; MAX_INLINE_ROWS], Vec<&[u8]>);
        let rows = if span.weights.len() <= MAX_INLINE_ROWS {
            few = std::array::from_fn(|tap| row(span.start + tap));
            &few[..span.weights.len()]
        } else {
            many = memory::collect((span.start..span.end()).map(row))?;
            &many[..]
        };
        vertical.compute_row(y, rows, span, output);
        Ok(())
    }
}

/// Number of rows that fit into an array on the stack; more rows need an allocated vector.
const MAX_INLINE_ROWS: usize = 8;

/// Horizontally resizes source row `first` and the rows after it into the cache. For rows past the end of the image, it
/// stores the last row.
fn fill_cache(horizontal: &mut HorizontalPass, source: View<u8>, first: usize, cached: &mut [(usize, Vec<u8>)]) {
    let (count, last) = (cached.len(), source.size().height - 1);
    let rows = std::array::from_fn(|row| source.row_to_end((first + row).min(last)));
    let indices: [usize; ROWS] = std::array::from_fn(|row| (first + row) % count);
    indices.iter().enumerate().for_each(|(row, index)| cached[*index].0 = first + row);
    if let Ok(output) = cached.get_disjoint_mut(indices) {
        horizontal.resize_rows(rows, output.map(|(_, row)| &mut row[..]));
    }
}

/// A window of a resized image, prepared for computation. The spans of its columns and lines count positions from the
/// start of `source_window`, the part of the source that they read.
pub(crate) struct ResizeWindow {
    columns: Spans<f64>,
    lines: Spans<f64>,
    source_window: Window,
}

impl ResizeWindow {
    /// Prepares the `window` of an image of size `from` resized to `to`. Returns `None` unless both dimensions change,
    /// with the horizontal pass first.
    pub fn new(from: Size, to: Size, filter: Filter, window: Window) -> Result<Option<Self>> {
        let plan = ResizePlan::new(from, to, 1, filter)?;
        if !plan.is_horizontal_first() {
            return Ok(None);
        }
        let ResizePlan { mut columns, mut lines, .. } = plan;
        let across = columns.crop(window.x..window.x + window.width);
        let down = lines.crop(window.y..window.y + window.height);
        let source_window = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Ok(Some(Self { columns, lines, source_window }))
    }

    /// Returns the window of the source that the computation reads.
    pub fn source_window(&self) -> Window {
        self.source_window
    }

    /// Creates a resizer of the source window that flips it horizontally if `flip` is set.
    pub fn row_resizer(mut self, source: View<'_, u8>, flip: bool) -> Result<RowResizer<'_>, OutOfMemory> {
        if flip {
            self.columns.reverse();
        }
        RowResizer::new(source, &self.columns, self.lines.to_fixed_point()?)
    }
}
