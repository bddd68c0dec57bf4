"""The local file system: list files, read them at offsets, and write them atomically under temporary names."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence

from recordmill import _core
from recordmill.errors import WriteError
from recordmill.storage.base import Stat, Storage, output_exists_error
from recordmill.storage.compression import Compression

# Each time this many bytes have been written, the kernel is asked to start writing them to the disk.
_WRITEBACK_BYTES = 4 << 20
# Maximum length of a file name on most file systems.
_MAX_NAME_BYTES = 255
# Errors of `os.link` on file systems without hard links, such as FAT, exFAT and some network shares.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)
# Errors of `os.fsync` on folders, if the file system cannot sync folders.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


class LocalStorage:
    """The file system of this machine."""

    is_remote = False

    def expand(self, pattern: str) -> list[str]:
        """List the files that a path, glob pattern or directory stands for, in natural order."""
        if os.path.isdir(pattern):
            names = [os.path.join(pattern, name) for name in os.listdir(pattern) if not name.startswith(".")]
        elif os.path.lexists(pattern):
            return [pattern]
        else:
            names = glob.glob(pattern, recursive=True)
        return sorted([name for name in names if _is_regular_file(name)], key=natural_sort_key)

    def stat(self, path: str) -> Stat:
        """Return the size and modification time of a file."""
        status = os.stat(path)
        return Stat(status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))

    def exists(self, path: str) -> bool:
        """Return True if the path exists. A dangling symbolic link counts as existing."""
        return os.path.lexists(path)

    def open(self, paths: Sequence[str], compression: Compression | None = None, max_bytes: int = 0) -> _core.Source:
        """Open one or several files as one stream that can be read at any offset; offsets count uncompressed bytes."""
        sources = [_core.Source.open(path, compression=compression, max_bytes=max_bytes) for path in paths]
        return sources[0] if len(sources) == 1 else _core.Source.join(sources)

    def read(self, path: str) -> bytes:
        """Read a whole file into memory."""
        with open(path, "rb") as file:
            return file.read()

    def create_output(self, path: str, *, overwrite: bool) -> LocalOutputFile:
        """Create a file under a temporary name, to be written and then committed."""
        return LocalOutputFile(path, overwrite=overwrite)

    def remove(self, path: str) -> None:
        """Remove a file; has no effect if it does not exist."""
        with convert_write_errors(path, "cannot remove the file"), contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def can_list(self, folder: str) -> bool:
        """Return True, because all folders can be listed."""
        del folder
        return True

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all entries of a folder, hidden ones included, in any order."""
        try:
            return os.listdir(folder or ".")
        except (FileNotFoundError, NotADirectoryError):
            return []

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Rename a file atomically."""
        with convert_write_errors(new, "cannot rename the file to its final name"):
            if overwrite:
                os.replace(old, new)
            else:
                _rename_without_overwrite(old, new)

    def create_exclusively(self, path: str, data: bytes) -> None:
        """Create a small file that contains `data`, unless a file of this name exists."""
        folder, name = os.path.split(path)
        temporary = temporary_path(folder, name)
        with convert_write_errors(path, "cannot create a file"):
            _create_folders_durably(folder)
        try:
            with convert_write_errors(path, "cannot write"):
                _create_file(temporary, data)
                _link_or_create(temporary, path, data)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)

    def append(self, path: str, data: bytes) -> None:
        """Append bytes to a small file; create it if it does not exist."""
        with convert_write_errors(path, "cannot write"):
            _write_file(path, data, os.O_APPEND)

    def sync_folder(self, path: str) -> None:
        """Ensure that created, renamed and removed names in a folder survive a crash, if the file system permits."""
        with convert_write_errors(path, "cannot sync the folder to disk"):
            try:
                fd = os.open(path or ".", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            except PermissionError:
                return  # The folder is not readable, or the system is Windows, where folders cannot be opened.
            try:
                os.fsync(fd)
            except OSError as error:
                if error.errno not in _NO_FOLDER_SYNC:
                    raise
            finally:
                os.close(fd)


class LocalOutputFile:
    """A local file that is being written, under a hidden temporary name in its final folder.

    Parameters
    ----------
    path : str
        Final name.
    overwrite : bool
        Replace an existing file of that name on commit.
    """

    def __init__(self, path: str, *, overwrite: bool) -> None:
        if not overwrite and os.path.lexists(path):
            raise output_exists_error(path)
        self.path = path
        self._overwrite = overwrite
        self._num_bytes = self._writeback_end = 0
        folder, name = os.path.split(path)
        self.temporary = temporary_path(folder, name)
        with convert_write_errors(path, "cannot create a file"):
            _create_folders_durably(folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            self._fd: int | None = os.open(self.temporary, flags, 0o666)

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        view = memoryview(data).cast("B")
        with convert_write_errors(self.path, "cannot write"):
            while view:
                written = os.write(self._require_open_descriptor(), view)
                view, self._num_bytes = view[written:], self._num_bytes + written
            self._start_writeback()

    def _start_writeback(self) -> None:
        """Ask the kernel to start writing the new bytes to the disk, so that `fsync` at the end takes less time."""
        pending = self._num_bytes - self._writeback_end
        if pending >= _WRITEBACK_BYTES and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._require_open_descriptor(), self._writeback_end, pending, os.POSIX_FADV_DONTNEED)
            self._writeback_end = self._num_bytes

    def finish(self) -> None:
        """Sync all bytes to the disk and close the file."""
        if self._fd is None:
            return
        with convert_write_errors(self.path, "cannot sync the file to disk"):
            os.fsync(self._fd)
            self._close_descriptor()

    def commit(self) -> None:
        """Rename the file to its final name."""
        LOCAL.rename(self.temporary, self.path, overwrite=self._overwrite)

    def discard(self) -> None:
        """Remove the temporary file."""
        self._close_descriptor()
        with contextlib.suppress(OSError):
            os.unlink(self.temporary)

    def _require_open_descriptor(self) -> int:
        if self._fd is None:
            raise ValueError(f"the output file {self.path!r} is closed")
        return self._fd

    def _close_descriptor(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)


def temporary_path(folder: str, name: str) -> str:
    """Return a new hidden path for a temporary file. `datasets.shard_names` recognizes names of this form."""
    suffix = f".tmp-{os.urandom(6).hex()}"
    start = os.fsdecode(os.fsencode(f".{name}")[: _MAX_NAME_BYTES - len(suffix)])
    return os.path.join(folder, start + suffix)


def _create_file(path: str, data: bytes) -> None:
    """Create a file with the given content; raise FileExistsError if the file exists."""
    _write_file(path, data, os.O_EXCL)


def _write_file(path: str, data: bytes, flags: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write(data)


def _link_or_create(temporary: str, path: str, data: bytes) -> None:
    """Link a complete temporary file to its final path. Without hard links, write `data` to the final path instead."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _create_file(path, data)


