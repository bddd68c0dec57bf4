"""``tf.io.gfile.GFile``: one file, read or written."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any, Self

from recordmill.compat.tensorflow.core.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    PermissionDeniedError,
)
from recordmill.compat.tensorflow.files.faults import path_of, translated

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file; it is opened when it is first read or written."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name, self._mode = path_of(name), mode
        plain = mode.replace("b", "", 1)
        if plain not in _MODES:
            raise InvalidArgumentError("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._direction, self._is_binary = plain, "b" in mode
        self._file: IO[bytes] | None = None

    @property
    def name(self) -> str:
        """Path."""
        return self._name

    @property
    def mode(self) -> str:
        """Mode that was given."""
        return self._mode

    def _reading(self) -> IO[bytes]:
        if self._direction not in ("r", "r+", "w+", "a+"):
            raise PermissionDeniedError("File isn't open for reading", shard=self._name)
        return self._opened()

    def _writing(self) -> IO[bytes]:
        if self._direction == "r":
            raise PermissionDeniedError("File isn't open for writing", shard=self._name)
        return self._opened()

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            with translated(self._name):
                self._file = open(self._name, f"{self._direction[0]}b{self._direction[1:]}")  # noqa: SIM115 (`close` does it)
        return self._file

    def _given(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode("utf-8")

    def read(self, n: int = -1) -> Any:
        """Take the next bytes, all by default; text unless the mode is binary."""
        return self._given(self._reading().read(n))

    def readline(self) -> Any:
        """Take the next line with its end; empty at the end of the file."""
        return self._given(self._reading().readline())

    def readlines(self) -> list[Any]:
        """Take the lines that are left."""
        return [self._given(line) for line in self._reading()]

    def write(self, file_content: Any) -> None:
        """Add text or bytes."""
        file = self._writing()
        if not isinstance(file_content, str | bytes | bytearray):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        data = file_content.encode() if isinstance(file_content, str) else file_content
        with translated(self._name):
            file.write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place: from the start, from here (`whence` 1), or from the end (2)."""
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        distance = position if offset is None else offset
        if distance is None:
            raise TypeError("seek(): offset argument required")
        file = self._reading()
        self.flush()
        size = self.size()
        target = distance + (0, file.tell(), size)[whence]
        if target < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {target}", shard=self._name)
        if target > size:
            raise OutOfRangeError("reached end of file", shard=self._name)
        file.seek(target)

    def seekable(self) -> bool:
        """Whether `seek` works."""
        return True

    def tell(self) -> int:
        """Place of the next byte."""
        return self._opened().tell()

    def size(self) -> int:
        """Bytes of the file."""
        from recordmill.compat.tensorflow.files.gfile import stat

        self.flush()
        return stat(self._name).length

    def flush(self) -> None:
        """Hand what was written to the system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with translated(self._name):
                self._file.close()
            self._file = None

    def __iter__(self) -> Iterator[Any]:
        """Lines."""
        return self

    def __next__(self) -> Any:
        """Take the next line."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> Self:
        """Return the file itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __del__(self) -> None:
        """Close, as TensorFlow's files do when they are forgotten."""
        if getattr(self, "_file", None) is not None:
            self.close()
