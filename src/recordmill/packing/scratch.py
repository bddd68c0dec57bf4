"""A file in memory for each thread: Pillow lets go of the interpreter lock while it encodes JPEG only into a file."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import IO, cast


class _Local(threading.local):
    """The file of a thread, and the process that made it."""

    file: IO[bytes] | None = None
    process = 0


_LOCAL = _Local()


def scratch_file() -> IO[bytes]:
    """Return an empty file that belongs to this thread of this process, until it is asked for again.

    Returns
    -------
    file object
        Open for reading and writing, without a buffer of its own.
    """
    if _LOCAL.file is None or _LOCAL.process != os.getpid():
        _LOCAL.file, _LOCAL.process = _new_file(), os.getpid()
    _LOCAL.file.seek(0)
    _LOCAL.file.truncate()
    return _LOCAL.file


def _new_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("recordmill"), "w+b", buffering=0)
    return cast("IO[bytes]", tempfile.TemporaryFile(buffering=0))


def contents(file: IO[bytes]) -> bytes:
    """Everything that was written to a scratch file.

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
