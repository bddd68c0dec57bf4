"""A file in memory for each thread: Pillow lets go of the interpreter lock while it encodes JPEG only into a file."""

from __future__ import annotations

import os
import threading
from typing import IO, cast

# Bytes above which memory is given back; below, fresh pages would cost more.
_KEPT = 8 << 20


class _Held:
    """A file that is closed when nobody has it any more, as when its thread ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.file = _new_file()

    def __del__(self) -> None:
        self.file.close()


class _Local(threading.local):
    """The file of a thread."""

    held: _Held | None = None


_LOCAL = _Local()


def scratch_file() -> IO[bytes]:
    """Return a file that belongs to this thread of this process until it is asked for again, at its beginning.

    What was written before may still lie there: `contents` reads as far as was written now.

    Returns
    -------
    file object
        Open for reading and writing, without a buffer of its own.
    """
    held = _LOCAL.held
    if held is None or held.process != os.getpid():
        held = _LOCAL.held = _Held()
    if held.file.seek(0, os.SEEK_END) > _KEPT:
        held.file.truncate(0)
    held.file.seek(0)
    return held.file


def _new_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("recordmill"), "w+b", buffering=0)
    import tempfile

    return cast("IO[bytes]", tempfile.TemporaryFile(buffering=0))


def contents(file: IO[bytes]) -> bytes:
    """Everything that was written to a scratch file since it was asked for.

    Parameters
    ----------
    file : file object

    Returns
    -------
    bytes
    """
    length = file.tell()
    file.seek(0)
    parts = []
    while length > 0 and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
