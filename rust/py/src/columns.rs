//! Columns of selected records, read and parsed directly from shards.
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::framing::{
    FrameKind, FrameSelection, SourceWindow, for_each_cached_payload, for_each_payload, for_each_scattered_payload,
    is_scattered,
};
use recordmill_core::memory::OutOfMemory;
use recordmill_core::payload::{Column, Parser, Plan};
use recordmill_core::source::{ReadAt, SourceError};

use crate::buffers::{ArrayView, allocate_buffer, recycle_buffer, take_pooled_buffer};
use crate::error::source_error;
use crate::framing::{PyFrameKind, view_checksums, view_frames};
use crate::payload::{PyPlan, columns_to_python};
use crate::source::Source;

/// Selected records of several sources: record i is a frame of `sources[source_indices[i]]`.
pub struct RecordSelection {
    sources: Vec<Arc<dyn ReadAt>>,
    source_indices: RecordNumbers,
    kind: FrameKind,
    offsets: RecordNumbers,
    lengths: RecordNumbers,
    checksums: Option<RecordNumbers>,
    verify: bool,
    /// Maximum length of a payload; records with a longer one are not read.
    max_record_bytes: u64,
}

/// One number per record: offsets, lengths or checksums.
enum RecordNumbers {
    Array(ArrayView<i64>),
    /// The number of a single record. An array would cost more than the rest of the call.
    Single([i64; 1]),
}

impl RecordNumbers {
    fn as_slice(&self) -> &[i64] {
        match self {
            Self::Array(view) => view.as_slice(),
            Self::Single(number) => number,
        }
    }
}

/// Frames as a Python tuple: sources, index of the source of each frame, framing, offsets, lengths, and the checksums
/// of the payloads in the sidecar index (-1 if unknown) or None.
pub type FrameArgs<'py> = (
    Vec<PyRef<'py, Source>>,
    Bound<'py, PyAny>,
    PyFrameKind,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
);

/// An error, and the ordinal of the selected record at which it occurred.
pub type RecordError = (SourceError, usize);

impl RecordSelection {
    /// Validates the arguments.
    pub fn new(
        (sources, source_indices, kind, offsets, lengths, checksums): FrameArgs<'_>,
        verify: bool,
    ) -> PyResult<Self> {
        let (offsets, lengths) = view_frames(&offsets, &lengths)?;
        let checksums = view_checksums(checksums.as_ref(), &offsets)?.map(RecordNumbers::Array);
        let source_indices = ArrayView::<i64>::from_object(&source_indices)?;
        let is_source = |&source: &i64| usize::try_from(source).is_ok_and(|source| source < sources.len());
        if source_indices.as_slice().len() != offsets.as_slice().len()
            || !source_indices.as_slice().iter().all(is_source)
        {
            return Err(PyValueError::new_err("source indices must be in range, with one index for every frame"));
        }
        let max_record_bytes = sources.iter().map(|source| source.max_record_bytes()).min().unwrap_or(u64::MAX);
        let sources = sources.iter().map(|source| source.uncompressed().clone()).collect();
        let [source_indices, offsets, lengths] = [source_indices, offsets, lengths].map(RecordNumbers::Array);
        let kind = kind.into();
        Ok(Self { sources, source_indices, kind, offsets, lengths, checksums, verify, max_record_bytes })
    }

    /// Selects one record by the offset and length of its frame, and the checksum of its payload in the sidecar index
    /// (-1 if unknown).
    pub fn from_frame(
        source: &Source,
        kind: PyFrameKind,
        (offset, length, checksum): (u64, u64, i64),
        verify: bool,
    ) -> PyResult<Self> {
        let [source_indices, offsets, lengths, checksums] =
            [0, i64::try_from(offset)?, i64::try_from(length)?, checksum].map(|n| RecordNumbers::Single([n]));
        let (sources, checksums) = (vec![source.uncompressed().clone()], Some(checksums));
        let (kind, max_record_bytes) = (kind.into(), source.max_record_bytes());
        Ok(Self { sources, source_indices, kind, offsets, lengths, checksums, verify, max_record_bytes })
    }

    /// Returns the number of bytes that the frame of each record occupies in the uncompressed shard.
    pub fn lengths(&self) -> &[i64] {
        self.lengths.as_slice()
    }

    /// Returns the source, and the offset and the length of the frame of a record.
    pub fn locate_frame(&self, ordinal: usize) -> (&Arc<dyn ReadAt>, (u64, usize)) {
        let source = &self.sources[self.source_indices.as_slice()[ordinal] as usize];
        (source, (self.offsets.as_slice()[ordinal] as u64, self.lengths()[ordinal] as usize))
    }

    /// Returns the checksum of a record's payload in the sidecar index, or -1 if unknown.
    pub fn indexed_checksum(&self, ordinal: usize) -> i64 {
        self.checksums.as_ref().map_or(-1, |checksums| checksums.as_slice()[ordinal])
    }

    /// Returns the framing of the records.
    pub fn kind(&self) -> FrameKind {
        self.kind
    }

    /// Returns whether checksums are verified.
    pub fn verifies_checksums(&self) -> bool {
        self.verify
    }

    /// Returns the maximum length of a payload; records with a longer one are not read.
    pub fn max_record_bytes(&self) -> u64 {
        self.max_record_bytes
    }

    /// Returns whether all sources support random access and none is cached in memory.
    pub fn needs_positioned_reads(&self) -> bool {
        !self.sources.iter().any(|source| source.is_sequential() || source.cached().is_some())
    }

