"""``OFRecordReader``: read batches of records from the part files of a dataset, in the same order as OneFlow."""

from __future__ import annotations

import errno
import os
import secrets
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

import recordmill as rm
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.records import Location, RecordBatch, copy_with_location
from recordmill.compat.oneflow.shuffle import SlotGenerator, shuffle_parts
from recordmill.compat.oneflow.unsupported import check_device
from recordmill.concurrency.prefetch import Prefetcher
from recordmill.errors import FormatError, RecordmillError
from recordmill.types import Ragged

_HEADER_BYTES = 8
_SHUFFLED_AT_ONCE = 64
# Datasets of at least this many bytes are read by a thread. Reading fewer bytes is faster than starting a thread.
_LARGE_BYTES = 1 << 20


def get_rank() -> int:
    """``flow.env.get_rank``: return the rank of this process, from the environment variable RANK."""
    return int(os.environ.get("RANK", "0"))


def get_world_size() -> int:
    """``flow.env.get_world_size``: return the number of processes, from the environment variable WORLD_SIZE."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def assign_parts(num_parts: int, rank: int, world_size: int) -> range:
    """Return the part numbers of process `rank`.

    If the parts cannot be divided evenly, each of the first processes gets one more part.
    """
    if not 0 <= rank < world_size:
        raise ValueError(f"RANK must be at least 0 and less than WORLD_SIZE ({world_size}), got {rank}")
    if world_size > num_parts:
        raise ValueError(f"data_part_num must be at least the number of processes ({world_size}), got {num_parts}")
    quotient, remainder = divmod(num_parts, world_size)
    start = rank * quotient + min(rank, remainder)
    return range(start, start + quotient + (rank < remainder))


class _RecordLocator:
    """Computes the part, position and offset of each record of one epoch from the sizes of the records."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts
        self._starts = np.cumsum([0, *(os.stat(part).st_size for part in parts)])
        self._offset, self._part, self._record = 0, -1, 0

    def locate(self, payloads: Ragged) -> list[Location]:
        """Return the locations of the given records. Call this method for all records of the epoch in reading order."""
        sizes = np.diff(payloads.row_splits) + _HEADER_BYTES
        offsets = self._offset + np.concatenate(([0], np.cumsum(sizes)))
        self._offset = int(offsets[-1])
        return [self._move_to_offset(int(offset)) for offset in offsets[:-1]]

    def _move_to_offset(self, offset: int) -> Location:
        part = int(np.searchsorted(self._starts, offset, side="right")) - 1
        self._record = self._record + 1 if part == self._part else 0
        self._part = part
        return Location(self._parts[part], self._record, offset - int(self._starts[part]))

    def locate_error(self, error: RecordmillError) -> RecordmillError:
        """Return a copy of the error that names the part file and the record in which the error occurred."""
        if error.offset is None:
            return error
        part = min(int(np.searchsorted(self._starts, error.offset, side="right")), len(self._parts)) - 1
        record = self._record + 1 if part == self._part else 0
        return copy_with_location(error, Location(self._parts[part], record, error.offset - int(self._starts[part])))


def _read_epoch(parts: list[str], num_records: int) -> Iterator[RecordBatch]:
    """Yield the records of one epoch; read the parts as one stream, because a record may span two parts."""
    locator = _RecordLocator(parts)
    with rm.ShardReader(parts, format="ofrecord", compression=None) as reader:
        batches = reader.batches(num_records)
        while True:
            try:
                payloads = next(batches, None)
            except RecordmillError as error:
                raise locator.locate_error(error) from None
            if payloads is None:
                return
            yield RecordBatch(payloads, locator.locate(payloads))


def _read_epochs(order: Callable[[int], list[str]], num_records: int) -> Iterator[RecordBatch]:
    """Yield the records of all epochs, without end; ``order(epoch)`` returns the parts in reading order."""
    epoch = 0
    while True:
        parts, is_empty = order(epoch), True
        for chunk in _read_epoch(parts, num_records):
            is_empty = False
            yield chunk
        if is_empty:
            raise FormatError("the parts contain no records", kind="wrong_format", shard=parts[0], found="0 bytes")
        epoch += 1


def _shuffle_records(
    chunks: Iterator[RecordBatch], slots: SlotGenerator, buffer_size: int, num_records: int
) -> Iterator[RecordBatch]:
    """Put each new record into a random slot of a buffer, and yield the replaced records in batches."""
    buffer: list[tuple[bytes, Location]] = []
    replaced: list[tuple[bytes, Location]] = []
    for chunk in chunks:
        for entry in zip(chunk.payloads, chunk.locations, strict=True):
            if len(buffer) < buffer_size:
                buffer.append(entry)
                continue
            slot = slots.next_slot()
            replaced.append(buffer[slot])
            buffer[slot] = entry
            if len(replaced) == num_records:
                payloads, locations = zip(*replaced, strict=True)
                yield RecordBatch(Ragged.from_rows(list(payloads)), locations)
                replaced = []


