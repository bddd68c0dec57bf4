//! Columns of chosen records, read and parsed straight from shards.
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recordmill_core::error::Fault;
use recordmill_core::framing::{
    FrameKind, Selection, Window, for_each_cached_payload, for_each_payload, for_each_scattered_payload, is_scattered,
};
use recordmill_core::payload::{Column, Parser, Plan};
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{View, give_buffer, take_buffer, take_room};
use crate::error::source_error;
use crate::framing::{PyFrameKind, frames};
use crate::payload::{PyPlan, columns_out};
use crate::source::Source;

/// Records of several sources: record i is a frame of `sources[which[i]]`.
pub struct Chosen {
    sources: Vec<Arc<dyn ReadAt>>,
    which: Numbers,
    kind: FrameKind,
    offsets: Numbers,
    lengths: Numbers,
    verify: bool,
}

/// A number for each record.
enum Numbers {
    Given(View<i64>),
    /// Of a single record, for which an array costs more than the rest of the call.
    Single([i64; 1]),
}

impl Numbers {
    fn slice(&self) -> &[i64] {
        match self {
            Self::Given(view) => view.slice(),
            Self::Single(number) => number,
        }
    }
}

/// Frames as Python tells them: sources, which of these each is in, how they are framed, offsets, lengths.
pub type FrameArgs<'py> =
    (Vec<PyRef<'py, Source>>, Bound<'py, PyAny>, PyFrameKind, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// What was wrong, and at which of the chosen records.
pub type Stopped = (SourceError, usize);

impl Chosen {
    /// Checks what Python tells.
    pub fn new((sources, which, kind, offsets, lengths): FrameArgs<'_>, verify: bool) -> PyResult<Self> {
        let (offsets, lengths) = frames(&offsets, &lengths)?;
        let which = View::<i64>::get(&which)?;
        let is_source = |&source: &i64| usize::try_from(source).is_ok_and(|source| source < sources.len());
        if which.slice().len() != offsets.slice().len() || !which.slice().iter().all(is_source) {
            return Err(PyValueError::new_err("which must name one of the sources for every frame"));
        }
        let sources = sources.iter().map(|source| source.plain().clone()).collect();
        let [which, offsets, lengths] = [which, offsets, lengths].map(Numbers::Given);
        Ok(Self { sources, which, kind: kind.into(), offsets, lengths, verify })
    }

    /// The frame of `length` bytes at `offset`.
    pub fn single(source: &Source, kind: PyFrameKind, (offset, length): (u64, u64), verify: bool) -> PyResult<Self> {
        let [which, offsets, lengths] =
            [0, i64::try_from(offset)?, i64::try_from(length)?].map(|n| Numbers::Single([n]));
        Ok(Self { sources: vec![source.plain().clone()], which, kind: kind.into(), offsets, lengths, verify })
    }

    /// Stored bytes of each record.
    pub fn lengths(&self) -> &[i64] {
        self.lengths.slice()
    }

    /// The source of a record, and where its frame begins and how long it is.
    pub fn frame(&self, ordinal: usize) -> (&Arc<dyn ReadAt>, (u64, usize)) {
        let source = &self.sources[self.which.slice()[ordinal] as usize];
        (source, (self.offsets.slice()[ordinal] as u64, self.lengths()[ordinal] as usize))
    }

    /// How records are framed, and whether checksums are computed.
    pub fn how(&self) -> (FrameKind, bool) {
        (self.kind, self.verify)
    }

    /// Whether each record is read by itself from a file.
    pub fn is_positioned(&self) -> bool {
        !self.sources.iter().any(|source| source.is_sequential() || source.cached().is_some())
    }

    /// Columns of a part of the records.
    pub fn parse(&self, part: Range<usize>, plan: &Plan) -> Result<Vec<Column>, Stopped> {
        let which = &self.which.slice()[part.clone()];
        let mut parser = Parser::new(plan, which.len());
        let kept: Vec<_> = self.sources.iter().map_while(|source| source.cached()).collect();
        let kept = (kept.len() == self.sources.len()).then_some(kept);
        let is_sequential = self.sources.iter().any(|source| source.is_sequential());
        let parsed = if kept.is_some() || (!is_sequential && is_scattered(which, self.selection(part.clone()))) {
            self.parse_each(kept.as_deref(), part.clone(), &mut parser)
        } else {
            self.parse_runs(part.clone(), &mut parser)
        };
        let seen = parsed.as_ref().map_or_else(|(_, ordinal)| ordinal + 1 - part.start, |()| which.len());
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(ordinal) = which[..seen].iter().position(|&source| source == number as i64) {
                // Before any fault: what a file holds that was changed is no fault of its records.
                source.check_unchanged().map_err(|error| (error, part.start + ordinal))?;
            }
        }
        parsed.map(|()| parser.finish())
    }

    /// Parses records that lie here and there: where they are in memory, or read one by one.
    fn parse_each(&self, kept: Option<&[&[u8]]>, part: Range<usize>, parser: &mut Parser<'_>) -> Result<(), Stopped> {
        let (selection, most) = (self.selection(part.clone()), self.num_bytes(part.clone()));
        let which = &self.which.slice()[part.clone()];
        let visit =
            |ordinal: usize, payload: &[u8]| take(parser, payload, selection.offsets[ordinal], part.len(), most);
        let outcome = match kept {
            Some(kept) => for_each_cached_payload(kept, which, selection, visit),
            None => {
                let mut buffer = take_buffer();
                let outcome = for_each_scattered_payload(&self.sources, which, selection, &mut buffer, visit);
                give_buffer(buffer);
                outcome
            }
        };
        outcome.map_err(|stopped| (stopped.error, part.start + stopped.ordinal))
    }

    /// Parses records one after another, neighbors of one source in one go.
    fn parse_runs(&self, part: Range<usize>, parser: &mut Parser<'_>) -> Result<(), Stopped> {
        let mut buffer = take_buffer();
        let mut start = part.start;
        let most = self.num_bytes(part.clone());
        for run in self.which.slice()[part.clone()].chunk_by(|a, b| a == b) {
            let end = start + run.len();
            let selection = self.selection(start..end);
            let mut window = Window::new(&self.sources[run[0] as usize], buffer);
            let outcome = for_each_payload(&mut window, selection, |ordinal, payload| {
                take(parser, payload, selection.offsets[ordinal], part.len(), most)
            });
            outcome.map_err(|stopped| (stopped.error, start + stopped.ordinal))?;
            buffer = window.into_buffer();
            start = end;
        }
        give_buffer(buffer);
        Ok(())
    }

    fn num_bytes(&self, part: Range<usize>) -> usize {
        self.lengths()[part].iter().fold(0i64, |sum, &length| sum.saturating_add(length)) as usize
    }

    fn selection(&self, part: Range<usize>) -> Selection<'_> {
        let (offsets, lengths) = (&self.offsets.slice()[part.clone()], &self.lengths()[part]);
        Selection { kind: self.kind, offsets, lengths, verify: self.verify }
    }
}

/// Parses the payload of the frame at `offset`, one of `num_records` which are `most` bytes together.
#[inline]
fn take(
    parser: &mut Parser<'_>,
    payload: &[u8],
    offset: i64,
    num_records: usize,
    most: usize,
) -> Result<(), SourceError> {
    parser.push(payload).map_err(|fault| in_record(fault, offset))?;
    if parser.num_records() == 1 {
        parser.preallocate(num_records, most, take_room);
    }
    Ok(())
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
#[pyo3(signature = (frames, plan, *, verify=true))]
pub fn read_columns(py: Python<'_>, frames: FrameArgs<'_>, plan: &PyPlan, verify: bool) -> PyResult<Vec<Py<PyTuple>>> {
    let (chosen, plan) = (Chosen::new(frames, verify)?, plan.plan());
    let parsed = py.detach(|| chosen.parse(0..chosen.lengths().len(), plan));
    columns_out(py, parsed.map_err(stopped_error)?)
}
