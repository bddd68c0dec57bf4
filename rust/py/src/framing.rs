//! Frames of a shard: finding, verifying, reading and writing them.
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use recordmill_core::checksum;
use recordmill_core::framing::{self, FrameKind, Frames, Limit, Payloads, Selection, SinglePartRecord, Window, gather};
use recordmill_core::payload::{self, PayloadKind};
use recordmill_core::records::Rows;
use recordmill_core::source::ReadAt;

use crate::buffers::{Block, View, give_buffer, take_buffer, vector};
use crate::byte_strings::ByteStrings;
use crate::error::{FaultParts, fault_error, os_text, parts, read_failure, source_error};
use crate::files;
use crate::rows::check_row_splits;
use crate::source::{InterruptibleSource, Source};

/// How the records of a format are framed, by the name of the format.
#[pyclass(frozen, eq, hash, from_py_object, module = "recordmill._core", name = "FrameKind")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyFrameKind(FrameKind);

#[pymethods]
impl PyFrameKind {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        FrameKind::from_name(name).map(Self).ok_or_else(|| {
            let names: Vec<_> = FrameKind::ALL.iter().map(|kind| kind.name()).collect();
            PyValueError::new_err(format!("frame kind must be one of {}, got {name:?}", names.join(", ")))
        })
    }

    /// Name of the format.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Whether each payload carries a checksum.
    #[getter]
    fn has_checksum(&self) -> bool {
        self.0.has_checksum()
    }

    /// Whether reading can find a record after damage.
    #[getter]
    fn can_resync(&self) -> bool {
        self.0.can_resync()
    }

    fn __repr__(&self) -> String {
        format!("FrameKind({:?})", self.0.name())
    }
}

impl From<PyFrameKind> for FrameKind {
    fn from(kind: PyFrameKind) -> Self {
        kind.0
    }
}

type ScanResult = (Block, Block, u64, Option<FaultParts>);

/// Finds the frames from `start` on: (offsets, lengths, end, fault or None).
#[pyfunction]
#[pyo3(signature = (source, kind, *, start=0, verify=false, max_records=u64::MAX))]
pub fn scan(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    start: u64,
    verify: bool,
    max_records: u64,
) -> PyResult<ScanResult> {
    let plain = source.plain().clone();
    let limit = Limit { num_records: max_records, num_bytes: u64::MAX };
    let watched = InterruptibleSource::new(&plain);
    let found = py.detach(|| {
        let found = framing::scan(&watched, kind.into(), start, verify, limit)?;
        watched.check_unchanged()?;
        Ok(found)
    });
    let found = found.map_err(|error| watched.error(error))?;
    let fault = found.fault.map(|fault| parts(fault, Some(found.offsets.len())));
    Ok((Block::integers(found.offsets), Block::integers(found.lengths), found.end, fault))
}

type VerifyResult = (u64, Vec<FaultParts>, u64, u64, Block, Block);

/// Walks a shard to its end: (sound records, faults, number of all faults, end, offsets, lengths of the sound frames).
///
/// With `payload`, messages are parsed too. A fault's ordinal is its record's.
#[pyfunction]
#[pyo3(signature = (source, kind, payload=None))]
pub fn verify(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    payload: Option<crate::payload::PyPayloadKind>,
) -> PyResult<VerifyResult> {
    let plain = source.plain().clone();
    let message: Option<PayloadKind> = payload.map(Into::into);
    let watched = InterruptibleSource::new(&plain);
    let report = py.detach(|| {
        let mut inspect = |_: u64, offset: u64, data: &[u8]| {
            let mut fault = payload::check(message?, data).err()?;
            fault.message.push_str(&format!(" (byte {} of the payload)", fault.offset));
            fault.offset = offset;
            Some(fault)
        };
        let report = framing::verify(&watched, kind.into(), message.is_some().then_some(&mut inspect))?;
        watched.check_unchanged()?;
        Ok(report)
    });
    let report = report.map_err(|error| watched.error(error))?;
    let faults = report.faults.into_iter().map(|found| parts(found.fault, Some(found.record as usize))).collect();
    let frames = (Block::integers(report.offsets), Block::integers(report.lengths));
    Ok((report.num_records, faults, report.num_faults, report.end, frames.0, frames.1))
}

/// Payloads of the given frames, in the given order: (data, row_splits).
#[pyfunction]
#[pyo3(signature = (source, kind, offsets, lengths, *, verify=true))]
pub fn fetch(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    offsets: &Bound<'_, PyAny>,
    lengths: &Bound<'_, PyAny>,
    verify: bool,
) -> PyResult<(Block, Block)> {
    let (offsets, lengths) = frames(offsets, lengths)?;
    let (offsets, lengths) = (offsets.slice(), lengths.slice());
    let plain = source.plain().clone();
    let fetched = py.detach(|| {
        let mut payloads = Payloads::new(take_buffer(), offsets.len());
        let mut window = Window::new(&plain, take_buffer());
        let selection = Selection { kind: kind.into(), offsets, lengths, verify };
        let outcome = gather(&mut window, selection, &mut payloads);
        give_buffer(window.into_buffer());
        plain.check_unchanged().map_err(|error| source_error(error, None))?;
        outcome.map_err(read_failure)?;
        Ok::<_, PyErr>(payloads)
    });
    Ok(payload_blocks(fetched?))
}

