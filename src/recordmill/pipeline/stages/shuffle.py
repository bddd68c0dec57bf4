"""Permutations of 0 … n - 1 that are computed, not stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.pipeline.checks import seed_of, settle, whole
from recordmill.pipeline.positions import Places

Ints = NDArray[np.int64]

# Below this many entries the order of as many random words is kept: exactly uniform, and half a megabyte at most.
_TABLE = 1 << 16
_ROUNDS = 10
_LIMIT = 1 << 48


class Permutation:
    """One order of 0 … `length` - 1, a pure function of the key.

    Small ones are the order of random words; larger ones a Feistel network on two numbers of about the same size whose
    product is hardly more than `length`, walked until the result is inside.

    Parameters
    ----------
    length : int
        0 to 2**48.
    key : tuple of int
        Seed (64 bits), and up to three words of 32 bits that tell permutations of one seed apart.

    References
    ----------
    Black, Rogaway: Ciphers with arbitrary finite domains. CT-RSA 2002.
    """

    def __init__(self, length: int, key: tuple[int, ...]) -> None:
        if not 0 <= length <= _LIMIT:
            raise ValueError(f"a permutation has 0 to 2**48 entries, not {length}")
        self._length, self._key = length, key
        self._left = isqrt(max(length - 1, 0)) + 1

    def __call__(self, positions: Ints) -> Ints:
        """Entries at positions."""
        if self._length <= _TABLE:
            return _order(self._length, self._key)[positions]
        return self._walk(positions, invert=False)

    def inverse(self, entries: Ints) -> Ints:
        """Positions of entries."""
        if self._length <= _TABLE:
            return _places(self._length, self._key)[entries]
        return self._walk(entries, invert=True)

    def _walk(self, numbers: Ints, *, invert: bool) -> Ints:
        found = _core.permute(np.ascontiguousarray(numbers), self._length, self._left, _keys(self._key), invert=invert)
        return np.frombuffer(memoryview(found), np.int64)


@lru_cache(maxsize=64)
def _keys(key: tuple[int, ...]) -> NDArray[np.uint64]:
    return _words(key, _ROUNDS)


@lru_cache(maxsize=32)
def _order(length: int, key: tuple[int, ...]) -> Ints:
    seed, *stream = _padded(key)
    return np.frombuffer(memoryview(_core.random_order(length, seed, stream)), np.int64)


@lru_cache(maxsize=32)
def _places(length: int, key: tuple[int, ...]) -> Ints:
    places = np.empty(length, np.int64)
    places[_order(length, key)] = np.arange(length)
    return places


def _padded(key: tuple[int, ...]) -> tuple[int, ...]:
    seed, *stream = (*key, 0, 0, 0)[:4]
    return (seed, *(word & 0xFFFFFFFF for word in stream))


def _words(key: tuple[int, ...], count: int) -> NDArray[np.uint64]:
    seed, first, second, third = _padded(key)
    positions = np.array([second << 32 | first], np.uint64)
    return np.asarray(_core.random_words(seed, third, positions, 0, 0, count))


# Blocks whose samples are mixed with one another; what a reader has in hand at a time.
BLOCKS_TOGETHER = 16
_MOST = 1 << 48  # as many entries as a permutation may have
_GLOBAL, _BLOCKS, _GROUP, _EARLY, _LATE = range(5)


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Samples in a random order that depends on the seed and the epoch alone.

    Parameters
    ----------
    seed : int
        0 to 2**64 - 1.
    block : int, optional
        Neighbors that stay together for reading: blocks come in random order, and the samples of 16 blocks at a time
        in random order among themselves.
    window : int, optional
        No sample moves farther than this.

    Raises
    ------
    ValueError
        Both, or a size below 2, or a seed that is none.
    """

    seed: int = 0
    block: int | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no order."""
        if self.block is not None and self.window is not None:
            raise ValueError("block= and window= exclude each other")
        settle(self, seed=seed_of(self.seed))
        for name in ("block", "window"):
            if (size := getattr(self, name)) is not None:
                size = whole(size, f"{name} is a whole number from 2 to 2**48", 2, _MOST + 1)
                settle(self, **{name: size})

    def length(self, upstream: int | None) -> int | None:
        """Samples that come out of so many."""
        if upstream is None:
            raise ValueError("an endless pipeline cannot be shuffled: put shuffle before repeat")
        return upstream

    def at(self, places: Places, upstream: int | None) -> Places:
        """Places of the samples before the shuffle."""
        if isinstance(places.epochs, int):
            return Places(places.epochs, self._order(places.array, upstream or 0, places.epochs))
        positions, found = places.array, np.empty(len(places), np.int64)
        for epoch, rows in places.by_epoch():
            found[rows] = self._order(positions[rows], upstream or 0, epoch)
        return Places(places.epochs, found)

    def _order(self, positions: Ints, length: int, epoch: int) -> Ints:
        if self.block is not None:
            return _by_blocks(positions, length, self.block, (self.seed, epoch))
        if self.window is not None:
            half = max(1, self.window // 2)
            early = _by_segments(positions, length, half, 0, (self.seed, epoch, _EARLY))
            return _by_segments(early, length, half, half // 2, (self.seed, epoch, _LATE))
        return Permutation(length, (self.seed, epoch, _GLOBAL))(positions)

    def quality(self, length: int) -> float:
        """Chance that two neighbors in the new order come from different parts of the old one."""
        size = self.block or self.window
        if size is None or length < 2:
            return 1.0
        together = min(length, size * (BLOCKS_TOGETHER if self.block else 2))
        return 1 - (min(size, length) - 1) / max(together - 1, 1)

    def __repr__(self) -> str:
        """Readable form."""
        size = f", block={self.block}" if self.block else f", window={self.window}" if self.window else ""
        return f"shuffle(seed={self.seed}{size})"


def _by_segments(positions: Ints, length: int, size: int, shift: int, key: tuple[int, ...]) -> Ints:
    """Segments of one size, the first one shorter by the shift, each in an order of its own."""
    number = (positions + (size - shift) % size) // size
    found = np.empty(len(positions), np.int64)
    for segment in np.unique(number):
        start = max(0, int(segment) * size - (size - shift) % size)
        stop = min(length, (int(segment) + 1) * size - (size - shift) % size)
        rows = np.flatnonzero(number == segment)
        found[rows] = start + Permutation(stop - start, (*key, int(segment) & 0xFFFFFFFF))(positions[rows] - start)
    return found


def _by_blocks(positions: Ints, length: int, size: int, key: tuple[int, int]) -> Ints:
    """Blocks in random order; the last one may be short, and stands anywhere."""
    blocks, missing = -(-length // size), -length % size
    order = Permutation(blocks, (*key, _BLOCKS))
    # The place of the short block: behind it everything stands `missing` samples earlier than full blocks would.
    gap = int(order.inverse(np.array([blocks - 1]))[0]) * size + size - missing
    group = size * BLOCKS_TOGETHER
    number = (positions + np.where(positions >= gap, missing, 0)) // group
    found = np.empty(len(positions), np.int64)
    for each in np.unique(number):
        edges = [edge - missing * (edge > gap) for edge in (int(each) * group, (int(each) + 1) * group)]
        start, stop = edges[0], min(length, edges[1])
        rows = np.flatnonzero(number == each)
        inside = Permutation(stop - start, (*key, _GROUP, int(each) & 0xFFFFFFFF))(positions[rows] - start)
        found[rows] = start + inside
    spread = found + np.where(found >= gap, missing, 0)
    return order(spread // size) * size + spread % size
