"""Choose the order of the records, divide the records among shards, and split each shard into chunks."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recordmill.packing.sources.base import Items

# Source position of each record, in the order of the output. None means that records keep the order of the source.
Order = NDArray[np.int64] | None


def shuffle_positions(num_items: int, seed: int | None) -> Order:
    """Return the positions 0 to `num_items` - 1 in random order; None if `seed` is None."""
    if seed is None:
        return None
    if not hasattr(seed, "__index__") or seed < 0:
        raise ValueError(f"shuffle must be None or an integer seed of at least 0, got {seed!r}")
    return np.random.Generator(np.random.PCG64(seed)).permutation(num_items)


def split_evenly(num_items: int, num_parts: int) -> list[range]:
    """Split ``range(num_items)`` into consecutive ranges. Lengths differ by at most 1; longer ranges come first."""
    shortest, num_longer = divmod(num_items, num_parts)
    starts = [part * shortest + min(part, num_longer) for part in range(num_parts + 1)]
    return [range(start, stop) for start, stop in pairwise(starts)]


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Maximum number of items in a chunk, and maximum total size of their image files in bytes."""

    num_items: int
    num_bytes: int


# Chunk limits for image files that are stored unchanged.
COPY_LIMITS = ChunkLimits(512, 2 << 20)
# Chunk limits for images that are decoded. These limits are smaller, because decoding takes longer and needs more
# memory than copying. Small chunks can be divided evenly among the workers.
DECODE_LIMITS = ChunkLimits(64, 1 << 20)
# Chunk limits for remote files. All files of a chunk are requested at the same time.
REMOTE_LIMITS = ChunkLimits(256, 16 << 20)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Items that one worker packs: `start` to `stop` in the output order. `ordinal` is the chunk number, from 0."""

    ordinal: int
    start: int
    stop: int
    items: Items
    # One checksum per image file, computed from its size and modification time (remote files: size and version)
    # before the file was read.
    stamps: NDArray[np.int64]


class ChunkQueue:
    """A thread-safe queue that splits a range of the output order, usually the records of one shard, into chunks."""

    def __init__(self, items: Items, order: Order, span: range, limits: ChunkLimits) -> None:
        self._items, self._order, self._limits = items, order, limits
        self._next, self._stop = span.start, span.stop
        self._lock = threading.Lock()
        # Number of files whose sizes `take` reads to find the end of a chunk. After each chunk, `take` sets this number
        # to twice the number of items in the chunk, plus 1.
        self._num_candidates = 16
        self.num_taken = 0

    @property
    def is_empty(self) -> bool:
        """True if all chunks have been taken."""
        return self._next >= self._stop

    def take(self) -> Chunk | None:
        """Remove and return the next chunk; None if the queue is empty."""
        with self._lock:
            start = self._next
            if start >= self._stop:
                return None
            stop = min(start + self._num_candidates, start + self._limits.num_items, self._stop)
            candidates = self._items.take(slice(start, stop) if self._order is None else self._order[start:stop])
            count, stamps = candidates.count_fitting(self._limits.num_bytes)
            self._next, self._num_candidates = start + count, 2 * count + 1
            self.num_taken += 1
            chosen = candidates.take(slice(0, count))
            return Chunk(self.num_taken - 1, start, start + count, chosen, stamps)
