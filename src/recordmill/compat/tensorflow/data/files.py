"""``tf.data.TFRecordDataset`` and ``TextLineDataset``: records and lines of files."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import wrap_scalar_in_array
from recordmill.compat.tensorflow.core.dispatch import call_operation
from recordmill.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, OpError, UnknownError
from recordmill.compat.tensorflow.core.rows import StringVector, to_bytes_array
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.collate import StringElement
from recordmill.compat.tensorflow.data.combine import Interleave, calls_python, default_cycle_length
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.elements import (
    UNKNOWN_CARDINALITY,
    Element,
    ExecutionOptions,
    FailedElement,
    Node,
    Step,
)
from recordmill.compat.tensorflow.data.factories import create_source
from recordmill.compat.tensorflow.data.sources import SingleElement, TensorSlices
from recordmill.compat.tensorflow.data.structures import to_int
from recordmill.compat.tensorflow.data.symbolic import find_symbolic
from recordmill.compat.tensorflow.files.errors import to_data_loss_error, translate_os_error
from recordmill.compat.tensorflow.files.matching import is_sidecar
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.errors import RecordmillError
from recordmill.types import RecordRef

# Minimum and maximum number of records per read. Reads of whole batches have a larger maximum.
_MIN_RECORDS, _MAX_RECORDS, _MAX_BATCH_RECORDS = 16, 256, 4096
# Approximate limit on the bytes of a group of records, so that the group fits into the processor's cache.
_GROUP_BYTES = 2 << 20
# Average record size in bytes above which a group of records is split into bytes objects.
# For smaller records, a copy of the whole group costs less.
_LONG_BYTES = 32 << 10
_FRAME_BYTES = 16
_COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}
Item = TypeVar("Item")


class FileContents(Node):
    """Base class of nodes that yield the contents of files, one file after another."""

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the contents of all files; after an error, continue with the next file."""
        return self._read_files(execution, self.read)

    def _read_files(
        self, execution: ExecutionOptions, read: Callable[[str], Iterator[Item]]
    ) -> Iterator[Item | FailedElement]:
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement):
                yield element
                continue
            path = os.fsdecode(element.value.numpy())
            if is_sidecar(path):
                continue
            try:
                yield from read(path)
            except (RecordmillError, OSError, EOFError) as error:
                yield FailedElement(_to_tensorflow_error(error, path))

    @abstractmethod
    def read(self, path: str) -> Iterator[Element]:
        """Yield the contents of one file."""

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        return TensorSpec([], dtypes.string)

    def iterate_sample_values(self) -> Iterator[Any]:
        for path in self.input.iterate_sample_values():
            if not is_sidecar(os.fsdecode(path.numpy())):
                for element in self.read(os.fsdecode(path.numpy())):
                    yield element.value


