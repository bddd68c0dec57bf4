"""The destination of an export: a folder or a file that gets its final name when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.errors import InputError, OutputExistsError, RemoteError, WriteError
from recordmill.storage.addresses import describe_path, is_address, normalize_address, split_address
from recordmill.storage.base import Storage
from recordmill.storage.local import convert_write_errors
from recordmill.storage.remote_output import MAX_DISCARD_S, convert_remote_errors

# Size of the write buffer: number of bytes that are collected before they are written to the file.
BUFFER_BYTES = 1 << 20


class WritableFile(Protocol):
    """A file of an `OutputFolder` that is open for writing."""

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        ...

    def finish(self) -> None:
        """Write all bytes, and close the file."""
        ...

    def discard(self) -> None:
        """Close the file. The folder removes it; never raises."""
        ...


class OutputFolder(Protocol):
    """A folder whose files get their final names in `commit`.

    Attributes
    ----------
    num_files, num_bytes : int
        Number of files and their size.
    """

    num_files: int
    num_bytes: int

    def write_file(self, name: str, data: bytes) -> None:
        """Write a file. `name` must be a safe relative path that is not used yet; its folders are created."""
        ...

    def create_file(self, name: str) -> WritableFile:
        """Create a file for a `FolderFile`, which updates `num_bytes`."""
        ...

    def commit(self) -> None:
        """Give all files their final names."""
        ...

    def discard(self) -> None:
        """Remove everything that was written; never raises."""
        ...


class FolderFile:
    """A file in an `OutputFolder` that is written in pieces. It is created by the first call of `write`.

    Parameters
    ----------
    folder : OutputFolder
    name : str
    """

    def __init__(self, folder: OutputFolder, name: str) -> None:
        self._folder, self._name = folder, name
        self._file: WritableFile | None = None

    def write(self, data: bytes) -> None:
        """Append bytes."""
        if self._file is None:
            self._file = self._folder.create_file(self._name)
        self._file.write(data)
        self._folder.num_bytes += len(data)

    def finish(self) -> None:
        """Write all bytes, and close the file."""
        if self._file is not None:
            self._file.finish()

    def discard(self) -> None:
        """Close the file; never raises."""
        if self._file is not None:
            self._file.discard()

    def write_all(self, data: bytes) -> None:
        """Write the whole file."""
        try:
            self.write(data)
            self.finish()
        except BaseException:
            self.discard()
            raise


class LocalFolder:
    """A folder that is written under a hidden temporary name beside its final name, and then renamed.

    Parameters
    ----------
    path : str
        Final name; a folder of this name must be empty, unless `overwrite` is set.
    overwrite : bool
        Replace an existing folder.
    sources : sequence of str
        Files that are read. The folder must not contain them.
    """

    def __init__(self, path: str, *, overwrite: bool, sources: Sequence[str]) -> None:
        self.path, self._overwrite = os.path.realpath(path), overwrite
        _check_folder(self.path, path, overwrite=overwrite, sources=sources)
        self._temporary = _build_hidden_path(self.path, "tmp")
        with convert_write_errors(path, "cannot create the folder"):
            os.makedirs(self._temporary)
        self._folders = {""}
        self.num_files = self.num_bytes = 0

    def write_file(self, name: str, data: bytes) -> None:
        """Write a file, and create the folders that contain it."""
        path = self._add_file(name)
        self.num_bytes += len(data)
        with convert_write_errors(path, "cannot write"), open(path, "xb") as file:
            file.write(data)

    def create_file(self, name: str) -> LocalFile:
        """Create a file, and the folders that contain it."""
        return LocalFile(self._add_file(name))

    def _add_file(self, name: str) -> str:
        """Create the folders that contain a file. Return the path of the file before `commit`."""
        folder = name.rpartition("/")[0]
        if folder not in self._folders:
            path = os.path.join(self._temporary, folder)
            with convert_write_errors(path, "cannot create a folder"):
                os.makedirs(path, exist_ok=True)
            self._folders.add(folder)
        self.num_files += 1
        return os.path.join(self._temporary, name)

    def commit(self) -> None:
        """Give the folder its final name."""
        with convert_write_errors(self.path, "cannot rename the folder"):
            old = None
            if self._overwrite and os.path.lexists(self.path):
                old = _build_hidden_path(self.path, "old")
                os.rename(self.path, old)
            try:
                os.rename(self._temporary, self.path)
            except OSError as error:
                if old is not None:
                    os.rename(old, self.path)
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise folder_exists_error(self.path) from None
                raise
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove everything that was written; never raises."""
        shutil.rmtree(self._temporary, ignore_errors=True)


