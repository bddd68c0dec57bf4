"""Storages for tests: one in memory, and a wrapper that makes a chosen operation fail."""

from __future__ import annotations

import errno
import fnmatch
import os
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import count
from threading import RLock

from recordmill import _core
from recordmill.storage.base import OutputFile, Stat, Storage, output_exists_error
from recordmill.storage.compression import Compression
from recordmill.storage.local import natural_sort_key

# This lock protects the numbering of operations, because several threads may read. It is not an attribute of a storage,
# because storages must be picklable.
_LOCK = RLock()


class MemoryStorage:
    """A storage that keeps the content of its files in a dict.

    Attributes
    ----------
    files : dict of str to bytes
        Content of each file, including files under temporary names.
    """

    is_remote = False

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._modified: dict[str, int] = {}
        self._clock = count(1)

    def expand(self, pattern: str) -> list[str]:
        """List the files that a path, glob pattern or directory stands for, in natural order."""
        if pattern in self.files:
            return [pattern]
        in_folder = [path for path in self.files if os.path.dirname(path) == pattern.rstrip("/")]
        paths = in_folder or fnmatch.filter(self.files, pattern)
        return sorted((path for path in paths if not os.path.basename(path).startswith(".")), key=natural_sort_key)

    def stat(self, path: str) -> Stat:
        """Return the size of a file, and a counter in place of the modification time."""
        return Stat(len(self.read(path)), self._modified[path])

    def exists(self, path: str) -> bool:
        """Return True if a file of this name exists."""
        return path in self.files

    def open(self, paths: Sequence[str], compression: Compression | None = None, max_bytes: int = 0) -> _core.Source:
        """Open one or several files as one stream that can be read at any offset; offsets count uncompressed bytes."""
        sources = [
            _core.Source.from_bytes(self.read(path), compression=compression, max_bytes=max_bytes) for path in paths
        ]
        return sources[0] if len(sources) == 1 else _core.Source.join(sources)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(2, "No such file or directory", path) from None

    def create_output(self, path: str, *, overwrite: bool) -> MemoryOutputFile:
        """Create a file under a temporary name, to be written and then committed."""
        if path in self.files and not overwrite:
            raise output_exists_error(path)
        folder, name = os.path.split(path)
        return MemoryOutputFile(self, path, os.path.join(folder, f".{name}.tmp-{next(self._clock)}"), overwrite)

    def remove(self, path: str) -> None:
        """Remove a file; has no effect if it does not exist."""
        self.files.pop(path, None)

    def can_list(self, folder: str) -> bool:
        """Return True, because all folders can be listed."""
        del folder
        return True

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all files in a folder, hidden ones included."""
        return [os.path.basename(path) for path in self.files if os.path.dirname(path) == folder.rstrip("/")]

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Rename a file."""
        if not overwrite and new in self.files:
            raise output_exists_error(new)
        self.write(new, self.files.pop(old))

    def create_exclusively(self, path: str, data: bytes) -> None:
        """Create a file with its content; raise FileExistsError if it exists."""
        if path in self.files:
            raise output_exists_error(path)
        self.write(path, data)

    def append(self, path: str, data: bytes) -> None:
        """Append bytes to a file; create it if it does not exist."""
        self.write(path, self.files.get(path, b"") + data)

    def sync_folder(self, path: str) -> None:
        """Do nothing: files in memory are not durable."""

    def write(self, path: str, data: bytes) -> None:
        """Write or replace a file without a temporary name, as another program would.

        Parameters
        ----------
        path : str
        data : bytes
        """
        self.files[path] = data
        self._modified[path] = next(self._clock)


