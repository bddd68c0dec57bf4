"""``tf.io.gfile``: files and folders. Sidecar files are hidden; removing or renaming a shard deletes them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

from recordmill.compat.tensorflow.core.absent import make_absent_getattr
from recordmill.compat.tensorflow.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
)
from recordmill.compat.tensorflow.files.errors import to_path_str, translate_errors
from recordmill.compat.tensorflow.files.matching import list_entries, match_pattern, sidecar_paths

__getattr__ = make_absent_getattr(__name__, "io.gfile")
_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """``tf.io.gfile.GFile``: a file that is opened on first use."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name, self.mode = to_path_str(name), mode
        self._text_mode, self._is_binary = mode.replace("b", "", 1), "b" in mode
        if self._text_mode not in _MODES:
            raise InvalidArgumentError(f"mode must be one of {', '.join(_MODES)}, got {mode!r}")
        self._file: IO[bytes] | None = None

    def _open(self) -> IO[bytes]:
        if self._file is None:
            with translate_errors(self.name):
                self._file = open(self.name, f"{self._text_mode[0]}b{self._text_mode[1:]}")  # noqa: SIM115 (`close` closes it)
        return self._file

    def _open_for_reading(self) -> IO[bytes]:
        if self._text_mode not in ("r", "r+", "w+", "a+"):
            raise PermissionDeniedError("File isn't open for reading", shard=self.name)
        return self._open()

    def _decode_text(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode("utf-8")

    def read(self, n: int = -1) -> Any:
        """Read `n` bytes, or all by default; return str unless the mode is binary."""
        return self._decode_text(self._open_for_reading().read(n))

    def readline(self) -> Any:
        """Read a line, including its line end; return an empty string at the end of the file."""
        return self._decode_text(self._open_for_reading().readline())

    def readlines(self) -> list[Any]:
        """Read the remaining lines."""
        return [self._decode_text(line) for line in self._open_for_reading()]

    def write(self, file_content: Any) -> None:
        """Write str or bytes."""
        if self._text_mode == "r":
            raise PermissionDeniedError("File isn't open for writing", shard=self.name)
        file = self._open()
        if not isinstance(file_content, str | bytes | bytearray):
            raise TypeError(f"file_content must be str or bytes, got {file_content!r}")
        data = file_content.encode() if isinstance(file_content, str) else file_content
        with translate_errors(self.name):
            file.write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Set the position, relative to the start (`whence` 0), the current position (1) or the end (2) of the file."""
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"whence must be 0, 1 or 2, got {whence}")
        distance = position if offset is None else offset
        if distance is None:
            raise TypeError("seek(): offset argument required")
        file = self._open_for_reading()
        size = self.size()
        target = distance + (0, file.tell(), size)[whence]
        if target < 0:
            raise InvalidArgumentError(f"position must be >= 0, got {target}", shard=self.name)
        if target > size:
            raise OutOfRangeError("reached end of file", shard=self.name)
        file.seek(target)

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position in the file, in bytes."""
        return self._open().tell()

    def size(self) -> int:
        """Return the size of the file in bytes."""
        self.flush()
        return stat(self.name).length

    def flush(self) -> None:
        """Pass buffered data to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with translate_errors(self.name):
                self._file.close()
            self._file = None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the lines."""
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        """Close the file on garbage collection, as in TensorFlow."""
        if getattr(self, "_file", None) is not None:
            self.close()


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """Result of ``tf.io.gfile.stat``: size in bytes, modification time in ns, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """``tf.io.gfile.exists``: return whether a file or folder exists."""
    return os.path.exists(to_path_str(path))


def isdir(path: Any) -> bool:
    """``tf.io.gfile.isdir``: return whether a path is a folder."""
    return os.path.isdir(to_path_str(path))


def listdir(path: Any) -> list[str]:
    """``tf.io.gfile.listdir``: return the sorted names in a folder, without sidecar files of shards."""
    name = to_path_str(path)
    if not os.path.isdir(name):
        raise NotFoundError(f"Could not find directory {name}", shard=name)
    with translate_errors(name):
        return list_entries(name)


def glob(pattern: Any) -> list[str]:
    """``tf.io.gfile.glob``: return the sorted matches of a pattern; for a list, concatenate the matches."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    return [path for one in patterns for path in match_pattern(to_path_str(one))]


def mkdir(path: Any) -> None:
    """``tf.io.gfile.mkdir``: create a folder unless it exists."""
    name = to_path_str(path)
    if not os.path.isdir(name):
        with translate_errors(name):
            os.mkdir(name)


def makedirs(path: Any) -> None:
    """``tf.io.gfile.makedirs``: create a folder and its parents unless they exist."""
    name = to_path_str(path)
    with translate_errors(name):
        os.makedirs(name, exist_ok=True)


def remove(path: Any) -> None:
    """``tf.io.gfile.remove``: remove a file and its sidecar files."""
    name = to_path_str(path)
    if os.path.isdir(name):
        raise FailedPreconditionError(f"{name}; Is a directory", shard=name)
    with translate_errors(name):
        os.remove(name)
    _remove_sidecars(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """``tf.io.gfile.rename``: rename a file or folder; an existing target is an error unless `overwrite` is True."""
    source, target = to_path_str(src), to_path_str(dst)
    _check_overwrite(target, overwrite)
    with translate_errors(source):
        os.replace(source, target)
    _remove_sidecars(source)
    _remove_sidecars(target)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """``tf.io.gfile.copy``: copy a file; an existing target is an error unless `overwrite` is True."""
    source, target = to_path_str(src), to_path_str(dst)
    _check_overwrite(target, overwrite)
    if os.path.isdir(source):
        raise InvalidArgumentError(f"{target}; Invalid argument", shard=source)
    with translate_errors(source if not os.path.exists(source) else target):
        shutil.copyfile(source, target)
    _remove_sidecars(target)


def rmtree(path: Any) -> None:
    """``tf.io.gfile.rmtree``: remove a file, or a folder with its content."""
    name = to_path_str(path)
    if not os.path.lexists(name):
        raise NotFoundError(f"{name} not found", shard=name)
    if not os.path.isdir(name) or os.path.islink(name):
        remove(name)
        return
    with translate_errors(name):
        shutil.rmtree(name)


def stat(path: Any) -> FileStatistics:
    """``tf.io.gfile.stat``: return size, modification time, and whether the path is a folder."""
    name = to_path_str(path)
    with translate_errors(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(name))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """``tf.io.gfile.walk``: yield a folder and all folders below it, each with the names of its folders and files."""
    name = to_path_str(top)
    try:
        found = listdir(name)
    except (NotFoundError, OSError) as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [entry for entry in found if os.path.isdir(os.path.join(name, entry))]
    files = [entry for entry in found if entry not in {*folders}]
    if topdown:
        yield name, folders, files
    for folder in folders:
        yield from walk(os.path.join(name, folder), topdown, onerror)
    if not topdown:
        yield name, folders, files


def join(path: Any, *paths: Any) -> str:
    """``tf.io.gfile.join``: join the parts of a path."""
    return os.path.join(to_path_str(path), *map(to_path_str, paths))


def _check_overwrite(path: str, overwrite: bool) -> None:
    if os.path.exists(path) and not overwrite:
        raise AlreadyExistsError("file already exists", shard=path)


def _remove_sidecars(path: str) -> None:
    for name in sidecar_paths(path):
        if os.path.exists(name):
            os.remove(name)
