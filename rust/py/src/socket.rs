//! Reception of socket packets with file descriptors.
//!
//! Each descriptor is owned by an object before a Python signal handler can run, so it cannot leak.
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use recordmill_core::memory;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::error::out_of_memory_error;

/// File descriptor that another process has sent; it is closed when the object is deleted.
#[pyclass(frozen, module = "recordmill._core")]
pub struct HandedFile(OwnedFd);

#[pymethods]
impl HandedFile {
    /// Return the descriptor, which is open as long as this object exists.
    fn fileno(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Receive the next packet, of at most `room` bytes: (data, file descriptor that was sent with the packet, or None).
/// Return None after the last packet.
///
/// Raises BlockingIOError if no packet is available. No signal handler can run between the reception of a
/// descriptor and the creation of the object that owns it, as it could in Python code.
#[pyfunction]
pub fn next_packet<'py>(
    py: Python<'py>,
    socket: RawFd,
    room: usize,
) -> PyResult<Option<(Bound<'py, PyBytes>, Option<HandedFile>)>> {
    if socket < 0 {
        return Err(PyValueError::new_err("the socket is closed"));
    }
    // SAFETY: the descriptor is not -1 and is used only during this call, which reads from whatever file it refers to.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let mut data = memory::filled(room, 0).map_err(out_of_memory_error)?;
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
