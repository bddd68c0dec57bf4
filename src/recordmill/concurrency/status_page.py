"""Status of a worker process, in shared memory, so that the consumer can read it even after the process died."""

from __future__ import annotations

import mmap
import os
import struct

_LENGTH = struct.Struct("<q")


class StatusPage:
    """A short byte string that a worker process writes and its consumer reads.

    Parameters
    ----------
    file : int
        Descriptor from `create_file`; may be closed afterwards.
    """

    current: StatusPage | None = None
    """The page of this process, if it is a worker process; else None."""

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, mmap.PAGESIZE)

    @staticmethod
    def create_file() -> int:
        """Return the descriptor of a new anonymous file of one page."""
        file = os.memfd_create("recordmill-status", os.MFD_CLOEXEC)
        os.ftruncate(file, mmap.PAGESIZE)
        return file

    def write(self, status: bytes) -> None:
        """Replace the status. A status that is too long for one memory page is stored as an empty status."""
        self.clear()
        if len(status) <= mmap.PAGESIZE - _LENGTH.size:
            self._memory[_LENGTH.size : _LENGTH.size + len(status)] = status
            _LENGTH.pack_into(self._memory, 0, len(status))

    def clear(self) -> None:
        """Make the status empty, so that `read` returns ``b""``."""
        _LENGTH.pack_into(self._memory, 0, 0)

    def read(self) -> bytes:
        """Return the current status; ``b""`` if the status is empty."""
        (length,) = _LENGTH.unpack_from(self._memory)
        return self._memory[_LENGTH.size : _LENGTH.size + length]

    def close(self) -> None:
        """Unmap the page."""
        self._memory.close()
