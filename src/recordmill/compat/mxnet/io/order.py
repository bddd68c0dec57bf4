"""The order in which MXNet's ImageRecordIter visits records, for its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.io.chunks import Span
from recordmill.compat.mxnet.io.permuting import permute, words_of
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]
# The generators of seeds are seeded with so much more.
_SEED_OFFSET = 111
_RANGE_SEED_OFFSET = 666


@dataclass(frozen=True, eq=False, slots=True)
class Order:
    """The records of one epoch."""

    rows: Ints
    places: Ints


@dataclass(frozen=True, eq=False, slots=True)
class Visit:
    """The records of one batch."""

    rows: Ints
    places: Ints
    epoch: int
    start: int

    @property
    def positions(self) -> Ints:
        """Positions in the epoch, which seed what MXNet leaves to the clock of its threads."""
        return np.arange(self.start, self.start + len(self.rows))


class EpochOrders:
    """Orders of one epoch after another, of 32-bit Mersenne Twisters that are never set back.

    With an index file all records of the part are permuted, without one those of every chunk that MXNet reads: 8 MiB.
    """

    def __init__(self, ranges: Sequence[Sequence[Span]], values: Mapping[str, Any]) -> None:
        self._ranges, self._indexed = ranges, bool(values["path_imgidx"])
        self._batch_size: int = values["batch_size"]
        self._words = words_of(_SEED_OFFSET + values["seed"]) if values["shuffle"] else None
        seed = values["part_index"] + values["num_parts"] + len(ranges) + values["shuffle_chunk_seed"]
        self._range_words = words_of(_RANGE_SEED_OFFSET + seed) if len(ranges) > 1 else None
        self._range_order = list(range(len(ranges)))

    def draw(self) -> Order:
        """Order of the next epoch."""
        if self._range_words is not None:
            permute(self._range_order, self._range_words)
        rows: list[Ints] = []
        places: list[Ints] = []
        visited = 0
        for first, last in (chunk for number in self._range_order for chunk in self._ranges[number]):
            chosen = self._permuted(last - first)
            rows.append(first + chosen)
            places.append(self._places(chosen, visited))
            visited += last - first
        return Order(np.concatenate(rows), np.concatenate(places))

    def _permuted(self, count: int) -> Ints:
        order = list(range(count))
        if self._words is not None:
            permute(order, self._words)
        return np.array(order, np.int64)

    def _places(self, chosen: Ints, visited: int) -> Ints:
        if self._indexed:
            return (visited + np.arange(len(chosen))) % self._batch_size
        # Chunks that are shuffled are kept behind a whole batch, others begin behind the rows that the batch has.
        return chosen + (visited % self._batch_size if self._words is None else self._batch_size)

    def borrowed(self, order: Order, count: int, missing: int) -> Ints:
        """Places of the records that complete a last batch."""
        moved = self._words is None or self._indexed
        return order.places[:missing] + (count if moved else 0)
