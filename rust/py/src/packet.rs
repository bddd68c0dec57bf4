//! Packets of a socket, owned together with the file that comes with them before Python can be interrupted.
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// A file that another process has handed over; closed when nobody has it any more.
#[pyclass(frozen, module = "recordmill._core")]
pub struct HandedFile(OwnedFd);

#[pymethods]
impl HandedFile {
    /// The descriptor, open as long as this object is.
    fn fileno(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The next packet that is there, of `room` bytes at most, and its file; None behind the last one.
///
/// Raises BlockingIOError where none is there. A handler of signals cannot run between the arrival of a file and the
/// moment that an object owns it, as it can between two steps of Python.
#[pyfunction]
pub fn next_packet<'py>(
    py: Python<'py>,
    socket: RawFd,
    room: usize,
) -> PyResult<Option<(Bound<'py, PyBytes>, Option<HandedFile>)>> {
    if socket < 0 {
        return Err(PyValueError::new_err("the socket is closed"));
    }
    // SAFETY: it is not -1, and is used within this call alone, which reads from whatever stands under the number.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let mut data = vec![0; room];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = match recvmsg(socket, &mut [IoSliceMut::new(&mut data)], &mut ancillary, flags) {
        Ok(received) => received,
        Err(Errno::CONNRESET) => return Ok(None),
        Err(errno) => return Err(std::io::Error::from(errno).into()),
    };
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.flatten().next().map(HandedFile);
    Ok((received.bytes > 0).then(|| (PyBytes::new(py, &data[..received.bytes]), file)))
}
