//! Reads a resized image row by row: across, then down, with only the rows of one span between the passes.
use super::Plan;
use super::passes::Shrinker;
use super::spans::{Filter, Spans};
use super::stretch::{ROWS, Stretcher};
use crate::fault::Result;
use crate::geometry::view::View;
use crate::pixels::{Size, Window};

/// Rows of the output from the top.
pub(crate) struct Reader<'a> {
    source: View<'a, u8>,
    length: usize,
    lines: Spans<i32>,
    stretcher: Stretcher,
    shrinker: Shrinker,
    /// Row `y` resized across stands at `y % kept.len()`, if the number beside it says so.
    kept: Vec<(usize, Vec<u8>)>,
}

impl<'a> Reader<'a> {
    /// A reader of `source`, whose pass across comes first.
    pub(super) fn new(source: View<'a, u8>, columns: &Spans<f64>, lines: Spans<i32>) -> Self {
        let columns = columns.fixed();
        let (stretcher, shrinker) = (Stretcher::new(&columns, source.channels()), Shrinker::new(&lines));
        // As many more than the longest span as are made together with the one that is wanted.
        let kept = vec![(usize::MAX, vec![0; stretcher.room()]); lines.longest() + ROWS - 1];
        Self { source, length: columns.len() * source.channels(), lines, stretcher, shrinker, kept }
    }

    /// Output row `y`.
    pub fn read(&mut self, y: usize, output: &mut [u8]) {
        let Self { source, length, lines, stretcher, shrinker, kept } = self;
        let (span, count) = (lines.get(y), kept.len());
        for row in span.start..span.end() {
            if kept[row % count].0 != row {
                stretch(stretcher, *source, row, kept);
            }
        }
        let row = |row: usize| &kept[row % count].1[..*length];
        let (few, many): ([&[u8]; FEW], Vec<&[u8]>);
        let rows = if span.weights.len() <= FEW {
            few = std::array::from_fn(|tap| row(span.start + tap));
            &few[..span.weights.len()]
        } else {
            many = (span.start..span.end()).map(row).collect();
            &many[..]
        };
        shrinker.row(y, rows, span, output);
    }
}

/// Rows that need no list of their own.
const FEW: usize = 8;

/// Makes row `first` and those after it; places behind the last row of the source are filled with that row.
fn stretch(stretcher: &mut Stretcher, source: View<u8>, first: usize, kept: &mut [(usize, Vec<u8>)]) {
    let (count, last) = (kept.len(), source.size().height - 1);
    let rows = std::array::from_fn(|row| source.row_to_end((first + row).min(last)));
    let places: [usize; ROWS] = std::array::from_fn(|row| (first + row) % count);
    places.iter().enumerate().for_each(|(row, place)| kept[*place].0 = first + row);
    if let Ok(output) = kept.get_disjoint_mut(places) {
        stretcher.rows(rows, output.map(|(_, row)| &mut row[..]));
    }
}

// A part of a resized image, computed from the part of the source that it needs.

/// The spans of the part's columns and lines, which count from the corner of what the part needs.
pub(crate) struct Part {
    columns: Spans<f64>,
    lines: Spans<f64>,
    needs: Window,
}

impl Part {
    /// The `window` of an image of size `from` at size `to`, where both sides change and the pass across comes first.
    pub fn new(from: Size, to: Size, filter: Filter, window: Window) -> Result<Option<Self>> {
        let plan = Plan::new(from, to, 1, filter)?;
        if !plan.goes_across_first() {
            return Ok(None);
        }
        let Plan { mut columns, mut lines, .. } = plan;
        let across = columns.keep(window.x..window.x + window.width);
        let down = lines.keep(window.y..window.y + window.height);
        let needs = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Ok(Some(Self { columns, lines, needs }))
    }

    /// The part of the source that is read.
    pub fn source_window(&self) -> Window {
        self.needs
    }

    /// A reader of what the part needs, mirrored left to right when `flip` is set.
    pub fn reader(mut self, source: View<'_, u8>, flip: bool) -> Reader<'_> {
        if flip {
            self.columns.reverse();
        }
        Reader::new(source, &self.columns, self.lines.fixed())
    }
}
