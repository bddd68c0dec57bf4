"""``mx.recordio``: read and write RecordIO files record by record, with or without an index file of keys."""

from __future__ import annotations

import errno
import os
import secrets
import struct
import weakref
from pathlib import Path
from typing import Any

import recordmill as rm
from recordmill.compat.mxnet.base import MisuseError, MXNetError, as_mxnet_error, translated
from recordmill.compat.mxnet.headers import (
    HEADER,
    IR_FORMAT as _IR_FORMAT,
    IR_SIZE as _IR_SIZE,
    IRHeader,
    pack,
    pack_img,
    unpack,
    unpack_img,
)

# `struct` and the names with an underscore are here because programs parse headers with them.
__all__ = [
    "HEADER",
    "_IR_FORMAT",
    "_IR_SIZE",
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "struct",
    "unpack",
    "unpack_img",
]


class _Output:
    """A file being written and the keys of its records; it replaces the target when it is closed."""

    def __init__(self, path: str, idx_path: str | None) -> None:
        self.process = os.getpid()
        self.writer = rm.PayloadWriter(path, format="recordio", index="never")
        self.idx_path = idx_path
        self.keys: list[Any] = []
        self.positions: list[int] = []

    def close(self) -> None:
        """Replace the target; do nothing in a forked process."""
        if self.process != os.getpid():
            return
        self.writer.close()
        if self.idx_path is not None:
            _replace(self.idx_path, "".join(f"{key}\t{offset}\n" for key, offset in self.offsets()))

    def offsets(self) -> list[tuple[Any, int]]:
        """Return each key and the offset of its record."""
        offsets = self.writer.offsets.tolist()
        return [(key, offsets[position]) for key, position in zip(self.keys, self.positions, strict=True)]


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.tmp-{secrets.token_hex(6)}"
    try:
        Path(temporary).write_text(text, "utf-8", "surrogateescape")
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _check_folder(path: str) -> None:
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "No such folder", folder)


class MXRecordIO:
    """Reads or writes a RecordIO file sequentially.

    A written file replaces an existing one when it is closed. `read` returns None at the end, and ``b""`` for an empty
    record. A reader can be used after a fork, where it continues, and pickled; the copy starts at the first record.
    """

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.uri, self.flag = os.fspath(uri), flag
        self.is_open = False
        self._output: _Output | None = None
        self._reader: rm.PayloadReader | None = None
        self.open()

    def open(self) -> None:
        """Open the file; a writer starts a new one."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}")
        self.close()
        self.writable = self.flag == "w"
        with translated():
            if self.writable:
                _check_folder(self.uri)
                self._output = _Output(self.uri, self._index_file())
                self._finish = weakref.finalize(self, self._output.close)
            else:
                self._reader = rm.PayloadReader(self.uri, format="recordio", compression=None)
        self.pid, self.is_open = os.getpid(), True

    def _index_file(self) -> str | None:
        return None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if not self.is_open:
            return
        self.is_open = False
        if self._reader is not None:
            self._reader.close()
        if self._output is not None:
            with translated():
                self._finish()
        self._reader = self._output = None

    def reset(self) -> None:
        """Go back to the first record; a writer discards what it has written."""
        if self.is_open and self._output is not None:
            self._output.writer.discard()
            self._finish.detach()
            self.is_open = False
        self.close()
        self.open()

    def write(self, buf: Any) -> None:
        """Add a record."""
        output = self._require_output()
        if not isinstance(buf, bytes | bytearray | memoryview):
            raise TypeError(f"a record must be bytes, got {type(buf).__name__}; encode text first")
        try:
            output.writer.write(buf)
        except rm.FramingError as error:
            if len(buf) < 1 << 29:
                raise as_mxnet_error(error) from error
            wording = "Check failed: size < (1 << 29U): RecordIO only accept record less than 2^29 bytes"
            error.message = wording
            raise as_mxnet_error(error, found=f"{len(buf)} bytes") from error

    def read(self) -> bytes | None:
        """Return the next record; None at the end."""
        reader = self._require_reader()
        with translated():
            return reader.read()

    def _require_output(self) -> _Output:
        if self._output is None:
            raise MisuseError(f"{self.uri} is not open for writing")
        if self._output.process != os.getpid():
            raise RuntimeError("Forbidden operation in multiple processes")
        return self._output

    def _require_reader(self) -> rm.PayloadReader:
        if self._reader is None:
            raise MisuseError(f"{self.uri} is not open for reading")
        return self._reader

    def __getstate__(self) -> dict[str, Any]:
        if self._output is not None:
            raise TypeError(f"the writer of {self.uri} cannot be pickled")
        return self.__dict__ | {"_reader": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()


class MXIndexedRecordIO(MXRecordIO):
    """Reads or writes a RecordIO file whose records have keys, listed in an index file with their offsets."""

    def __init__(
        self, idx_path: str | os.PathLike[str], uri: str | os.PathLike[str], flag: str, key_type: Any = int
    ) -> None:
        self.idx_path, self.key_type = os.fspath(idx_path), key_type
        self.keys: list[Any] = []
        self._offsets: dict[Any, int] | None = {}
        super().__init__(uri, flag)

    def _index_file(self) -> str:
        return self.idx_path

    def open(self) -> None:
        """Open both files."""
        super().open()
        self.keys, self._offsets = [], {}
        if self.writable:
            return
        with translated():
            lines = Path(self.idx_path).read_text("utf-8", "surrogateescape").split("\n")
        for line in lines[:-1] if lines[-1] == "" else lines:
            fields = line.strip().split("\t")
            key = self.key_type(fields[0])
            self._offsets[key] = int(fields[1])
            self.keys.append(key)

    @property
    def idx(self) -> dict[Any, int]:
        """Offset of each key; the last one of a key that occurs twice."""
        if self._offsets is None and self._output is not None:
            self._offsets = dict(self._output.offsets())
        return self._offsets or {}

    def seek(self, idx: Any) -> None:
        """Read the record with a key next."""
        reader, offset = self._require_reader(), self.idx[idx]
        if offset < 0:
            message = "an offset of the index file must not be negative"
            raise MXNetError(message, kind="bad_index", shard=self.idx_path, found=f"{offset} for key {idx!r}")
        reader.seek(offset)

    def tell(self) -> int:
        """Return the offset of the next record."""
        with translated():
            return self._require_output().writer.tell()

    def read_idx(self, idx: Any) -> bytes | None:
        """Return the record with a key."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx: Any, buf: Any) -> None:
        """Add a record under a key."""
        key, output = self.key_type(idx), self._require_output()
        position = output.writer.num_records
        self.write(buf)
        output.keys.append(key)
        output.positions.append(position)
        self.keys.append(key)
        self._offsets = None
