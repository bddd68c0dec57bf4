"""What a worker process is doing: a page of memory that its consumer reads, also when the process has died."""

from __future__ import annotations

import mmap
import os
import struct

SIZE = mmap.PAGESIZE
_HEAD = struct.Struct("<q")


class Slate:
    """A note of some bytes that two processes see; one of them writes it.

    Parameters
    ----------
    file : int
        Descriptor of what `new_file` made; it may be closed afterwards.
    """

    here: Slate | None = None
    """That of this process, where it is a worker."""

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, SIZE)

    def write(self, note: bytes) -> None:
        """Replace the note; its length comes last, so that half of one is never read.

        Parameters
        ----------
        note : bytes
            Nothing is noted where it is larger than a page.
        """
        self.clear()
        if len(note) <= SIZE - _HEAD.size:
            self._memory[_HEAD.size : _HEAD.size + len(note)] = note
            _HEAD.pack_into(self._memory, 0, len(note))

    def clear(self) -> None:
        """Note nothing."""
        _HEAD.pack_into(self._memory, 0, 0)

    def read(self) -> bytes:
        """Return the note, empty where there is none."""
        (length,) = _HEAD.unpack_from(self._memory)
        return self._memory[_HEAD.size : _HEAD.size + length]

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()


def new_file() -> int:
    """Make a file in memory for a slate.

    Returns
    -------
    int
        Descriptor.
    """
    file = os.memfd_create("recordmill-slate", os.MFD_CLOEXEC)
    os.ftruncate(file, SIZE)
    return file
