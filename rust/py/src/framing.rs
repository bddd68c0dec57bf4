//! Functions that scan, verify, read and write frames.
use std::io::ErrorKind;
use std::path::PathBuf;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use recordmill_core::checksum;
use recordmill_core::framing::{
    self, FrameBuffer, FrameKind, FrameSelection, PayloadBuffer, PayloadCheck, ScanLimit, SinglePartRecord,
    SourceWindow, gather_payloads,
};
use recordmill_core::memory;
use recordmill_core::payload::{self, PayloadKind};
use recordmill_core::records::RowBuffer;
use recordmill_core::source::ReadAt;

use crate::buffers::{ArrayView, Block, copy_array, recycle_buffer, take_pooled_buffer};
use crate::byte_strings::ByteStrings;
use crate::error::{FaultTuple, fault_error, fault_tuple, os_error_message, read_failure_error, source_error};
use crate::files;
use crate::rows::check_row_splits;
use crate::source::{InterruptibleSource, Source};

/// Error number (EIO) for errors that have no error number of the operating system.
const INPUT_OUTPUT_ERROR: i32 = 5;

/// The Python class `FrameKind`: the framing of a format, selected by the name of the format.
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

    /// Whether each frame holds a checksum of its payload.
    #[getter]
    fn has_checksum(&self) -> bool {
        self.0.has_checksum()
    }

    /// Whether the next record after damage can be found.
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

type ScanResult = (Block, Block, u64, Vec<FaultTuple>);

/// Find the frames from `start` on: (offsets, lengths, end, faults).
///
/// The ordinal of a fault that ends the scan is the number of frames. With `resync`, the scan continues after damage if
/// the format allows it; the damaged bytes then count as one frame, and the fault has the ordinal of that frame.
#[pyfunction]
#[pyo3(signature = (source, kind, *, start=0, verify=false, max_records=u64::MAX, resync=false))]
pub fn scan(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    start: u64,
    verify: bool,
    max_records: u64,
    resync: bool,
) -> PyResult<ScanResult> {
    let plain = source.uncompressed().clone();
    // Frames are found without their payloads, so payloads of any length are accepted.
    let limit = ScanLimit { num_records: max_records, ..ScanLimit::NONE };
    let interruptible = InterruptibleSource::new(&plain);
    let scan = py.detach(|| {
        let scan = if resync { framing::scan_past_damage } else { framing::scan };
        let scan = scan(&interruptible, kind.into(), start, verify, limit)?;
        interruptible.check_unchanged()?;
        Ok(scan)
    });
    let scan = scan.map_err(|error| interruptible.into_exception(error))?;
    let last = scan.fault.map(|fault| (scan.offsets.len(), fault));
    let faults = scan.skipped.into_iter().chain(last);
    let faults = faults.map(|(ordinal, fault)| fault_tuple(fault, Some(ordinal))).collect();
    Ok((Block::from_integers(scan.offsets), Block::from_integers(scan.lengths), scan.end, faults))
}

/// A sidecar index as a Python tuple: offsets, lengths, and the checksums of the payloads (-1 if unknown) or None.
pub type IndexArgs<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// The arrays of a sidecar index.
pub struct IndexViews {
    /// Offset of each frame.
    pub offsets: ArrayView<i64>,
    /// Number of bytes that each frame occupies in the uncompressed shard.
    pub lengths: ArrayView<i64>,
    /// CRC-32C of each payload.
    pub checksums: Option<ArrayView<i64>>,
}

impl IndexViews {
    /// Gets and validates the arrays.
    pub fn new((offsets, lengths, checksums): &IndexArgs<'_>) -> PyResult<Self> {
        let (offsets, lengths) = view_frames(offsets, lengths)?;
        let checksums = view_checksums(checksums.as_ref(), &offsets)?;
        Ok(Self { offsets, lengths, checksums })
    }

    fn as_index(&self) -> framing::FrameIndex<'_> {
        let checksums = self.checksums.as_ref().map(ArrayView::as_slice).unwrap_or_default();
        framing::FrameIndex { offsets: self.offsets.as_slice(), lengths: self.lengths.as_slice(), checksums }
    }
}

type VerifyResult = (u64, Vec<FaultTuple>, u64, u64, Block, Block);

