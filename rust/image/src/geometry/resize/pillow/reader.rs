//! Reads a resized image row by row: across, then down, with only the rows of one span between the passes.
use super::Plan;
use super::passes::down_row;
use super::stretch::Stretcher;
use crate::geometry::view::View;

/// Rows of the output from the top.
pub(crate) struct Reader<'a> {
    source: View<'a, u8>,
    plan: Plan,
    stretcher: Stretcher,
    /// Row `y` resized across stands at `y % lines.len()`, if the number beside it says so.
    lines: Vec<(usize, Vec<u8>)>,
}

impl<'a> Reader<'a> {
    /// A reader of `source` for a plan that goes across first.
    pub(super) fn new(source: View<'a, u8>, plan: Plan) -> Self {
        let length = plan.columns.len() * source.channels();
        // One more than the longest span, as rows are resized in pairs; two at least.
        let count = plan.lines.iter().map(|span| span.weights.len()).max().unwrap_or(1) + 1;
        let stretcher = Stretcher::new(&plan.columns, source.channels());
        Self { source, plan, stretcher, lines: vec![(usize::MAX, vec![0; length]); count] }
    }

    /// Output row `y`.
    pub fn read(&mut self, y: usize, output: &mut [u8]) {
        let span = &self.plan.lines[y];
        let count = self.lines.len();
        for row in span.start..span.end() {
            if self.lines[row % count].0 != row {
                let next = (row + 1).min(self.source.size().height - 1);
                stretch_pair(&mut self.stretcher, self.source, [row, next], &mut self.lines);
            }
        }
        let rows: Vec<&[u8]> = (span.start..span.end()).map(|row| &self.lines[row % count].1[..]).collect();
        down_row(&rows, span, output);
    }
}

fn stretch_pair(stretcher: &mut Stretcher, source: View<u8>, rows: [usize; 2], lines: &mut [(usize, Vec<u8>)]) {
    let count = lines.len();
    let [first, second] = rows.map(|row| row % count);
    let mut upper = std::mem::take(&mut lines[first].1);
    let length = upper.len();
    let mut lower = if first == second { vec![0; length] } else { std::mem::take(&mut lines[second].1) };
    stretcher.pair(rows.map(|row| source.row(row)), [&mut upper, &mut lower]);
    lines[second] = (rows[1], lower);
    lines[first] = (rows[0], upper);
}