    /// Parses the columns of the records in `range`.
    pub fn parse_columns(&self, range: Range<usize>, plan: &Plan) -> Result<Vec<Column>, RecordError> {
        let source_indices = &self.source_indices.as_slice()[range.clone()];
        let memory_error = |error: OutOfMemory| (error.into(), range.start);
        let mut parser = Parser::new(plan, source_indices.len()).map_err(memory_error)?;
        let cached: Vec<_> = self.sources.iter().map_while(|source| source.cached()).collect();
        let cached = (cached.len() == self.sources.len()).then_some(cached);
        let is_sequential = self.sources.iter().any(|source| source.is_sequential());
        let result = if cached.is_some()
            || (!is_sequential && is_scattered(source_indices, self.frame_selection(range.clone())))
        {
            self.parse_scattered(cached.as_deref(), range.clone(), &mut parser)
        } else {
            self.parse_consecutive(range.clone(), &mut parser)
        };
        let num_read = result.as_ref().map_or_else(|(_, ordinal)| ordinal + 1 - range.start, |()| source_indices.len());
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(ordinal) = source_indices[..num_read].iter().position(|&source| source == number as i64) {
                // A change of the file takes precedence over a fault, because it may be the cause of the fault.
                source.check_unchanged().map_err(|error| (error, range.start + ordinal))?;
            }
        }
        result.and_then(|()| parser.finish().map_err(memory_error))
    }

    /// Parses records from `cached`, the contents of the files in memory. If `cached` is None, reads each record by
    /// itself.
    fn parse_scattered(
        &self,
        cached: Option<&[&[u8]]>,
        range: Range<usize>,
        parser: &mut Parser<'_>,
    ) -> Result<(), RecordError> {
        let (selection, max_bytes) = (self.frame_selection(range.clone()), self.num_bytes(range.clone()));
        let source_indices = &self.source_indices.as_slice()[range.clone()];
        let visit = |ordinal: usize, payload: &[u8]| {
            push_payload(parser, payload, selection.offsets[ordinal], range.len(), max_bytes)
        };
        let result = match cached {
            Some(contents) => for_each_cached_payload(contents, source_indices, selection, visit),
            None => {
                let mut buffer = take_pooled_buffer();
                let result = for_each_scattered_payload(&self.sources, source_indices, selection, &mut buffer, visit);
                recycle_buffer(buffer);
                result
            }
        };
        result.map_err(|failure| (failure.error, range.start + failure.ordinal))
    }

    /// Parses records in order; reads consecutive records of one source together.
    fn parse_consecutive(&self, range: Range<usize>, parser: &mut Parser<'_>) -> Result<(), RecordError> {
        let mut buffer = take_pooled_buffer();
        let mut start = range.start;
        let max_bytes = self.num_bytes(range.clone());
        for run in self.source_indices.as_slice()[range.clone()].chunk_by(|a, b| a == b) {
            let end = start + run.len();
            let selection = self.frame_selection(start..end);
            let mut window = SourceWindow::new(&self.sources[run[0] as usize], buffer);
            let result = for_each_payload(&mut window, selection, |ordinal, payload| {
                push_payload(parser, payload, selection.offsets[ordinal], range.len(), max_bytes)
            });
            result.map_err(|failure| (failure.error, start + failure.ordinal))?;
            buffer = window.into_buffer();
            start = end;
        }
        recycle_buffer(buffer);
        Ok(())
    }

    fn num_bytes(&self, range: Range<usize>) -> usize {
        self.lengths()[range].iter().fold(0i64, |sum, &length| sum.saturating_add(length)) as usize
    }

    /// Returns the frames of the records in `range`.
    pub fn frame_selection(&self, range: Range<usize>) -> FrameSelection<'_> {
        let (offsets, lengths) = (&self.offsets.as_slice()[range.clone()], &self.lengths()[range.clone()]);
        let checksums = self.checksums.as_ref().map(|checksums| &checksums.as_slice()[range]);
        let (kind, verify, max_payload_bytes) = (self.kind, self.verify, self.max_record_bytes);
        FrameSelection { kind, offsets, lengths, verify, checksums, max_payload_bytes }
    }
}

/// Parses the payload of the frame at `offset`. The caller parses `num_records` frames with `max_bytes` bytes in total.
#[inline]
fn push_payload(
    parser: &mut Parser<'_>,
    payload: &[u8],
    offset: i64,
    num_records: usize,
    max_bytes: usize,
) -> Result<(), SourceError> {
    parser.push_payload(payload).map_err(|fault| with_shard_offset(fault, offset))?;
    if parser.num_records() == 1 {
        parser.preallocate(num_records, max_bytes, allocate_buffer);
    }
    Ok(())
}

/// Changes the offset of a fault from its position in the payload to the offset of the record in the shard.
fn with_shard_offset(mut fault: Fault, offset: i64) -> Fault {
    if fault.kind == FaultKind::OutOfMemory {
        return fault;
    }
    fault.message.push_str(&format!(" (byte {} of the payload)", fault.offset));
    fault.offset = offset as u64;
    fault
}

/// Returns the Python exception for an error in a record.
pub fn record_error((error, ordinal): RecordError) -> PyErr {
    source_error(error, Some(ordinal))
}

/// Read and parse columns of records directly from shards; record i comes from `sources[source_indices[i]]`.
#[pyfunction]
#[pyo3(signature = (frames, plan, *, verify=true))]
pub fn read_columns(py: Python<'_>, frames: FrameArgs<'_>, plan: &PyPlan, verify: bool) -> PyResult<Vec<Py<PyTuple>>> {
    let (records, plan) = (RecordSelection::new(frames, verify)?, plan.core_plan());
    let columns = py.detach(|| records.parse_columns(0..records.lengths().len(), plan));
    columns_to_python(py, columns.map_err(record_error)?)
}