/// Verify a whole shard: (number of valid records, faults, number of faults, end, offsets and lengths of valid frames).
///
/// With `payload`, the messages in the payloads are validated, too. With `index`, records are compared with its lengths
/// and checksums. After damage, the verification continues at the next record in `index`. The ordinal of a fault is the
/// ordinal of its record.
#[pyfunction]
#[pyo3(signature = (source, kind, payload=None, *, index=None))]
pub fn verify(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    payload: Option<crate::payload::PyPayloadKind>,
    index: Option<IndexArgs<'_>>,
) -> PyResult<VerifyResult> {
    let index = index.as_ref().map(IndexViews::new).transpose()?;
    let index = index.as_ref().map(IndexViews::as_index).unwrap_or_default();
    let plain = source.uncompressed().clone();
    let message: Option<PayloadKind> = payload.map(Into::into);
    let interruptible = InterruptibleSource::new(&plain);
    let report = py.detach(|| {
        let mut inspect = |_: u64, offset: u64, data: &[u8]| {
            let mut fault = payload::validate_payload(message?, data).err()?;
            fault.message.push_str(&format!(" (byte {} of the payload)", fault.offset));
            fault.offset = offset;
            Some(fault)
        };
        let inspect: Option<PayloadCheck<'_>> = if message.is_some() { Some(&mut inspect) } else { None };
        let report = framing::verify(&interruptible, kind.into(), index, source.max_record_bytes(), inspect)?;
        interruptible.check_unchanged()?;
        Ok(report)
    });
    let report = report.map_err(|error| interruptible.into_exception(error))?;
    let faults = report.faults.into_iter();
    let faults = faults.map(|found| fault_tuple(found.fault, Some(found.record as usize))).collect();
    let (offsets, lengths) = (Block::from_integers(report.offsets), Block::from_integers(report.lengths));
    Ok((report.num_records, faults, report.num_faults, report.end, offsets, lengths))
}

/// Read the payloads of the given frames, in the given order: (data, row_splits).
#[pyfunction]
#[pyo3(signature = (source, kind, offsets, lengths, *, checksums=None, verify=true))]
pub fn fetch(
    py: Python<'_>,
    source: &Source,
    kind: PyFrameKind,
    offsets: &Bound<'_, PyAny>,
    lengths: &Bound<'_, PyAny>,
    checksums: Option<&Bound<'_, PyAny>>,
    verify: bool,
) -> PyResult<(Block, Block)> {
    let (offsets, lengths) = view_frames(offsets, lengths)?;
    let checksums = view_checksums(checksums, &offsets)?;
    let checksums = checksums.as_ref().map(ArrayView::as_slice);
    let (offsets, lengths) = (offsets.as_slice(), lengths.as_slice());
    let (plain, max_payload_bytes) = (source.uncompressed().clone(), source.max_record_bytes());
    let payloads = py.detach(|| {
        let mut payloads = PayloadBuffer::new(take_pooled_buffer(), offsets.len());
        let mut window = SourceWindow::new(&plain, take_pooled_buffer());
        let kind = kind.into();
        let selection = FrameSelection { kind, offsets, lengths, verify, checksums, max_payload_bytes };
        let result = gather_payloads(&mut window, selection, &mut payloads);
        recycle_buffer(window.into_buffer());
        plain.check_unchanged().map_err(|error| source_error(error, None))?;
        result.map_err(read_failure_error)?;
        Ok::<_, PyErr>(payloads)
    });
    Ok(payloads_to_python(payloads?))
}

/// Converts payloads for Python: (data, row_splits).
pub fn payloads_to_python(payloads: PayloadBuffer) -> (Block, Block) {
    let (buffer, len, row_splits) = payloads.into_parts();
    (Block::immutable_bytes(buffer, len), Block::from_integers(row_splits))
}

/// Gets and validates the checksums of payloads in a sidecar index, one for each frame.
pub fn view_checksums(
    checksums: Option<&Bound<'_, PyAny>>,
    offsets: &ArrayView<i64>,
) -> PyResult<Option<ArrayView<i64>>> {
    let Some(checksums) = checksums else { return Ok(None) };
    let checksums = ArrayView::<i64>::from_object(checksums)?;
    if checksums.as_slice().len() != offsets.as_slice().len() {
        return Err(PyValueError::new_err("checksums must have one value for each frame"));
    }
    Ok(Some(checksums))
}

/// Gets and validates the offsets and lengths of frames.
pub fn view_frames(
    offsets: &Bound<'_, PyAny>,
    lengths: &Bound<'_, PyAny>,
) -> PyResult<(ArrayView<i64>, ArrayView<i64>)> {
    let (offsets, lengths) = (ArrayView::<i64>::from_object(offsets)?, ArrayView::<i64>::from_object(lengths)?);
    let is_valid = |values: &[i64]| values.iter().all(|&value| value >= 0);
    if offsets.as_slice().len() != lengths.as_slice().len()
        || !is_valid(offsets.as_slice())
        || !is_valid(lengths.as_slice())
    {
        return Err(PyValueError::new_err("offsets and lengths must have the same length and must not be negative"));
    }
    Ok((offsets, lengths))
}

/// Frame payloads: (bytes, length of each frame, checksum of each payload if the format stores none).
#[pyfunction]
pub fn frame(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    row_splits: &Bound<'_, PyAny>,
    kind: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let view = ArrayView::<u8>::from_object(data)?;
    let row_splits = copy_array::<i64>(py, row_splits)?;
    let data = view.as_slice();
    check_row_splits(&row_splits, data.len())?;
    frame_payloads(py, row_splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]), data.len(), kind)
}

