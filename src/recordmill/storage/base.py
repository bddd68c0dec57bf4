"""What a storage owes to the shards above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recordmill import _core
from recordmill.storage.compression import Compression


@dataclass(frozen=True, slots=True)
class Stat:
    """What is known of a stored file without reading it.

    Parameters
    ----------
    num_bytes : int
    modified_ns : int
        Time of the last change, nanoseconds.
    """

    num_bytes: int
    modified_ns: int


class OutputFile(Protocol):
    """A file being written; nobody sees it under its final name before `commit`.

    Attributes
    ----------
    path : str
        The final name; may be changed until then.
    temporary : str
        Where the bytes are until then.
    """

    path: str
    temporary: str

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        ...

    def finish(self) -> None:
        """Bring all bytes to the disk; nothing can be written afterwards."""
        ...

    def commit(self) -> None:
        """Put the file under its final name."""
        ...

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        ...


class Storage(Protocol):
    """Named byte sequences that can be listed, read at offsets and written atomically."""

    def expand(self, pattern: str) -> list[str]:
        """Names that a path, pattern or directory stands for, in natural order."""
        ...

    def stat(self, path: str) -> Stat:
        """Size and time of change."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        ...

    def open(self, paths: Sequence[str], compression: Compression | None, max_bytes: int) -> _core.Source:
        """One source for positioned reads of the files' uncompressed bytes, back to back."""
        ...

    def read(self, path: str) -> bytes:
        """Content of a small file."""
        ...

    def create(self, path: str, *, overwrite: bool) -> OutputFile:
        """Begin a new file."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        ...
