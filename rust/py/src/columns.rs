//! Columns of chosen records, read and parsed straight from shards.
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recordmill_core::error::Fault;
use recordmill_core::framing::{FrameKind, Selection, Window, for_each_payload};
use recordmill_core::payload::{Column, Parser, Plan};
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{give_buffer, take_buffer, take_room, vector};
use crate::error::source_error;
use crate::framing::{PyFrameKind, frames};
use crate::payload::{PyPlan, columns_out};
use crate::source::Source;

/// Records of several sources: record i is a frame of `sources[which[i]]`.
pub struct Chosen {
    sources: Vec<Arc<dyn ReadAt>>,
    which: Vec<i64>,
    kind: FrameKind,
    offsets: Vec<i64>,
    lengths: Vec<i64>,
    verify: bool,
}

/// What was wrong, and at which of the chosen records.
pub type Stopped = (SourceError, usize);

impl Chosen {
    /// Checks what Python tells.
    pub fn new(
        py: Python<'_>,
        sources: &[PyRef<'_, Source>],
        which: &Bound<'_, PyAny>,
        kind: PyFrameKind,
        (offsets, lengths): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        verify: bool,
    ) -> PyResult<Self> {
        let (offsets, lengths) = frames(py, offsets, lengths)?;
        let which = vector::<i64>(py, which)?;
        if which.len() != offsets.len() || which.iter().any(|&source| source < 0 || source as usize >= sources.len()) {
            return Err(PyValueError::new_err("which must name one of the sources for every frame"));
        }
        let sources = sources.iter().map(|source| source.plain().clone()).collect();
        Ok(Self { sources, which, kind: kind.into(), offsets, lengths, verify })
    }

    /// Stored bytes of each record.
    pub fn lengths(&self) -> &[i64] {
        &self.lengths
    }

    /// Columns of a part of the records.
    pub fn parse(&self, part: Range<usize>, plan: &Plan) -> Result<Vec<Column>, Stopped> {
        let which = &self.which[part.clone()];
        let mut parser = Parser::new(plan, which.len());
        let parsed = self.parse_runs(part.clone(), &mut parser);
        let seen = parsed.as_ref().map_or_else(|(_, ordinal)| ordinal + 1 - part.start, |()| which.len());
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(ordinal) = which[..seen].iter().position(|&source| source == number as i64) {
                // Before any fault: what a file holds that was changed is no fault of its records.
                source.check_unchanged().map_err(|error| (error, part.start + ordinal))?;
            }
        }
        parsed.map(|()| parser.finish())
    }

    /// Parses records one after another, neighbours of one source in one go.
    fn parse_runs(&self, part: Range<usize>, parser: &mut Parser<'_>) -> Result<(), Stopped> {
        let mut buffer = take_buffer();
        let mut start = part.start;
        let most = self.lengths[part.clone()].iter().fold(0i64, |sum, &length| sum.saturating_add(length));
        for run in self.which[part.clone()].chunk_by(|a, b| a == b) {
            let end = start + run.len();
            let selection = self.selection(start..end);
            let mut window = Window::new(&self.sources[run[0] as usize], buffer);
            let outcome = for_each_payload(&mut window, selection, |ordinal, payload| {
                parser.push(payload).map_err(|fault| in_record(fault, selection.offsets[ordinal]))?;
                if parser.num_records() == 1 {
                    parser.make_room(part.len(), most as usize, take_room);
                }
                Ok(())
            });
            outcome.map_err(|stopped| (stopped.error, start + stopped.ordinal))?;
            buffer = window.into_buffer();
            start = end;
        }
        give_buffer(buffer);
        Ok(())
    }

    fn selection(&self, part: Range<usize>) -> Selection<'_> {
        let (offsets, lengths) = (&self.offsets[part.clone()], &self.lengths[part]);
        Selection { kind: self.kind, offsets, lengths, verify: self.verify }
    }
}

/// A payload's fault, told from the start of the shard.
fn in_record(mut fault: Fault, offset: i64) -> Fault {
    fault.message.push_str(&format!(" (byte {} of the payload)", fault.offset));
    fault.offset = offset as u64;
    fault
}

/// The error of a record for Python.
pub fn stopped_error((error, ordinal): Stopped) -> PyErr {
    source_error(error, Some(ordinal))
}

/// Columns of records read straight from shards; record i comes from `sources[which[i]]`.
#[pyfunction]
#[pyo3(signature = (sources, which, kind, offsets, lengths, plan, *, verify=true))]
#[allow(clippy::too_many_arguments)]
pub fn read_columns(
    py: Python<'_>,
    sources: Vec<PyRef<'_, Source>>,
    which: &Bound<'_, PyAny>,
    kind: PyFrameKind,
    offsets: &Bound<'_, PyAny>,
    lengths: &Bound<'_, PyAny>,
    plan: &PyPlan,
    verify: bool,
) -> PyResult<Vec<Py<PyTuple>>> {
    let chosen = Chosen::new(py, &sources, which, kind, (offsets, lengths), verify)?;
    let plan = plan.shared();
    let parsed = py.detach(|| chosen.parse(0..chosen.lengths().len(), &plan));
    columns_out(py, parsed.map_err(stopped_error)?)
}
