"""Datasets of the records, lines and fixed-length pieces of files."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, OpError, UnknownError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.combine import Interleave, default_cycle_length
from recordmill.compat.tensorflow.data.dataset import Dataset, names_of
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Failed, Node, Run, Step, Way
from recordmill.compat.tensorflow.data.sources import Single
from recordmill.compat.tensorflow.data.structures import whole
from recordmill.compat.tensorflow.files.errors import data_loss, system_error
from recordmill.compat.tensorflow.files.matching import is_sidecar
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.errors import RecordmillError
from recordmill.types import RecordRef

# Records that are read at once, at least and at most; large records are read in small groups to reuse memory.
_MIN_RECORDS, _MAX_RECORDS = 16, 256
# Size of a group of records that fits into the processor's cache.
_GROUP_BYTES = 2 << 20
_FRAME_BYTES = 16
_COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}
Item = TypeVar("Item")


class Files(Node):
    """Contents of files, one file after the other."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Yield the contents; after an error the next file follows."""
        return self._read_files(way, self.read)

    def _read_files(self, way: Way, read: Callable[[str], Iterator[Item]]) -> Iterator[Item | Failed]:
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
                yield Failed(_translate(error, path))

    @abstractmethod
    def read(self, path: str) -> Iterator[Element]:
        """Yield the contents of one file."""

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        return TensorSpec([], dtypes.string)

    def sample(self) -> Iterator[Any]:
        for path in self.input.sample():
            if not is_sidecar(os.fsdecode(path.numpy())):
                for element in self.read(os.fsdecode(path.numpy())):
                    yield element.value


class Records(Files):
    """Payloads of TFRecord files."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        _check_compression(compression)
        self._compression = _COMPRESSIONS[compression]

    def read(self, path: str) -> Iterator[Element]:
        """Yield the payloads with their positions; checksums are verified."""
        record, offset = 0, 0
        for payloads in self._read_runs(path, _MAX_RECORDS):
            for payload in payloads:
                yield Element(scalar_string(payload), RecordRef(path, record, offset))
                record += 1
                offset += len(payload) + _FRAME_BYTES

    def runs(self, way: Way, length: int) -> Iterator[Run]:
        """Yield the payloads in groups, as they are read."""
        return self._read_files(way, lambda path: self._read_runs(path, length))

    def _read_runs(self, path: str, length: int) -> Iterator[rm.Ragged]:
        with rm.ShardReader(path, format="tfrecord", compression=self._compression, index="never") as reader:
            first = next(reader.batches(1, threads=0), None) if length > _MIN_RECORDS else None
            if first is not None:
                length = max(_MIN_RECORDS, min(length, _GROUP_BYTES // max(len(first.data), 1)))
            yield from reader.batches(length)


class Lines(Files):
    """Lines of text files, without line ends."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        self._open = choose_opener(compression)

    def read(self, path: str) -> Iterator[Element]:
        with self._open(path) as file:
            offset = 0
            for record, line in enumerate(file):
                yield Element(scalar_string(strip_line_end(line)), RecordRef(path, record, offset))
                offset += len(line)


class Pieces(Files):
    """Pieces of files, all of one length."""

    def __init__(self, paths: Node, compression: str, lengths: tuple[int, int, int]) -> None:
        super().__init__(paths)
        if lengths[0] < 1:
            raise InvalidArgumentError(f"record_bytes must be positive, got {lengths[0]}")
        if min(lengths) < 0:
            raise InvalidArgumentError("header_bytes and footer_bytes must not be negative")
        self._open, self._lengths = choose_opener(compression), lengths

    def read(self, path: str) -> Iterator[Element]:
        length, header, footer = self._lengths
        with self._open(path) as file:
            body = file.seek(0, os.SEEK_END) - header - footer
            if body < 0 or body % length:
                raise InvalidArgumentError(
                    f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{path}" has body '
                    f"length {body} bytes, which is not an exact multiple of the record length ({length} bytes)."
                )
            file.seek(header)
            for record in range(body // length):
                yield Element(scalar_string(file.read(length)), RecordRef(path, record, header + record * length))


def _check_compression(compression: str) -> None:
    if compression not in _COMPRESSIONS:
        raise InvalidArgumentError(f'Not a valid compression_type: "{compression}"')


def choose_opener(compression: str) -> Callable[[str], Any]:
    """Return a function that opens a file of a compression for reading bytes."""
    import gzip

    _check_compression(compression)
    if compression == "GZIP":
        return lambda path: gzip.open(path, "rb")
    return _open_zlib if compression else lambda path: open(path, "rb")


def _open_zlib(path: str) -> Any:
    import io
    import zlib

    with open(path, "rb") as file:
        try:
            return io.BytesIO(zlib.decompress(file.read()))
        except zlib.error as error:
            raise DataLossError(f"inflate() failed: {error}", shard=path) from None


def scalar_string(value: bytes) -> Tensor:
    """Return a byte string as a tensor."""
    array = np.empty((), object)
    array[()] = value
    return Tensor(array)


def strip_line_end(line: bytes) -> bytes:
    """Remove the line feed, and a carriage return before it."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _translate(error: RecordmillError | OSError | EOFError, path: str) -> OpError:
    """Return TensorFlow's error for an error of reading a file."""
    if isinstance(error, OpError):
        return error
    if isinstance(error, RecordmillError):
        translated = data_loss(error)
        translated.shard = translated.shard or path
    elif isinstance(error, OSError):
        translated = system_error(error, path)
    else:
        translated = UnknownError(f"{path}; {error}", shard=path)
    translated.__cause__ = error
    return translated


class _FileDataset(Dataset):
    _node_class: type[Records | Lines]

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, name
        self._open_files(filenames, compression_type, num_parallel_reads)

    def _open_files(self, filenames: Any, compression_type: Any, num_parallel_reads: Any) -> None:
        names, compression = names_of(filenames), parse_compression(compression_type)
        if num_parallel_reads is None:
            super().__init__(self._make_node(names, compression))
            return
        reads = whole(num_parallel_reads, "num_parallel_reads")
        if reads < 1 and reads != -1:
            raise InvalidArgumentError(f"num_parallel_reads must be positive or AUTOTUNE, got {reads}")

        def open_file(name: Any) -> Dataset:
            return Dataset(self._make_node(Single(name), compression))

        super().__init__(InterleavedFiles(names, open_file, default_cycle_length(-1) if reads == -1 else reads, 1))

    def _make_node(self, names: Any, compression: str) -> Files:
        return self._node_class(names, compression)


class InterleavedFiles(Interleave):
    """Contents of several files in turn."""

    runs_python = False


def parse_compression(compression_type: Any) -> str:
    """Return a compression type, which may be a tensor, as text."""
    return "" if compression_type is None else bytes(array_of(compression_type).ravel()[0]).decode()


class TFRecordDataset(_FileDataset):
    """Payloads of TFRecord files; checksums are verified."""

    _node_class = Records


class TextLineDataset(_FileDataset):
    """Lines of text files, without line ends."""

    _node_class = Lines


class FixedLengthRecordDataset(_FileDataset):
    """Pieces of files, all of one length."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: Any = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, name
        self._lengths = whole(record_bytes, "record_bytes"), header_bytes or 0, footer_bytes or 0
        self._open_files(filenames, compression_type, num_parallel_reads)

    def _make_node(self, names: Any, compression: str) -> Files:
        return Pieces(names, compression, self._lengths)