/// Payloads as Python gets them: (data, row_splits).
pub fn payload_blocks(payloads: Payloads) -> (Block, Block) {
    let (memory, used, row_splits) = payloads.into_parts();
    (Block::front(memory, used), Block::integers(row_splits))
}

/// Offsets and lengths of equal number and no negative value.
pub fn frames(offsets: &Bound<'_, PyAny>, lengths: &Bound<'_, PyAny>) -> PyResult<(View<i64>, View<i64>)> {
    let (offsets, lengths) = (View::<i64>::get(offsets)?, View::<i64>::get(lengths)?);
    let sound = |values: &[i64]| values.iter().all(|&value| value >= 0);
    if offsets.slice().len() != lengths.slice().len() || !sound(offsets.slice()) || !sound(lengths.slice()) {
        return Err(PyValueError::new_err("offsets and lengths must be as many, and not negative"));
    }
    Ok((offsets, lengths))
}

/// Stored form of payloads: (bytes, length of each frame, checksum of each payload where the format stores none).
#[pyfunction]
pub fn frame(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    kind: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let view = View::<u8>::get(data)?;
    let row_splits = vector::<i64>(py, row_splits)?;
    let data = view.slice();
    check_row_splits(&row_splits, data.len())?;
    framed(py, row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]), data.len(), kind)
}

/// The same of payloads that are a bytes object each.
#[pyfunction]
pub fn frame_each(py: Python<'_>, payloads: &Bound<'_, PyTuple>, kind: PyFrameKind) -> PyResult<(Block, Block, Block)> {
    // Neither a tuple nor bytes can change while the interpreter lock is released.
    let payloads: Vec<_> = payloads.iter().collect();
    let rows = payloads.iter().map(|payload| Ok(payload.cast::<PyBytes>()?.as_bytes()));
    let rows: Vec<&[u8]> = rows.collect::<PyResult<_>>()?;
    let num_bytes = rows.iter().map(|row| row.len()).sum();
    framed(py, rows.into_iter(), num_bytes, kind)
}

fn framed<'a>(
    py: Python<'_>,
    rows: impl ExactSizeIterator<Item = &'a [u8]> + Send,
    num_bytes: usize,
    kind: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let framed = py.detach(|| {
        let mut frames = Frames::new(kind.into(), take_buffer());
        frames.data.reserve(num_bytes + 24 * rows.len());
        for (ordinal, row) in rows.enumerate() {
            frames.push(row).map_err(|fault| (fault, ordinal))?;
        }
        Ok(frames)
    });
    Ok(frame_blocks(framed.map_err(|(fault, ordinal)| fault_error(fault, Some(ordinal)))?))
}

/// Frames as Python gets them: (bytes, lengths, checksums).
pub fn frame_blocks(frames: Frames) -> (Block, Block, Block) {
    (Block::bytes(frames.data), Block::integers(frames.lengths), Block::integers(frames.checksums))
}

/// CRC-32C of a buffer.
#[pyfunction]
pub fn crc32c(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<u32> {
    let view = View::<u8>::get(data)?;
    let data = view.slice();
    Ok(py.detach(|| checksum::crc32c(data)))
}

/// Number of leading files that are no larger than so many bytes together, one at least; missing ones count nothing.
#[pyfunction]
pub fn count_fitting(py: Python<'_>, paths: Vec<PathBuf>, max_bytes: u64) -> usize {
    py.detach(|| files::count_fitting(&paths, max_bytes))
}

/// Whole files back to back: (data, row_splits). Raises OSError with the file's name.
#[pyfunction]
pub fn read_files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<(Block, Block)> {
    let read = py.detach(|| {
        let mut rows = Rows::new(take_buffer());
        files::read_files(&paths, &mut rows.data, &mut rows.splits).map(|()| rows)
    });
    let rows = read.map_err(|(ordinal, error)| {
        let code = error.raw_os_error().unwrap_or(5);
        PyOSError::new_err((code, os_text(code), paths[ordinal].clone()))
    })?;
    Ok((Block::bytes(rows.data), Block::integers(rows.splits)))
}

// Consecutive records, each read directly into its Python byte string.

/// Bytes after which a call ends.
const MOST: usize = 256 << 10;

/// A payload and where its record begins.
type Placed = (u64, Py<PyBytes>);

/// Records from `start` on, with the offset of each, and where the next one begins. Ends before a record of less than `shortest`
/// bytes, and before any that is not plainly sound: `scan` and `fetch` tell what there is.
#[pyfunction]
#[pyo3(signature = (source, kind, start, max_records, *, shortest=0, verify=true))]
pub fn read_singles(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    start: u64,
    max_records: usize,
    shortest: usize,
    verify: bool,
) -> PyResult<(Vec<Placed>, u64)> {
    let plain = source.plain();
    let (strings, mut offsets, mut at, mut num_bytes) = (ByteStrings::default(), Vec::new(), start, 0);
    while offsets.len() < max_records && num_bytes < MOST {
        let found = py
            .detach(|| SinglePartRecord::find(plain, kind.into(), at))
            .filter(|single| single.num_bytes() >= shortest);
        let Some(single) = found else { break };
        let mut place = strings.make(py, single.num_bytes())?;
        if py.detach(|| single.read(plain, verify, place.memory())).is_none() {
            break;
        }
        offsets.push(at);
        num_bytes += single.num_bytes();
        at = single.end();
    }
    py.detach(|| plain.check_unchanged()).map_err(|error| source_error(error, None))?;
    Ok((offsets.into_iter().zip(strings.into_inner()).collect(), at))
}
