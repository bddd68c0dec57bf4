"""Local files: listing, positioned reads, and writing under a temporary name that is renamed when all is well."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import stat
from collections.abc import Sequence

from recordmill import _core
from recordmill.errors import OutputExistsError, WriteError
from recordmill.storage.base import Stat, Storage
from recordmill.storage.compression import Compression

# Written bytes after which the system is told to begin bringing them to the disk.
_WRITEBACK_BYTES = 4 << 20
# What file systems without hard links say: FAT, exFAT, some shares.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)


def natural_key(path: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key by which ``part-2`` comes before ``part-10``."""
    pieces = re.split(r"(\d+)", path)
    return tuple((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in pieces if piece)


class LocalFile:
    """A file being written under a hidden temporary name beside its final one.

    Parameters
    ----------
    path : str
        Final name.
    overwrite : bool
        Whether a file of that name may be replaced.

    Raises
    ------
    OutputExistsError
        The file is there and may not be replaced.
    WriteError
        The folder cannot be written to.
    """

    def __init__(self, path: str, *, overwrite: bool) -> None:
        if not overwrite and os.path.lexists(path):
            raise OutputExistsError(
                "the output is already there", shard=path, hint="choose another name, or overwrite=True"
            )
        self.path = path
        self._overwrite = overwrite
        self._num_bytes = self._advised = 0
        folder, name = os.path.split(path)
        self.temporary = os.path.join(folder, f".{name}.tmp-{os.urandom(6).hex()}")
        with named(path, "cannot create a file"):
            os.makedirs(folder or ".", exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            self._fd: int | None = os.open(self.temporary, flags, 0o666)

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        view = memoryview(data).cast("B")
        with named(self.path, "cannot write"):
            while view:
                written = os.write(self._open_fd(), view)
                view, self._num_bytes = view[written:], self._num_bytes + written
            self._start_writeback()

    def _start_writeback(self) -> None:
        """Let the system begin to bring bytes to the disk, so that little is left to wait for at the end."""
        fresh = self._num_bytes - self._advised
        if fresh >= _WRITEBACK_BYTES and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._open_fd(), self._advised, fresh, os.POSIX_FADV_DONTNEED)
            self._advised = self._num_bytes

    def finish(self) -> None:
        """Bring all bytes to the disk; a second call does nothing."""
        if self._fd is None:
            return
        with named(self.path, "cannot bring the file to disk"):
            os.fsync(self._open_fd())
            self._close()

    def commit(self) -> None:
        """Put the file under its final name."""
        with named(self.path, "cannot rename the file to its final name"):
            if self._overwrite:
                os.replace(self.temporary, self.path)
            else:
                _rename_to_free(self.temporary, self.path)

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        self._close()
        with contextlib.suppress(OSError):
            os.unlink(self.temporary)

    def _open_fd(self) -> int:
        if self._fd is None:
            raise ValueError(f"the file {self.path!r} is closed")
        return self._fd

    def _close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)


def _rename_to_free(old: str, new: str) -> None:
    """Rename a file to a name that nobody has."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Between the look and the renaming another file of that name would be replaced: there is no other way here.
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
        os.rename(old, new)
        return
    try:
        os.unlink(old)
    except BaseException:
        os.unlink(new)
        raise


class named(contextlib.AbstractContextManager[None]):  # noqa: N801
    """Turn an OSError of writing into a WriteError that names the file and what was tried.

    Parameters
    ----------
    path : str
    action : str
    """

    def __init__(self, path: str, action: str) -> None:
        self.path, self.action = path, action

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Translate."""
        if isinstance(error, FileExistsError) and error.filename != os.path.dirname(self.path):
            raise OutputExistsError(
                "the output is already there", shard=self.path, hint="choose another name, or overwrite=True"
            )
        if isinstance(error, OSError) and not isinstance(error, WriteError):
            hint = "free some space and run it again" if error.errno == 28 else None
            raise WriteError(f"{self.action}: {error.strerror}", shard=self.path, hint=hint) from error


class LocalStorage:
    """The file system of this machine."""

    def expand(self, pattern: str) -> list[str]:
        """Names that a path, pattern or directory stands for, in natural order; hidden files are left out."""
        if os.path.isdir(pattern):
            names = [os.path.join(pattern, name) for name in os.listdir(pattern) if not name.startswith(".")]
        elif os.path.lexists(pattern):
            return [pattern]
        else:
            names = glob.glob(pattern, recursive=True)
        return sorted((name for name in names if _is_file(name)), key=natural_key)

    def stat(self, path: str) -> Stat:
        """Size and time of change."""
        found = os.stat(path)
        return Stat(found.st_size, found.st_mtime_ns)

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return os.path.lexists(path)

    def open(self, paths: Sequence[str], compression: Compression | None, max_bytes: int) -> _core.Source:
        """One source for positioned reads of the files' uncompressed bytes, back to back."""
        sources = [_core.Source.open(path, compression=compression, max_bytes=max_bytes) for path in paths]
        return sources[0] if len(sources) == 1 else _core.Source.join(sources)

    def read(self, path: str) -> bytes:
        """Content of a small file."""
        with open(path, "rb") as file:
            return file.read()

    def create(self, path: str, *, overwrite: bool) -> LocalFile:
        """Begin a new file."""
        return LocalFile(path, overwrite=overwrite)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with named(path, "cannot remove the file"), contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _is_file(path: str) -> bool:
    """Whether a name that was listed is a file's; what cannot be looked at is not left out in silence."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        if os.path.islink(path):
            raise FileNotFoundError(2, f"the link leads to {os.readlink(path)!r}, where nothing is", path) from None
        return False  # it was removed since


LOCAL: Storage = LocalStorage()