class MemoryOutputFile:
    """A file of a `MemoryStorage` that is being written."""

    def __init__(self, storage: MemoryStorage, path: str, temporary: str, overwrite: bool) -> None:
        self.path, self.temporary = path, temporary
        self._storage, self._overwrite = storage, overwrite
        self._is_open = True
        storage.write(temporary, b"")

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        if not self._is_open:
            raise ValueError(f"the output file {self.path!r} is closed")
        self._storage.write(self.temporary, self._storage.files[self.temporary] + bytes(data))

    def finish(self) -> None:
        """Close the file for writing."""
        self._is_open = False

    def commit(self) -> None:
        """Rename the file to its final name."""
        self._storage.rename(self.temporary, self.path, overwrite=self._overwrite)

    def discard(self) -> None:
        """Remove the temporary file; has no effect after `commit`."""
        self._is_open = False
        self._storage.remove(self.temporary)


class Fault(Enum):
    """Failure mode of an operation of a `FaultyStorage`.

    ``EIO``, ``EMFILE`` and ``EINTR`` raise an OSError with this error number. The others affect only ``read_at``:
    ``SHORT_READ`` returns half of the requested bytes, and ``EARLY_END`` returns none.
    """

    EIO = errno.EIO
    EMFILE = errno.EMFILE
    EINTR = errno.EINTR
    SHORT_READ = "short read"
    EARLY_END = "early end"

    def limit_read(self, length: int) -> int:
        """Return the number of bytes that a faulty read returns if `length` bytes are requested.

        Parameters
        ----------
        length : int

        Returns
        -------
        int
        """
        return {Fault.SHORT_READ: (length + 1) // 2, Fault.EARLY_END: 0}.get(self, length)


class FaultyStorage:
    """A storage that records the operations called on it, and can make one of them fail.

    To test every point of failure of a program, run it once without a fault, and then once for each recorded
    operation with `fail_at` as the number of that operation.

    Parameters
    ----------
    storage : Storage
        Storage that performs the operations.
    fail_at : int, optional
        Number of the operation that fails, counted from 0 in the order of calls; by default no operation fails.
    error : callable
        Function that takes the path of the operation that fails, and returns the exception to raise.
    fault : Fault, optional
        What happens in the operation that fails. Replaces `error`.

    Attributes
    ----------
    operations : list of (str, str)
        Name and path of each operation. The names are the methods of `Storage`; ``read_at`` for each read of an open
        file; and ``write``, ``finish`` and ``commit`` for files that are being written. ``discard`` is not recorded,
        because it must not fail.

    Examples
    --------
    >>> from recordmill.testing.storage import Fault, FaultyStorage, MemoryStorage
    >>> memory = MemoryStorage()
    >>> memory.write("file", b"0123")
    >>> storage = FaultyStorage(memory, fail_at=1, fault=Fault.EIO)
    >>> source = storage.open(["file"])
    >>> source.read(0, 4)
    Traceback (most recent call last):
    OSError: [Errno 5] Input/output error
    >>> bytes(memoryview(source.read(0, 4)))
    b'0123'
    """

    is_remote = False

    def __init__(
        self,
        storage: Storage,
        fail_at: int | None = None,
        error: Callable[[str], BaseException] = OSError,
        *,
        fault: Fault | None = None,
    ) -> None:
        self.operations: list[tuple[str, str]] = []
        self._storage, self._fail_at, self._error, self._fault = storage, fail_at, error, fault

    def record_operation(self, operation: str, path: str) -> None:
        """Append an operation to `operations`. If a failure of this operation is scheduled, raise its error.

        Parameters
        ----------
        operation : str
        path : str
        """
        if self._is_faulty(operation, path):
            self._raise_error(operation, path)

    def _is_faulty(self, operation: str, path: str) -> bool:
        with _LOCK:
            self.operations.append((operation, path))
            return len(self.operations) - 1 == self._fail_at

    def _raise_error(self, operation: str, path: str) -> None:
        if self._fault is None:
            raise self._error(path)
        if isinstance(self._fault.value, int):
            # The native module raises the errors of these two operations, without a file name.
            names = () if operation in ("open", "read_at") else (path,)
            raise OSError(self._fault.value, os.strerror(self._fault.value), *names)

    def expand(self, pattern: str) -> list[str]:
        """List the files that a path, glob pattern or directory stands for, in natural order."""
        self.record_operation("expand", pattern)
        return self._storage.expand(pattern)

    def stat(self, path: str) -> Stat:
        """Return the size and modification time of a file."""
        self.record_operation("stat", path)
        return self._storage.stat(path)

    def exists(self, path: str) -> bool:
        """Return True if a file of this name exists."""
        self.record_operation("exists", path)
        return self._storage.exists(path)

    def open(self, paths: Sequence[str], compression: Compression | None = None, max_bytes: int = 0) -> _core.Source:
        """Open one or several files as one stream that can be read at any offset; offsets count uncompressed bytes."""
        self.record_operation("open", paths[0])
        sources = [self._open_file(path, compression, max_bytes) for path in paths]
        return sources[0] if len(sources) == 1 else _core.Source.join(sources)

    def _open_file(self, path: str, compression: Compression | None, max_bytes: int) -> _core.Source:
        file = self._storage.open([path])

        def read(offset: int, length: int) -> _core.Block:
            if self._is_faulty("read_at", path):
                self._raise_error("read_at", path)
                length = length if self._fault is None else self._fault.limit_read(length)
            return file.read_stored(offset, length)

        num_bytes = file.num_stored_bytes or 0
        return _core.Source.from_reader(read, num_bytes, compression=compression, max_bytes=max_bytes)

    def read(self, path: str) -> bytes:
        """Read a whole file into memory."""
        self.record_operation("read", path)
        return self._storage.read(path)

    def create_output(self, path: str, *, overwrite: bool) -> FaultyOutputFile:
        """Create a file under a temporary name, to be written and then committed."""
        self.record_operation("create_output", path)
        return FaultyOutputFile(self, self._storage.create_output(path, overwrite=overwrite))

    def remove(self, path: str) -> None:
        """Remove a file; has no effect if it does not exist."""
        self.record_operation("remove", path)
        self._storage.remove(path)

    def can_list(self, folder: str) -> bool:
        """Return True, because all folders can be listed."""
        del folder
        return True

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all files in a folder, hidden ones included."""
        self.record_operation("list_names", folder)
        return self._storage.list_names(folder)

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Rename a file."""
        self.record_operation("rename", new)
        self._storage.rename(old, new, overwrite=overwrite)

    def create_exclusively(self, path: str, data: bytes) -> None:
        """Create a file with its content; raise FileExistsError if it exists."""
        self.record_operation("create_exclusively", path)
        self._storage.create_exclusively(path, data)

    def append(self, path: str, data: bytes) -> None:
        """Append bytes to a file; create it if it does not exist."""
        self.record_operation("append", path)
        self._storage.append(path, data)

    def sync_folder(self, path: str) -> None:
        """Make the names of all files in a folder durable."""
        self.record_operation("sync_folder", path)
        self._storage.sync_folder(path)


class FaultyOutputFile:
    """A file of a `FaultyStorage` that is being written."""

    def __init__(self, storage: FaultyStorage, file: OutputFile) -> None:
        self._storage, self._file = storage, file

    @property
    def path(self) -> str:
        """Path of the file once it is complete."""
        return self._file.path

    @path.setter
    def path(self, path: str) -> None:
        self._file.path = path

    @property
    def temporary(self) -> str:
        """Name of the file until `commit`."""
        return self._file.temporary

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        self._storage.record_operation("write", self.path)
        self._file.write(data)

    def finish(self) -> None:
        """Make all bytes durable and close the file for writing."""
        self._storage.record_operation("finish", self.path)
        self._file.finish()

    def commit(self) -> None:
        """Rename the file to its final name."""
        self._storage.record_operation("commit", self.path)
        self._file.commit()

    def discard(self) -> None:
        """Remove the temporary file; has no effect after `commit`."""
        self._file.discard()
