"""Read batches of records from the parts of a dataset, in OneFlow's orders."""

from __future__ import annotations

import errno
import os
import secrets
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

import recordmill as rm
from recordmill.compat.oneflow.environment import get_rank, get_world_size, share_of
from recordmill.compat.oneflow.features import raise_unsupported
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.shuffle import Slots, shuffle_parts
from recordmill.compat.oneflow.tensors import Place, Records
from recordmill.concurrency.prefetch import Prefetcher
from recordmill.dataclass import dataclass
from recordmill.errors import FormatError, RecordmillError
from recordmill.types import Ragged

_HEAD_BYTES = 8
_SHUFFLED_AT_ONCE = 64
# Smaller datasets are read faster than a thread starts.
_LARGE_BYTES = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class RecordRun:
    """Records that stand one behind the other."""

    payloads: Ragged
    places: list[Place]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.places)

    def cut(self, start: int, stop: int) -> RecordRun:
        """Some of the records."""
        return RecordRun(self.payloads[start:stop], self.places[start:stop])


class PartOffsets:
    """Where in its part each record of one pass over the parts begins."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts
        self._starts = np.cumsum([0, *(os.stat(part).st_size for part in parts)])
        self._offset, self._part, self._record = 0, -1, 0

    def places(self, payloads: Ragged) -> list[Place]:
        """Places of the records that come next."""
        sizes = np.diff(payloads.row_splits) + _HEAD_BYTES
        offsets = self._offset + np.concatenate(([0], np.cumsum(sizes)))
        self._offset = int(offsets[-1])
        return [self._next(int(offset)) for offset in offsets[:-1]]

    def _next(self, offset: int) -> Place:
        part = int(np.searchsorted(self._starts, offset, side="right")) - 1
        self._record = self._record + 1 if part == self._part else 0
        self._part = part
        return Place(self._parts[part], self._record, offset - int(self._starts[part]))

    def at(self, error: RecordmillError) -> RecordmillError:
        """Copy of an error of the whole stream that names the part, and the record in it."""
        if error.offset is None:
            return error
        part = min(int(np.searchsorted(self._starts, error.offset, side="right")), len(self._parts)) - 1
        record = self._record + 1 if part == self._part else 0
        inside = {"shard": self._parts[part], "record": record, "offset": error.offset - int(self._starts[part])}
        return type(error)(error.message, **error.parts() | inside)


def read_epoch(parts: list[str], num_records: int) -> Iterator[RecordRun]:
    """Records of all parts, read as one stream of bytes: a record may go on in the next part."""
    offsets = PartOffsets(parts)
    with rm.ShardReader(parts, format="ofrecord", compression=None) as reader:
        pieces = reader.batches(num_records)
        while True:
            try:
                payloads = next(pieces, None)
            except RecordmillError as error:
                raise offsets.at(error) from None
            if payloads is None:
                return
            yield RecordRun(payloads, offsets.places(payloads))


def read_epochs(order: Callable[[int], list[str]], num_records: int) -> Iterator[RecordRun]:
    """Records of all epochs, one epoch after the other."""
    epoch = 0
    while True:
        parts, empty = order(epoch), True
        for piece in read_epoch(parts, num_records):
            empty = False
            yield piece
        if empty:
            raise FormatError("the parts hold no record", kind="wrong_format", shard=parts[0], found="0 bytes")
        epoch += 1


def concatenate(pieces: list[RecordRun]) -> RecordRun:
    """One piece of several."""
    if len(pieces) == 1:
        return pieces[0]
    lengths = np.concatenate([np.diff(piece.payloads.row_splits) for piece in pieces])
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    data = np.concatenate([piece.payloads.data for piece in pieces])
    return RecordRun(Ragged(data, splits), [place for piece in pieces for place in piece.places])


class OFRecordReader(Module):
    """Batches of records, without end; each call gives the next one, and the one after it is read meanwhile.

    The parts of a folder are read as one stream of bytes. Orders are OneFlow's, number by number.
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
        _check_device(device, placement, sbp)
        _check_count("batch_size", batch_size)
        _check_count("shuffle_buffer_size", shuffle_buffer_size)
        _check_count("data_part_num", data_part_num)
        self.batch_size = batch_size
        parts = _find_parts(ofrecord_dir, data_part_num, part_name_prefix, part_name_suffix_length)
        self._is_large = sum(os.stat(part).st_size for part in parts) >= _LARGE_BYTES
        share = share_of(data_part_num, get_rank(), get_world_size())
        slots: Slots | None = None
        if random_shuffle:
            seed = secrets.randbits(32) if random_seed in (None, -1) else int(random_seed or 0)
            slots = Slots(seed, shuffle_buffer_size)
        self._batches = _Batches(parts, share, batch_size, slots, shuffle_buffer_size, shuffle_after_epoch)
        self._prefetcher: Prefetcher[Records] | None = None

    def forward(self) -> Records:
        """Return the next batch."""
        if not self._is_large:
            return next(self._batches)
        if self._prefetcher is None:
            self._prefetcher = Prefetcher(self._batches, 0)
            # The thread keeps the batches alive, but not the reader, so that an abandoned reader stops its thread.
            weakref.finalize(self, self._prefetcher.close)
        return next(self._prefetcher)


