//! Computes a resized image row by row, horizontally first. Only the rows of one span are stored between the passes.
use super::Plan;
use super::horizontal::{HorizontalPass, ROWS};
use super::passes::VerticalPass;
use super::spans::{Filter, Spans};
use crate::fault::Result;
use crate::geometry::view::View;
use crate::pixels::{Size, Window};

/// Computes output rows from top to bottom.
pub(crate) struct Reader<'a> {
    source: View<'a, u8>,
    length: usize,
    lines: Spans<i32>,
    horizontal: HorizontalPass,
    vertical: VerticalPass,
    /// Cached source rows after the horizontal pass, with their numbers. Row `y` is in slot `y % cached.len()`.
    cached: Vec<(usize, Vec<u8>)>,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `source`, whose horizontal pass comes first.
    pub(super) fn new(source: View<'a, u8>, columns: &Spans<f64>, lines: Spans<i32>) -> Self {
        let columns = columns.fixed();
        let (horizontal, vertical) = (HorizontalPass::new(&columns, source.channels()), VerticalPass::new(&lines));
        // The cache exceeds the longest span by the rows that are computed together with a requested one.
        let cached = vec![(usize::MAX, vec![0; horizontal.padded_len()]); lines.longest() + ROWS - 1];
        Self { source, length: columns.len() * source.channels(), lines, horizontal, vertical, cached }
    }

    /// Computes output row `y`.
    pub fn read(&mut self, y: usize, output: &mut [u8]) {
        let Self { source, length, lines, horizontal, vertical, cached } = self;
        let (span, count) = (lines.get(y), cached.len());
        for row in span.start..span.end() {
            if cached[row % count].0 != row {
                stretch(horizontal, *source, row, cached);
            }
        }
        let row = |row: usize| &cached[row % count].1[..*length];
        let (few, many): ([&[u8]; MAX_INLINE_ROWS], Vec<&[u8]>);
        let rows = if span.weights.len() <= MAX_INLINE_ROWS {
            few = std::array::from_fn(|tap| row(span.start + tap));
            &few[..span.weights.len()]
        } else {
            many = (span.start..span.end()).map(row).collect();
            &many[..]
        };
        vertical.row(y, rows, span, output);
    }
}

/// Largest number of rows for which no vector is allocated.
const MAX_INLINE_ROWS: usize = 8;

/// Resizes source row `first` and those after it. Slots past the last source row are filled with that row.
fn stretch(horizontal: &mut HorizontalPass, source: View<u8>, first: usize, cached: &mut [(usize, Vec<u8>)]) {
    let (count, last) = (cached.len(), source.size().height - 1);
    let rows = std::array::from_fn(|row| source.row_to_end((first + row).min(last)));
    let indices: [usize; ROWS] = std::array::from_fn(|row| (first + row) % count);
    indices.iter().enumerate().for_each(|(row, index)| cached[*index].0 = first + row);
    if let Ok(output) = cached.get_disjoint_mut(indices) {
        horizontal.rows(rows, output.map(|(_, row)| &mut row[..]));
    }
}

/// A window of a resized image. The spans of its columns and lines are relative to its source window.
pub(crate) struct Part {
    columns: Spans<f64>,
    lines: Spans<f64>,
    source_window: Window,
}

impl Part {
    /// Prepares the `window` of an image of size `from` resized to `to`. Returns `None` unless both dimensions change,
    /// with the horizontal pass first.
    pub fn new(from: Size, to: Size, filter: Filter, window: Window) -> Result<Option<Self>> {
        let plan = Plan::new(from, to, 1, filter)?;
        if !plan.is_horizontal_first() {
            return Ok(None);
        }
        let Plan { mut columns, mut lines, .. } = plan;
        let across = columns.crop(window.x..window.x + window.width);
        let down = lines.crop(window.y..window.y + window.height);
        let source_window = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Ok(Some(Self { columns, lines, source_window }))
    }

    /// Returns the window of the source that the computation reads.
    pub fn source_window(&self) -> Window {
        self.source_window
    }

    /// Creates a reader of the source window that flips it horizontally if `flip` is set.
    pub fn reader(mut self, source: View<'_, u8>, flip: bool) -> Reader<'_> {
        if flip {
            self.columns.reverse();
        }
        Reader::new(source, &self.columns, self.lines.fixed())
    }
}