/// Like `frame`, but for payloads that are separate `bytes` objects.
#[pyfunction]
pub fn frame_each(py: Python<'_>, payloads: &Bound<'_, PyTuple>, kind: PyFrameKind) -> PyResult<(Block, Block, Block)> {
    // Tuples and bytes are immutable, so the rows cannot change while the interpreter lock is released.
    let payloads: Vec<_> = payloads.iter().collect();
    let rows = payloads.iter().map(|payload| Ok(payload.cast::<PyBytes>()?.as_bytes()));
    let rows: Vec<&[u8]> = rows.collect::<PyResult<_>>()?;
    let num_bytes = rows.iter().map(|row| row.len()).sum();
    frame_payloads(py, rows.into_iter(), num_bytes, kind)
}

fn frame_payloads<'a>(
    py: Python<'_>,
    rows: impl ExactSizeIterator<Item = &'a [u8]> + Send,
    num_bytes: usize,
    kind: PyFrameKind,
) -> PyResult<(Block, Block, Block)> {
    let frames = py.detach(|| {
        let mut frames = FrameBuffer::new(kind.into(), take_pooled_buffer());
        memory::reserve(&mut frames.data, num_bytes + 24 * rows.len()).map_err(|error| (error.into(), 0))?;
        for (ordinal, row) in rows.enumerate() {
            frames.push_payload(row).map_err(|fault| (fault, ordinal))?;
        }
        Ok(frames)
    });
    Ok(frames_to_python(frames.map_err(|(fault, ordinal)| fault_error(fault, Some(ordinal)))?))
}

/// Converts frames for Python: (bytes, lengths, checksums).
pub fn frames_to_python(frames: FrameBuffer) -> (Block, Block, Block) {
    (Block::from_bytes(frames.data), Block::from_integers(frames.lengths), Block::from_integers(frames.checksums))
}

/// Return the CRC-32C of a buffer.
#[pyfunction]
pub fn crc32c(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<u32> {
    let view = ArrayView::<u8>::from_object(data)?;
    let data = view.as_slice();
    Ok(py.detach(|| checksum::crc32c(data)))
}

/// Count how many of the first files have a total size of at most `max_bytes`; at least 1. A missing file counts as 0
/// bytes.
#[pyfunction]
pub fn count_fitting(py: Python<'_>, paths: Vec<PathBuf>, max_bytes: u64) -> usize {
    py.detach(|| files::count_fitting_files(&paths, max_bytes))
}

/// Read whole files: (concatenated contents, row_splits). Raises OSError with the file's name.
#[pyfunction]
pub fn read_files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<(Block, Block)> {
    let rows = py.detach(|| {
        let mut rows = RowBuffer::new(take_pooled_buffer());
        files::read_files(&paths, &mut rows.data, &mut rows.splits).map(|()| rows)
    });
    let rows = rows.map_err(|(ordinal, error)| {
        if error.kind() == ErrorKind::OutOfMemory {
            return PyMemoryError::new_err(format!("not enough memory for the file {}", paths[ordinal].display()));
        }
        let code = error.raw_os_error().unwrap_or(INPUT_OUTPUT_ERROR);
        PyOSError::new_err((code, os_error_message(code), paths[ordinal].clone()))
    })?;
    Ok((Block::from_bytes(rows.data), Block::from_integers(rows.splits)))
}

// Consecutive records, each read directly into its Python `bytes` object.

/// `read_singles` returns when it has read this number of payload bytes.
const MAX_CALL_BYTES: usize = 256 << 10;

/// Offset of a record and its payload.
type OffsetAndPayload = (u64, Py<PyBytes>);

/// Read records from `start` on: (list of offset and payload, offset of the next record).
///
/// Stops before a record of less than `shortest` bytes. Also stops before a record with several parts or a fault; the
/// caller then uses `scan` and `fetch`.
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
) -> PyResult<(Vec<OffsetAndPayload>, u64)> {
    let plain = source.uncompressed();
    let (strings, mut offsets, mut next, mut num_bytes) = (ByteStrings::default(), Vec::new(), start, 0);
    while offsets.len() < max_records && num_bytes < MAX_CALL_BYTES {
        let record = py
            .detach(|| SinglePartRecord::locate(plain, kind.into(), next, source.max_record_bytes()))
            .filter(|record| record.num_bytes() >= shortest);
        let Some(record) = record else { break };
        let mut string = strings.allocate(py, record.num_bytes())?;
        if py.detach(|| record.read_payload(plain, verify, string.memory())).is_none() {
            break;
        }
        offsets.push(next);
        num_bytes += record.num_bytes();
        next = record.next_offset();
    }
    py.detach(|| plain.check_unchanged()).map_err(|error| source_error(error, None))?;
    Ok((offsets.into_iter().zip(strings.into_objects()).collect(), next))
}
