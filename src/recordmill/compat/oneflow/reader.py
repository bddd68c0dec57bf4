"""Reads batches of records from the parts of a data set, in OneFlow's orders."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.oneflow.ahead import Ahead
from recordmill.compat.oneflow.environment import get_rank, get_world_size, share_of
from recordmill.compat.oneflow.faults import unsupported
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.orders import Slots, shuffle_parts
from recordmill.compat.oneflow.stream import Piece, endless, joined
from recordmill.compat.oneflow.tensors import Place, Records
from recordmill.errors import RecordmillError
from recordmill.types import Ragged

_SHUFFLED_AT_ONCE = 64
# Less than this is read sooner than a thread starts.
_LARGE_BYTES = 1 << 20


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
        self._parts = _find_parts(ofrecord_dir, data_part_num, part_name_prefix, part_name_suffix_length)
        self._is_large = sum(os.stat(part).st_size for part in self._parts) >= _LARGE_BYTES
        self._share = share_of(data_part_num, get_rank(), get_world_size())
        self._shuffles_parts = shuffle_after_epoch
        self._slots: Slots | None = None
        if random_shuffle:
            seed = secrets.randbits(32) if random_seed in (None, -1) else int(random_seed or 0)
            self._slots = Slots(seed, shuffle_buffer_size)
        self._buffer_size = shuffle_buffer_size
        self._pieces: Iterator[Piece] | None = None
        self._rest: Piece | None = None
        self._damage: RecordmillError | None = None
        self._wanted: dict[str, rm.Feature] = {}
        self._ahead: Ahead[Records] | None = None

    def forward(self) -> Records:
        """Return the next batch."""
        if not self._is_large:
            return self._batch()
        self._ahead = self._ahead or Ahead(self._batch)
        return self._ahead.take()

    def _batch(self) -> Records:
        batch = self._taken()
        wanted = dict(self._wanted)
        try:
            found = rm.parse_payloads(batch.payloads, wanted, payload="ofrecord") if wanted else {}
        except RecordmillError:
            # Decoders tell which record it is.
            found = {}
        parsed = {name: (wanted[name], column) for name, column in found.items()}
        return Records(batch.payloads, batch.places, self._wanted, parsed)

    def _taken(self) -> Piece:
        taken: list[Piece] = []
        missing = self.batch_size
        while missing:
            piece = self._next() if self._rest is None else self._rest
            used = min(missing, len(piece))
            taken.append(piece if used == len(piece) else piece.cut(0, used))
            self._rest = None if used == len(piece) else piece.cut(used, len(piece))
            missing -= used
        return joined(taken)

    def _next(self) -> Piece:
        if self._damage is not None:
            raise self._damage
        if self._pieces is None:
            self._pieces = self._begin()
        try:
            return next(self._pieces)
        except RecordmillError as error:
            self._damage = error
            raise

    def _begin(self) -> Iterator[Piece]:
        if self._slots is None:
            return endless(self._order, self.batch_size)
        pieces = endless(self._order, min(self.batch_size, _SHUFFLED_AT_ONCE))
        return _shuffled(pieces, self._slots, self._buffer_size, self.batch_size)

    def _order(self, epoch: int) -> list[str]:
        if self._shuffles_parts and epoch:
            shuffle_parts(self._parts, epoch)
        return [self._parts[number] for number in self._share]


def _shuffled(pieces: Iterator[Piece], slots: Slots, size: int, num_records: int) -> Iterator[Piece]:
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
                yield Piece(Ragged.from_rows([payload for payload, _ in leaving]), [place for _, place in leaving])
                leaving = []


def _check_device(device: Any, placement: Any, sbp: Any) -> None:
    if device is not None and str(device) not in ("cpu", "cpu:0"):
        unsupported("device", device, "batches are NumPy arrays, in the memory of the processor")
    for option, value in (("placement", placement), ("sbp", sbp)):
        if value is not None:
            unsupported(
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
