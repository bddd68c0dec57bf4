"""Files as elements: records, lines, pieces of one length."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import (
    DataLossError,
    InvalidArgumentError,
    OpError,
    UnknownError,
)
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Failed, Node, Run, Step, Way
from recordmill.compat.tensorflow.files.errors import system_error
from recordmill.compat.tensorflow.files.matching import is_sidecar
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.errors import FormatError, RecordmillError
from recordmill.types import RecordRef

# Records read together, at most and at least: few photographs, so that they stay in memory that is used again.
_CHUNK, _LEAST = 256, 16
# Runs of about so many bytes stay in the processor's cache while they are read, checked and moved.
_RUN_BYTES = 2 << 20
_FRAME_HEAD, _FRAME_BYTES = 12, 16
Found = TypeVar("Found")
_COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}


class Files(Node):
    """What files hold, one file after the other."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give it; a file that fails ends there, and the next one follows where errors are ignored."""
        return self._of_files(way, self.read)

    def _of_files(self, way: Way, read: Callable[[str], Iterator[Found]]) -> Iterator[Found | Failed]:
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
                continue
            path = os.fsdecode(element.value.numpy())
            if is_sidecar(path):
                continue
            try:
                yield from read(path)
            except (RecordmillError, OSError, EOFError) as error:
                yield Failed(translate_errors(error, path))

    @abstractmethod
    def read(self, path: str) -> Iterator[Element]:
        """Elements of one file."""

    def cardinality(self) -> int:
        """Not known before it is read."""
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """A byte string."""
        return TensorSpec([], dtypes.string)

    def sample(self) -> Iterator[Any]:
        """What the first files hold."""
        for path in self.input.sample():
            if not is_sidecar(os.fsdecode(path.numpy())):
                for element in self.read(os.fsdecode(path.numpy())):
                    yield element.value


class Records(Files):
    """Payloads of TFRecord files."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        if compression not in _COMPRESSIONS:
            raise InvalidArgumentError(f'Not a valid compression_type: "{compression}"')
        self._compression = _COMPRESSIONS[compression]

    def read(self, path: str) -> Iterator[Element]:
        """Payloads, each with its place; checksums are computed."""
        record, offset = 0, 0
        for payloads in self._read_runs(path, _CHUNK):
            for payload in payloads:
                yield Element(text(payload), RecordRef(path, record, offset))
                record += 1
                offset += len(payload) + _FRAME_BYTES

    def runs(self, way: Way, length: int) -> Iterator[Run]:
        """Payloads as they are read."""
        return self._of_files(way, lambda path: self._read_runs(path, length))

    def _read_runs(self, path: str, length: int) -> Iterator[rm.Ragged]:
        with rm.ShardReader(path, format="tfrecord", compression=self._compression, index="never") as reader:
            first = next(reader.batches(1, threads=0), None) if length > _LEAST else None
            if first is not None:
                length = max(_LEAST, min(length, _RUN_BYTES // max(len(first.data), 1)))
            yield from reader.batches(length)


class Lines(Files):
    """Lines of text files, without their ends."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        self._opener = opener(compression)

    def read(self, path: str) -> Iterator[Element]:
        """Lines; a carriage return before the end belongs to it."""
        with self._opener(path) as file:
            offset = 0
            for record, line in enumerate(file):
                ended = line.removesuffix(b"\n").removesuffix(b"\r")
                yield Element(text(ended), RecordRef(path, record, offset))
                offset += len(line)


class Pieces(Files):
    """Pieces of files that are all of one length."""

    def __init__(self, paths: Node, compression: str, lengths: tuple[int, int, int]) -> None:
        super().__init__(paths)
        if lengths[0] < 1:
            raise InvalidArgumentError("`record_bytes` must be > 0")
        if min(lengths) < 0:
            raise InvalidArgumentError("`header_bytes` and `footer_bytes` must be >= 0")
        self._opener, self._lengths = opener(compression), lengths

    def read(self, path: str) -> Iterator[Element]:
        """Pieces."""
        length, head, foot = self._lengths
        with self._opener(path) as file:
            size = file.seek(0, os.SEEK_END)
            body = size - head - foot
            if body < 0 or body % length:
                raise InvalidArgumentError(
                    f'Excluding the header ({head} bytes) and footer ({foot} bytes), input file "{path}" has body '
                    f"length {body} bytes, which is not an exact multiple of the record length ({length} bytes)."
                )
            file.seek(head)
            for record in range(body // length):
                offset = head + record * length
                yield Element(text(file.read(length)), RecordRef(path, record, offset))


def opener(compression: str) -> Any:
    """Function that opens a file of a compression for reading bytes."""
    if compression == "GZIP":
        import gzip

        return lambda path: gzip.open(path, "rb")
    if compression == "ZLIB":
        return _inflated
    if compression:
        raise InvalidArgumentError(f'Not a valid compression_type: "{compression}"')
    return lambda path: open(path, "rb")


def _inflated(path: str) -> Any:
    import io
    import zlib

    with open(path, "rb") as file:
        try:
            return io.BytesIO(zlib.decompress(file.read()))
        except zlib.error as error:
            raise DataLossError(f"inflate() failed: {error}", shard=path) from None


def text(value: bytes) -> Tensor:
    """Byte string as a tensor."""
    array = np.empty((), object)
    array[()] = value
    return Tensor(array)


def translate_errors(error: Exception, path: str) -> OpError:
    """Error of reading in TensorFlow's classes and words."""
    if isinstance(error, OpError):
        return error
    if isinstance(error, RecordmillError):
        parts = error.parts() | {"shard": error.shard or path}
        return DataLossError(_words(error), **parts)
    told = system_error(error, path) if isinstance(error, OSError) else UnknownError(f"{path}; {error}", shard=path)
    told.__cause__ = error
    return told


def _words(error: RecordmillError) -> str:
    """What people search for, then what we say."""
    offset = error.offset or 0
    kind = error.kind or ""
    if isinstance(error, FormatError) or kind == "wrong_format":
        return f"corrupted record at 0 (Is this even a TFRecord file?): {error.message}"
    if kind.startswith("truncated"):
        return f"truncated record at {offset}: {error.message}"
    if kind == "payload_checksum":
        return f"corrupted record at {offset + _FRAME_HEAD}: {error.message}"
    if kind.startswith(("length", "bad_length", "impossible")):
        tail = " (Is this even a TFRecord file?)" if not offset else ""
        return f"corrupted record at {offset}{tail}: {error.message}"
    return error.message
