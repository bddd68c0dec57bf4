"""Which record goes to which shard, in which order, and in what portions the work is done."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.packing.sources.base import Items

Order = NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """When a chunk is full; a chunk has one item at least.

    Parameters
    ----------
    num_items : int
    num_bytes : int
        Of the image files.
    """

    num_items: int
    num_bytes: int


PASS_THROUGH = ChunkLimits(512, 2 << 20)
# Pictures grow when they are decoded, and take long: small chunks share the work evenly.
RECODED = ChunkLimits(64, 1 << 20)


def make_order(num_items: int, seed: int | None) -> Order:
    """Permutation by which items are written."""
    if seed is not None and not (hasattr(seed, "__index__") and seed >= 0):
        raise ValueError(f"shuffle is a seed, a whole number from 0 on, not {seed!r}")
    return None if seed is None else np.random.Generator(np.random.PCG64(seed)).permutation(num_items)


def split_evenly(num_items: int, num_parts: int) -> list[range]:
    """Consecutive ranges whose lengths differ by at most one, longer ones first."""
    least, longer = divmod(num_items, num_parts)
    starts = [part * least + min(part, longer) for part in range(num_parts + 1)]
    return [range(first, last) for first, last in pairwise(starts)]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some consecutive items of a queue.

    Parameters
    ----------
    turn : int
        Chunks are written in the order of their turns.
    start, stop : int
        Where the items stand in the order of writing.
    items : Items
    """

    turn: int
    start: int
    stop: int
    items: Items


class Queue:
    """Hands out the items of one shard, or of all that are filled one after another; from any thread.

    Parameters
    ----------
    items : Items
        All items of the source.
    order : ndarray of int64, or None
    span : range
        Which part of the order this is.
    limits : ChunkLimits
    """

    def __init__(self, items: Items, order: Order, span: range, limits: ChunkLimits) -> None:
        self._items, self._order, self._limits = items, order, limits
        self._next, self._stop = span.start, span.stop
        self._lock = threading.Lock()
        self._likely = 16
        self.num_taken = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything was handed out."""
        return self._next >= self._stop

    def take(self) -> Chunk | None:
        """Take the next chunk; None if there is none."""
        with self._lock:
            start = self._next
            if start >= self._stop:
                return None
            items = self._rows(start, min(start + self._likely, start + self._limits.num_items, self._stop))
            count = _core.count_fitting(items.paths(), self._limits.num_bytes)
            self._next, self._likely = start + count, 2 * count + 1
            self.num_taken += 1
            return Chunk(self.num_taken - 1, start, start + count, items.take(slice(0, count)))

    def _rows(self, start: int, stop: int) -> Items:
        return self._items.take(slice(start, stop) if self._order is None else self._order[start:stop])
