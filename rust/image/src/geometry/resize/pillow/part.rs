//! A part of a resized image, made of the part of the source that it needs.
use super::filters::Filter;
use super::reader::Reader;
use super::{Plan, Spans};
use crate::fault::Result;
use crate::geometry::view::View;
use crate::pixels::{Size, Window};

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
    pub fn needs(&self) -> Window {
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
