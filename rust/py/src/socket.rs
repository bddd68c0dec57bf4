//! Receives packets of a socket with the file that comes with them; the file has an owner before Python can be interrupted.
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// A file that another process has sent; closed with its last reference.
#[pyclass(frozen, module = "recordmill._core")]
pub struct HandedFile(OwnedFd);

#[pymethods]
impl HandedFile {
    /// The descriptor, which is open while this object exists.
    fn fileno(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The next available packet, of at most `room` bytes, and its file; None after the last one.
///
/// Raises BlockingIOError if none is available. No signal handler can run between the arrival of a file and the moment
/// that an object owns it; in Python one could.
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