class RecordPayloads(FileContents):
    """Payloads of TFRecord files."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        self._compression = _COMPRESSIONS[compression]

    def read(self, path: str) -> Iterator[Element]:
        """Yield the payloads with their locations; checksums are verified."""
        record, offset = 0, 0
        for payloads in self._read_record_groups(path, _MAX_RECORDS):
            locate = partial(_locate_record, path, record, offset, payloads.row_splits)
            yield from map(StringElement, payloads, repeat(locate), count())
            record += len(payloads)
            offset += len(payloads.data) + len(payloads) * _FRAME_BYTES

    def iterate_batches(self, execution: ExecutionOptions, size: int, drop_remainder: bool) -> Iterator[Step]:
        """Yield batches, which are slices of groups of records; an error counts as one record."""
        length = min(size * -(-_MIN_RECORDS // size), _MAX_BATCH_RECORDS)
        groups = self._read_files(execution, lambda path: self._read_record_groups(path, length))
        return _cut_batches(groups, size, drop_remainder)

    def _read_record_groups(self, path: str, length: int) -> Iterator[rm.Ragged]:
        with rm.ShardReader(path, format="tfrecord", compression=self._compression, index="never") as reader:
            first = next(reader.batches(1, threads=0), None) if length > _MIN_RECORDS else None
            if first is not None:
                length = max(_MIN_RECORDS, min(length, _GROUP_BYTES // max(len(first.data), 1)))
            yield from reader.batches(length)


def _locate_record(path: str, first: int, offset: int, splits: NDArray[np.int64], row: int) -> RecordRef:
    """Return the location of row `row` of a group. The group starts at record `first` and byte `offset` of the file."""
    return RecordRef(path, first + row, offset + int(splits[row]) + row * _FRAME_BYTES)


def _cut_batches(groups: Iterator[rm.Ragged | FailedElement], size: int, drop_remainder: bool) -> Iterator[Step]:
    parts: list[rm.Ragged | NDArray[Any] | FailedElement] = []
    num_records = 0
    for group in groups:
        start, length = 0, 1 if isinstance(group, FailedElement) else len(group)
        while start < length:
            stop = min(start + size - num_records, length)
            parts.append(group if isinstance(group, FailedElement) else _slice_record_group(group, start, stop))
            num_records += stop - start
            start = stop
            if num_records == size:
                yield _join_group_slices(parts)
                parts, num_records = [], 0
    if parts and (not drop_remainder or any(isinstance(part, FailedElement) for part in parts)):
        yield _join_group_slices(parts)


def _slice_record_group(group: rm.Ragged, start: int, stop: int) -> rm.Ragged | NDArray[Any]:
    part = group if stop - start == len(group) else group[start:stop]
    return to_bytes_array(part) if len(part.data) > _LONG_BYTES * len(part) else part


def _join_group_slices(parts: list[rm.Ragged | NDArray[Any] | FailedElement]) -> Step:
    """Join slices of groups of records into a batch; if a `FailedElement` is among them, return the first one."""
    failed = next((part for part in parts if isinstance(part, FailedElement)), None)
    if failed is not None:
        return failed
    groups = [part for part in parts if isinstance(part, rm.Ragged)]
    if len(groups) < len(parts):
        strings = [to_bytes_array(part) if isinstance(part, rm.Ragged) else part for part in parts]
        return Element(Tensor(np.concatenate(strings)))  # type: ignore[arg-type]
    if len(groups) == 1:
        return Element(StringVector(groups[0]))
    starts = np.cumsum([0, *(len(group.data) for group in groups)])
    splits = [group.row_splits[:-1] + start for group, start in zip(groups, starts, strict=False)]
    data = np.concatenate([group.data for group in groups])
    return Element(StringVector(rm.Ragged(data, np.concatenate([*splits, starts[-1:]]))))


def _open_file(path: str) -> Any:
    return open(path, "rb")


def _open_zlib(path: str) -> Any:
    with open(path, "rb") as file:
        try:
            return io.BytesIO(zlib.decompress(file.read()))
        except zlib.error as error:
            raise DataLossError(f"inflate() failed: {error}", shard=path) from None


_OPENERS: dict[str, Callable[[str], Any]] = {"": _open_file, "GZIP": gzip.open, "ZLIB": _open_zlib}


class TextLines(FileContents):
    """Lines of text files, without line ends."""

    def __init__(self, paths: Node, compression: str) -> None:
        super().__init__(paths)
        self._open: Callable[[str], Any] = _OPENERS[compression]

    def read(self, path: str) -> Iterator[Element]:
        with self._open(path) as file:
            offset = 0
            for record, line in enumerate(file):
                yield Element(to_scalar_string_tensor(strip_line_end(line)), RecordRef(path, record, offset))
                offset += len(line)


def to_scalar_string_tensor(value: bytes) -> Tensor:
    """Convert bytes to a scalar string tensor."""
    return Tensor(wrap_scalar_in_array(value, np.dtype(object)))


def strip_line_end(line: bytes) -> bytes:
    """Remove the line feed, and a carriage return before it."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _to_tensorflow_error(error: RecordmillError | OSError | EOFError, path: str) -> OpError:
    """Convert an error that occurred while reading a file to TensorFlow's error class."""
    if isinstance(error, OpError):
        return error
    if isinstance(error, RecordmillError):
        translated = to_data_loss_error(error)
        translated.shard = translated.shard or path
    elif isinstance(error, OSError):
        translated = translate_os_error(error, path)
    else:
        translated = UnknownError(f"{path}; {error}", shard=path)
    translated.__cause__ = error
    return translated


def to_file_names_node(filenames: Any) -> Node:
    """Convert file names (a str, a list, a tensor or a dataset) to a node."""
    if isinstance(filenames, DatasetBase):
        _check_file_names(filenames.node)
        return filenames.node
    if any(one.of_graph for one in find_symbolic(filenames)):
        return create_source(call_operation("array.reshape", filenames, [-1]), TensorSlices)
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, list | tuple):
        filenames = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in filenames]
    names = array_of(filenames) if not (isinstance(filenames, list | tuple) and not filenames) else array_of([""])[:0]
    if names.dtype != object:
        found = dtypes.as_dtype(names.dtype)
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{found!r}` elements.")
    return TensorSlices(names.reshape(-1))


def _check_file_names(node: Any) -> None:
    """Raise TypeError unless a dataset's elements are scalar strings; datasets with user functions are not checked."""
    if calls_python(node):
        return
    spec = node.spec()
    if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string or spec.shape.rank:
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements of shape []. Got elements of {spec!r}."
        )


class _FileDataset(Dataset):
    _node_class: type[RecordPayloads | TextLines]

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, name
        names, compression = to_file_names_node(filenames), parse_compression(compression_type)
        if num_parallel_reads is None:
            super().__init__(self._node_class(names, compression))
            return
        reads = to_int(num_parallel_reads, "num_parallel_reads")
        if reads < 1 and reads != -1:
            raise InvalidArgumentError(f"num_parallel_reads must be positive or AUTOTUNE, got {reads}")

        def open_file(name: Any) -> Dataset:
            return Dataset(self._node_class(SingleElement(name), compression))

        super().__init__(InterleavedFiles(names, open_file, default_cycle_length(-1) if reads == -1 else reads, 1))


class InterleavedFiles(Interleave):
    """Contents of several files, interleaved."""

    runs_python = False


def parse_compression(compression_type: Any) -> str:
    """Check a compression type, which may be a tensor, and return it as a str."""
    compression = "" if compression_type is None else bytes(array_of(compression_type).ravel()[0]).decode()
    if compression not in _COMPRESSIONS:
        raise InvalidArgumentError(f'Not a valid compression_type: "{compression}"')
    return compression


class TFRecordDataset(_FileDataset):
    """``tf.data.TFRecordDataset``: payloads of TFRecord files; checksums are verified."""

    _node_class = RecordPayloads


class TextLineDataset(_FileDataset):
    """``tf.data.TextLineDataset``: lines of text files, without line ends."""

    _node_class = TextLines