def _create_folders_durably(folder: str) -> None:
    """Create a folder and its missing parents, and sync the new directory entries to the disk."""
    missing, parent = [], folder
    while parent and not os.path.isdir(parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    os.makedirs(folder or ".", exist_ok=True)
    for created in missing:
        LOCAL.sync_folder(os.path.dirname(created))


@contextlib.contextmanager
def convert_write_errors(path: str, action: str) -> Iterator[None]:
    """Convert an OSError in the `with` block to a WriteError that names the file and the failed `action`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        # A FileExistsError with the path of the folder means that the folder cannot be created, because a file has the
        # same name.
        if isinstance(error, FileExistsError) and error.filename != os.path.dirname(path):
            raise output_exists_error(path) from error
        hint = "free some disk space and run it again" if error.errno == errno.ENOSPC else None
        raise WriteError(f"{action}: {error.strerror}", errno=error.errno, shard=path, hint=hint) from error


def _rename_without_overwrite(old: str, new: str) -> None:
    """Rename a file; raise FileExistsError if the new name exists, without changing either file."""
    try:
        os.link(old, new)
    except FileExistsError:
        # If both names belong to the same file, an earlier rename was interrupted between `link` and `unlink`.
        if not os.path.samestat(os.lstat(old), os.lstat(new)):
            raise
        os.unlink(old)
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links, the rename is not atomic: a file that is created between the check and the rename is
        # replaced.
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
        os.rename(old, new)
        return
    try:
        os.unlink(old)
    except BaseException:
        os.unlink(new)
        raise


def natural_sort_key(path: str) -> tuple[tuple[int, int | str], ...]:
    """Return a sort key that orders ``part-2`` before ``part-10``."""
    pieces = re.split(r"(\d+)", path)
    return tuple([(0, int(piece)) if piece.isdecimal() else (1, piece) for piece in pieces if piece])


def _is_regular_file(path: str) -> bool:
    """Return True for a regular file; raise FileNotFoundError for a dangling link instead of skipping it silently."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        if os.path.islink(path):
            target = os.readlink(path)
            raise FileNotFoundError(
                errno.ENOENT, f"the link points to {target!r}, which does not exist", path
            ) from None
        return False  # The file was removed after it was listed.


LOCAL: Storage = LocalStorage()