class _Batches:
    """Endless iterator over batches; a read error is raised again by every later call."""

    def __init__(
        self, parts: list[str], share: range, batch_size: int, slots: Slots | None, buffer_size: int, shuffles: bool
    ) -> None:
        self._parts, self._share, self._batch_size = parts, share, batch_size
        self._slots, self._buffer_size, self._shuffles_parts = slots, buffer_size, shuffles
        self._pieces: Iterator[RecordRun] | None = None
        self._rest: RecordRun | None = None
        self._error: RecordmillError | None = None
        self._features: dict[str, rm.Feature] = {}

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Records:
        batch = self._take()
        features = dict(self._features)
        try:
            found = rm.parse_payloads(batch.payloads, features, payload="ofrecord") if features else {}
        except RecordmillError:
            # The decoder that needs the feature raises the error with the record.
            found = {}
        parsed = {name: (features[name], column) for name, column in found.items()}
        return Records(batch.payloads, batch.places, self._features, parsed)

    def _take(self) -> RecordRun:
        runs: list[RecordRun] = []
        missing = self._batch_size
        while missing:
            piece = self._next() if self._rest is None else self._rest
            used = min(missing, len(piece))
            runs.append(piece if used == len(piece) else piece.cut(0, used))
            self._rest = None if used == len(piece) else piece.cut(used, len(piece))
            missing -= used
        return concatenate(runs)

    def _next(self) -> RecordRun:
        if self._error is not None:
            raise self._error
        if self._pieces is None:
            self._pieces = self._begin()
        try:
            return next(self._pieces)
        except RecordmillError as error:
            self._error = error
            raise

    def _begin(self) -> Iterator[RecordRun]:
        if self._slots is None:
            return read_epochs(self._order, self._batch_size)
        pieces = read_epochs(self._order, min(self._batch_size, _SHUFFLED_AT_ONCE))
        return _shuffled(pieces, self._slots, self._buffer_size, self._batch_size)

    def _order(self, epoch: int) -> list[str]:
        if self._shuffles_parts and epoch:
            shuffle_parts(self._parts, epoch)
        return [self._parts[number] for number in self._share]


def _shuffled(pieces: Iterator[RecordRun], slots: Slots, size: int, num_records: int) -> Iterator[RecordRun]:
    """Put each record in the place of one that the buffer holds, which goes out; so many make a piece."""
    buffer: list[tuple[bytes, Place]] = []
    leaving: list[tuple[bytes, Place]] = []
    for piece in pieces:
        for entry in zip(piece.payloads, piece.places, strict=True):
            if len(buffer) < size:
                buffer.append(entry)
                continue
            slot = slots.next()
            leaving.append(buffer[slot])
            buffer[slot] = entry
            if len(leaving) == num_records:
                yield RecordRun(Ragged.from_rows([payload for payload, _ in leaving]), [place for _, place in leaving])
                leaving = []


def _check_device(device: Any, placement: Any, sbp: Any) -> None:
    if device is not None and str(device) not in ("cpu", "cpu:0"):
        raise_unsupported("device", device, "batches are NumPy arrays, in the memory of the processor")
    for option, value in (("placement", placement), ("sbp", sbp)):
        if value is not None:
            raise_unsupported(
                option, value, "leave it out; with RANK and WORLD_SIZE each process reads its share of the parts"
            )


def _check_count(option: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{option} is a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"{option} is at least 1, not {value}")


def _find_parts(folder: str, count: int, prefix: str, digits: int) -> list[str]:
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"ofrecord_dir is a str, not {type(folder).__name__}")
    parts = [os.path.join(folder, f"{prefix}{str(number).zfill(max(digits, 0))}") for number in range(count)]
    for part in parts:
        if not os.path.isfile(part):
            raise FileNotFoundError(
                errno.ENOENT,
                f"Fail to open file: data_part_num={count} parts are read, and one is missing; "
                "part_name_prefix and part_name_suffix_length make their names",
                part,
            )
    return parts