def _concatenate_batches(chunks: list[RecordBatch]) -> RecordBatch:
    if len(chunks) == 1:
        return chunks[0]
    lengths = np.concatenate([np.diff(chunk.payloads.row_splits) for chunk in chunks])
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    data = np.concatenate([chunk.payloads.data for chunk in chunks])
    return RecordBatch(Ragged(data, splits), [location for chunk in chunks for location in chunk.locations])


class OFRecordReader(Module):
    """``flow.nn.OFRecordReader``: read batches endlessly; for large datasets, a thread reads one batch ahead.

    The parts of a folder are read as one stream of bytes. Records come in exactly the same order as in OneFlow.
    """

    def __init__(
        self,
        ofrecord_dir: str,
        batch_size: int = 1,
        data_part_num: int = 1,
        part_name_prefix: str = "part-",
        part_name_suffix_length: int = -1,
        random_shuffle: bool = False,
        shuffle_buffer_size: int = 1024,
        shuffle_after_epoch: bool = False,
        random_seed: int | None = -1,
        device: Any = None,
        placement: Any = None,
        sbp: Any = None,
        name: str | None = None,
    ) -> None:
        del name
        check_device(device, placement, sbp)
        _check_positive_int("batch_size", batch_size)
        _check_positive_int("shuffle_buffer_size", shuffle_buffer_size)
        _check_positive_int("data_part_num", data_part_num)
        self.batch_size = batch_size
        parts = _find_parts(ofrecord_dir, data_part_num, part_name_prefix, part_name_suffix_length)
        self._is_large = sum(os.stat(part).st_size for part in parts) >= _LARGE_BYTES
        assigned = assign_parts(data_part_num, get_rank(), get_world_size())

        def order_parts(epoch: int) -> list[str]:
            # Each epoch shuffles the parts again, starting from the order of the previous epoch.
            if shuffle_after_epoch and epoch:
                shuffle_parts(parts, epoch)
            return [parts[number] for number in assigned]

        if random_shuffle:
            seed = secrets.randbits(32) if random_seed in (None, -1) else int(random_seed or 0)
            chunks = _read_epochs(order_parts, min(batch_size, _SHUFFLED_AT_ONCE))
            slots = SlotGenerator(seed, shuffle_buffer_size)
            chunks = _shuffle_records(chunks, slots, shuffle_buffer_size, batch_size)
        else:
            chunks = _read_epochs(order_parts, batch_size)
        self._batches = _BatchIterator(chunks, batch_size)
        self._prefetcher: Prefetcher[RecordBatch] | None = None

    def forward(self) -> RecordBatch:
        """Return the next batch of records."""
        if not self._is_large:
            return next(self._batches)
        if self._prefetcher is None:
            self._prefetcher = Prefetcher(self._batches, 0)
            # The thread holds no reference to the reader. When the reader is garbage-collected, this finalizer stops
            # the thread.
            weakref.finalize(self, self._prefetcher.close)
        return next(self._prefetcher)


class _BatchIterator:
    """Endless iterator over batches. After a read error, every later call raises the same error."""

    def __init__(self, chunks: Iterator[RecordBatch], batch_size: int) -> None:
        self._chunks, self._batch_size = chunks, batch_size
        self._rest: RecordBatch | None = None
        self._error: RecordmillError | None = None
        self._features: dict[str, rm.Feature] = {}

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RecordBatch:
        batch = self._read_next_batch()
        features = dict(self._features)
        try:
            found = rm.parse_payloads(batch.payloads, features, payload="ofrecord") if features else {}
        except RecordmillError:
            # The error is ignored here. The decoder parses the batch again and raises an error that names the record.
            found = {}
        parsed = {name: (features[name], column) for name, column in found.items()}
        return RecordBatch(batch.payloads, batch.locations, self._features, parsed)

    def _read_next_batch(self) -> RecordBatch:
        chunks: list[RecordBatch] = []
        missing = self._batch_size
        while missing:
            chunk = self._read_next_records() if self._rest is None else self._rest
            used = min(missing, len(chunk))
            chunks.append(chunk if used == len(chunk) else chunk.slice(0, used))
            self._rest = None if used == len(chunk) else chunk.slice(used, len(chunk))
            missing -= used
        return _concatenate_batches(chunks)

    def _read_next_records(self) -> RecordBatch:
        if self._error is not None:
            raise self._error
        try:
            return next(self._chunks)
        except RecordmillError as error:
            self._error = error
            raise


def _check_positive_int(option: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{option} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{option} must be a positive integer, got {value}")


def _find_parts(folder: str, count: int, prefix: str, digits: int) -> list[str]:
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"ofrecord_dir must be a str or a path, got {type(folder).__name__}")
    parts = [os.path.join(folder, f"{prefix}{str(number).zfill(max(digits, 0))}") for number in range(count)]
    for part in parts:
        if not os.path.isfile(part):
            raise FileNotFoundError(
                errno.ENOENT,
                f"Fail to open file: one of the {count} parts is missing; check data_part_num, part_name_prefix and "
                "part_name_suffix_length",
                part,
            )
    return parts