class LocalFile:
    """A new file of a `LocalFolder`.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with convert_write_errors(path, "cannot create a file"):
            self._file = open(path, "xb", BUFFER_BYTES)  # noqa: SIM115 (closed by `finish` or `discard`)

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        with convert_write_errors(self._path, "cannot write"):
            self._file.write(data)

    def finish(self) -> None:
        """Write all bytes, and close the file."""
        with convert_write_errors(self._path, "cannot write"):
            self._file.close()

    def discard(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()


class OutputBuffer:
    """A buffered file under a temporary name. PyArrow can write to it, because it has the methods of a file object.

    Parameters
    ----------
    storage : Storage
    path : str
        Final name.
    overwrite : bool
        Replace an existing file.
    sources : sequence of str
        Files that are read. They must not be replaced.
    """

    closed = False

    def __init__(self, storage: Storage, path: str, *, overwrite: bool, sources: Sequence[str]) -> None:
        self.path, self._storage, self._overwrite = path, storage, overwrite
        is_folder = split_address(path).key[-1:] in ("", "/") if storage.is_remote else os.path.isdir(path)
        if is_folder:
            raise OutputExistsError(
                "the destination is a folder",
                shard=describe_path(path),
                hint="choose a file name, such as 'out/train.jsonl'",
            )
        find_path = normalize_address if storage.is_remote else os.path.realpath
        if find_path(path) in set(map(find_path, sources)):
            raise create_same_file_error(path)
        with convert_remote_errors(path, "cannot create the file"):
            self._file = storage.create_output(path, overwrite=overwrite)
        self._commit: Future[None] | None = None
        self._buffer = bytearray()
        self.num_bytes = 0

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes, and return their number."""
        size = memoryview(data).nbytes
        self.num_bytes += size
        if size >= BUFFER_BYTES:
            self.flush()
            self._file.write(data)
        else:
            self._buffer += data
            if len(self._buffer) >= BUFFER_BYTES:
                self.flush()
        return size

    def flush(self) -> None:
        """Write the collected bytes to the file."""
        if self._buffer:
            self._file.write(bytes(self._buffer))
            self._buffer = bytearray()

    def tell(self) -> int:
        """Return the number of bytes that were written."""
        return self.num_bytes

    def finish(self) -> None:
        """Write all bytes durably to the storage."""
        self.flush()
        self._file.finish()

    def commit(self) -> None:
        """Give the finished file its final name."""
        # A request that was sent cannot be interrupted. It runs in a thread, so that `discard` can wait for it.
        self._commit = DaemonPool(1, "recordmill-export").submit(self._file.commit)
        self._commit.result()
        with contextlib.suppress(RemoteError):
            if self._storage.is_remote and self._storage.exists(self._file.temporary):
                warn_about_remaining(self._file.temporary)

    def discard(self) -> None:
        """Remove the temporary file, or the final file unless it has replaced another file; never raises."""
        with contextlib.suppress(WriteError, TimeoutError):
            is_committed = self._commit is not None and self._commit.exception(MAX_DISCARD_S) is None
            if is_committed and not self._overwrite:
                self._storage.remove(self.path)
        self._file.discard()


def _check_folder(path: str, name: str, *, overwrite: bool, sources: Sequence[str]) -> None:
    """Raise an error if the destination is a file, contains a source, or is a folder that must not be replaced."""
    inside = os.path.join(path, "")
    if any(os.path.realpath(source).startswith(inside) for source in sources if not is_address(source)):
        raise create_same_file_error(name)
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise OutputExistsError("the destination is a file", shard=name, hint="choose the name of a folder")
    with os.scandir(path) as entries:
        if next(entries, None) is None:
            return
    if not overwrite:
        raise folder_exists_error(name)
    for folder in (os.getcwd(), os.path.expanduser("~")):
        if os.path.join(os.path.realpath(folder), "").startswith(inside):
            raise InputError(
                f"the destination cannot be replaced, because it contains {folder}",
                kind="protected_folder",
                shard=name,
                hint="choose another folder",
            )


def folder_exists_error(path: str) -> OutputExistsError:
    """Create the error for a folder that must not be replaced."""
    return OutputExistsError(
        "the destination exists and is not empty",
        shard=describe_path(path),
        hint="choose another name or use overwrite=True to replace the folder with all its files",
    )


def create_same_file_error(path: str) -> InputError:
    """Create the error for a destination that is or contains a source."""
    return InputError(
        "the destination contains one of the sources",
        kind="same_file",
        shard=describe_path(path),
        hint="choose another destination",
    )


def warn_about_remaining(path: str) -> None:
    """Warn that temporary objects could not be removed, for example because the permission is missing."""
    warnings.warn(f"{describe_path(path)} could not be removed; remove it yourself", RuntimeWarning, stacklevel=2)


def _build_hidden_path(path: str, kind: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{kind}-{os.urandom(6).hex()}")
