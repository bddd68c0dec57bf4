"""The parts of a data set as one endless stream of records, each with its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

import recordmill as rm
from recordmill.compat.oneflow.tensors import Place
from recordmill.dataclass import dataclass
from recordmill.errors import FormatError, RecordmillError
from recordmill.types import Ragged

_HEAD_BYTES = 8


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """Records that stand one behind the other."""

    payloads: Ragged
    places: list[Place]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.places)

    def cut(self, start: int, stop: int) -> Piece:
        """Some of the records."""
        return Piece(self.payloads[start:stop], self.places[start:stop])


class Ruler:
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


def one_pass(parts: list[str], num_records: int) -> Iterator[Piece]:
    """Records of all parts, read as one stream of bytes: a record may go on in the next part."""
    ruler = Ruler(parts)
    with rm.ShardReader(parts, format="ofrecord", compression=None) as reader:
        pieces = reader.batches(num_records)
        while True:
            try:
                payloads = next(pieces, None)
            except RecordmillError as error:
                raise ruler.at(error) from None
            if payloads is None:
                return
            yield Piece(payloads, ruler.places(payloads))


def endless(order: Callable[[int], list[str]], num_records: int) -> Iterator[Piece]:
    """Records of all epochs, one epoch after the other."""
    epoch = 0
    while True:
        parts, empty = order(epoch), True
        for piece in one_pass(parts, num_records):
            empty = False
            yield piece
        if empty:
            raise FormatError("the parts hold no record", kind="wrong_format", shard=parts[0], found="0 bytes")
        epoch += 1


def joined(pieces: list[Piece]) -> Piece:
    """One piece of several."""
    if len(pieces) == 1:
        return pieces[0]
    lengths = np.concatenate([np.diff(piece.payloads.row_splits) for piece in pieces])
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    data = np.concatenate([piece.payloads.data for piece in pieces])
    return Piece(Ragged(data, splits), [place for piece in pieces for place in piece.places])
