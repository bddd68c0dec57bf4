"""The destination of an export: a folder or a file that gets its final name when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Sequence

from recordmill.errors import InputError, OutputExistsError
from recordmill.storage.local import LOCAL, convert_write_errors

# Size of the write buffer: number of bytes that are collected before they are written to the file.
BUFFER_BYTES = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class OutputFolder:
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

    def temporary_path(self, name: str) -> str:
        """Return the path that a file of the folder has before `commit`."""
        return os.path.join(self._temporary, name)

    def write_file(self, name: str, data: bytes) -> None:
        """Create a file, and the folders that contain it. `name` must be a safe relative path that is not used yet."""
        fd = self.create_file(name)
        try:
            self.write_to(fd, name, data)
        finally:
            os.close(fd)

    def create_file(self, name: str) -> int:
        """Create a file, and the folders that contain it; return its descriptor, which the caller closes."""
        folder = name.rpartition("/")[0]
        path = self.temporary_path(name)
        with convert_write_errors(path, "cannot create a file"):
            if folder not in self._folders:
                os.makedirs(self.temporary_path(folder), exist_ok=True)
                self._folders.add(folder)
            fd = os.open(path, _CREATE, 0o666)
        self.num_files += 1
        return fd

    def write_to(self, fd: int, name: str, data: bytes | bytearray) -> None:
        """Append bytes to a file of the folder."""
        self.num_bytes += len(data)
        view = memoryview(data)
        with convert_write_errors(self.temporary_path(name), "cannot write"):
            while view:
                view = view[os.write(fd, view) :]

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
                    raise _exists_error(self.path) from None
                raise
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove everything that was written; never raises."""
        shutil.rmtree(self._temporary, ignore_errors=True)


class FolderText:
    """An append-only file in an `OutputFolder`. The file is created when its buffer is first flushed.

    Parameters
    ----------
    folder : OutputFolder
    name : str
    """

    def __init__(self, folder: OutputFolder, name: str) -> None:
        self._folder, self._name = folder, name
        self._fd: int | None = None
        self._buffer = bytearray()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._buffer += data
        if len(self._buffer) >= BUFFER_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._fd is None:
            self._fd = self._folder.create_file(self._name)
        self._folder.write_to(self._fd, self._name, self._buffer)
        self._buffer = bytearray()

    def close(self) -> None:
        """Write the buffered bytes and close the file. If no bytes were appended, no file is created."""
        try:
            if self._buffer:
                self._flush()
        finally:
            self.discard()

    def discard(self) -> None:
        """Close the file."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)


class OutputBuffer:
    """A buffered file under a temporary name. PyArrow can write to it, because it has the methods of a file object.

    Parameters
    ----------
    path : str
        Final name.
    overwrite : bool
        Replace an existing file.
    sources : sequence of str
        Files that are read. They must not be replaced.
    """

    closed = False

    def __init__(self, path: str, *, overwrite: bool, sources: Sequence[str]) -> None:
        self.path = path
        if os.path.isdir(path):
            raise OutputExistsError(
                "the destination is a folder", shard=path, hint="choose a file name, such as 'out/train.jsonl'"
            )
        if os.path.realpath(path) in set(map(os.path.realpath, sources)):
            raise _create_same_file_error(path)
        self._file = LOCAL.create_output(path, overwrite=overwrite)
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

    def commit(self) -> None:
        """Write all bytes to the disk, and give the file its final name."""
        self.flush()
        self._file.finish()
        self._file.commit()

    def discard(self) -> None:
        """Remove the temporary file."""
        self._file.discard()


def _check_folder(path: str, name: str, *, overwrite: bool, sources: Sequence[str]) -> None:
    """Raise an error if the destination is a file, contains a source, or is a folder that must not be replaced."""
    inside = os.path.join(path, "")
    if any(os.path.realpath(source).startswith(inside) for source in sources):
        raise _create_same_file_error(name)
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise OutputExistsError("the destination is a file", shard=name, hint="choose the name of a folder")
    with os.scandir(path) as entries:
        if next(entries, None) is None:
            return
    if not overwrite:
        raise _exists_error(name)
    for folder in (os.getcwd(), os.path.expanduser("~")):
        if os.path.join(os.path.realpath(folder), "").startswith(inside):
            raise InputError(
                f"the destination cannot be replaced, because it contains {folder}",
                kind="protected_folder",
                shard=name,
                hint="choose another folder",
            )


def _exists_error(path: str) -> OutputExistsError:
    return OutputExistsError(
        "the destination exists and is not empty",
        shard=path,
        hint="choose another name or use overwrite=True to replace the folder with all its files",
    )


def _create_same_file_error(path: str) -> InputError:
    return InputError(
        "the destination contains one of the sources", kind="same_file", shard=path, hint="choose another destination"
    )


def _build_hidden_path(path: str, kind: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{kind}-{os.urandom(6).hex()}")


def remove_quietly(path: str) -> None:
    """Remove a file, if it exists."""
    with contextlib.suppress(OSError):
        os.remove(path)
