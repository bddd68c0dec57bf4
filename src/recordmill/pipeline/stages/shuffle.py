"""The shuffle stage, and permutations of 0 … n - 1. Entries of large permutations are computed instead of stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.pipeline.checks import check_integer, check_seed, set_fields
from recordmill.pipeline.samples import Ints, Positions

# Permutations of at most this many entries are stored as the argsort of random words, which is exactly uniform and
# takes up to 512 KiB.
_MAX_STORED = 1 << 16
_ROUNDS = 10
_MAX_LENGTH = 1 << 48


class Permutation:
    """A permutation of 0 … `length` - 1 that depends only on the key.

    Small permutations are the argsort of random words. Entries of larger ones are computed by a Feistel network. The
    network permutes 0 … n - 1, where n is slightly larger than `length` and the product of two numbers of about the
    same size. It is applied repeatedly until the result is smaller than `length`.

    Parameters
    ----------
    length : int
        0 to 2**48.
    key : tuple of int
        Seed (64 bits), and up to three words of 32 bits that distinguish permutations with the same seed.

    References
    ----------
    Black, Rogaway: Ciphers with arbitrary finite domains. CT-RSA 2002.
    """

    def __init__(self, length: int, key: tuple[int, ...]) -> None:
        if not 0 <= length <= _MAX_LENGTH:
            raise ValueError(f"a permutation must have 0 to 2**48 entries, got {length}")
        self._length, self._key = length, key
        self._left = isqrt(max(length - 1, 0)) + 1

    def __call__(self, positions: Ints) -> Ints:
        """Return the entries of the permutation at the given positions."""
        if self._length <= _MAX_STORED:
            return _create_small_permutation(self._length, self._key)[positions]
        return self._permute_with_feistel_network(positions, invert=False)

    def inverse(self, entries: Ints) -> Ints:
        """Return the positions of the given entries in the permutation."""
        if self._length <= _MAX_STORED:
            return _invert_small_permutation(self._length, self._key)[entries]
        return self._permute_with_feistel_network(entries, invert=True)

    def _permute_with_feistel_network(self, numbers: Ints, *, invert: bool) -> Ints:
        found = _core.permute(
            np.ascontiguousarray(numbers), self._length, self._left, _create_feistel_keys(self._key), invert=invert
        )
        return np.frombuffer(memoryview(found), np.int64)


@lru_cache(maxsize=64)
def _create_feistel_keys(key: tuple[int, ...]) -> NDArray[np.uint64]:
    return _generate_random_words(key, _ROUNDS)


@lru_cache(maxsize=32)
def _create_small_permutation(length: int, key: tuple[int, ...]) -> Ints:
    seed, *stream = _extend_key_to_four_words(key)
    return np.frombuffer(memoryview(_core.random_order(length, seed, stream)), np.int64)


@lru_cache(maxsize=32)
def _invert_small_permutation(length: int, key: tuple[int, ...]) -> Ints:
    inverse = np.empty(length, np.int64)
    inverse[_create_small_permutation(length, key)] = np.arange(length)
    return inverse


def _extend_key_to_four_words(key: tuple[int, ...]) -> tuple[int, ...]:
    seed, *stream = (*key, 0, 0, 0)[:4]
    return (seed, *(word & 0xFFFFFFFF for word in stream))


def _generate_random_words(key: tuple[int, ...], count: int) -> NDArray[np.uint64]:
    seed, first, second, third = _extend_key_to_four_words(key)
    positions = np.array([second << 32 | first], np.uint64)
    return np.asarray(_core.random_words(seed, third, positions, 0, 0, count))


# Number of blocks whose samples are shuffled together. Readers access all of these blocks at the same time.
BLOCKS_TOGETHER = 16
# Each use of a permutation has a number. The number is part of the key, so that permutations for different uses differ.
_GLOBAL, _BLOCKS, _GROUP, _EARLY, _LATE = range(5)


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Shuffles samples; the order depends only on the seed and the epoch.

    Parameters
    ----------
    seed : int
        0 to 2**64 - 1.
    block : int, optional
        Shuffle blocks of this many consecutive samples, then the samples within every 16 consecutive blocks. Reads stay
        local.
    window : int, optional
        Move no sample by more than this many positions.

    Raises
    ------
    ValueError
        If both are set, a size is smaller than 2, or the seed is not valid.
    """

    seed: int = 0
    block: int | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if an argument is invalid."""
        if self.block is not None and self.window is not None:
            raise ValueError("block= cannot be combined with window=")
        set_fields(self, seed=check_seed(self.seed))
        for name in ("block", "window"):
            if (size := getattr(self, name)) is not None:
                size = check_integer(size, f"{name} must be an integer from 2 to 2**48", 2, _MAX_LENGTH + 1)
                set_fields(self, **{name: size})

    def length(self, upstream: int | None) -> int | None:
        """Return the number of samples after this stage; `upstream` is the number before this stage."""
        if upstream is None:
            raise ValueError("an endless pipeline cannot be shuffled; put shuffle before repeat")
        return upstream

    def map_positions(self, positions: Positions, upstream: int | None) -> Positions:
        """Convert positions after the shuffle to positions before the shuffle."""
        values, epochs = positions.array, positions.epochs
        if isinstance(epochs, int):
            return Positions(epochs, self._shuffle_positions(values, upstream or 0, epochs))
        found = np.empty(len(values), np.int64)
        for epoch, rows in positions.by_epoch():
            found[rows] = self._shuffle_positions(values[rows], upstream or 0, epoch)
        return Positions(epochs, found)

    def _shuffle_positions(self, positions: Ints, length: int, epoch: int) -> Ints:
        if self.block is not None:
            return _BlockOrder(length, self.block, (self.seed, epoch)).shuffle(positions)
        if self.window is not None:
            half = max(1, self.window // 2)
            early = _shuffle_segments(positions, length, half, 0, (self.seed, epoch, _EARLY))
            return _shuffle_segments(early, length, half, half // 2, (self.seed, epoch, _LATE))
        return Permutation(length, (self.seed, epoch, _GLOBAL))(positions)

    def find_groups(self, positions: Ints, length: int, epoch: int) -> Ints:
        """Return the group index of each position. A group is 16 consecutive shuffled blocks. `block` must be set."""
        return _BlockOrder(length, self.block or 1, (self.seed, epoch)).find_groups(positions)

    def quality(self, length: int) -> float:
        """Return the probability that two adjacent samples were stored in different blocks or windows."""
        size = self.block or self.window
        if size is None or length < 2:
            return 1.0
        together = min(length, size * (BLOCKS_TOGETHER if self.block else 2))
        return 1 - (min(size, length) - 1) / max(together - 1, 1)

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        size = f", block={self.block}" if self.block else f", window={self.window}" if self.window else ""
        return f"shuffle(seed={self.seed}{size})"


def _shuffle_segments(positions: Ints, length: int, size: int, shift: int, key: tuple[int, ...]) -> Ints:
    """Shuffle positions within segments of `size` samples. A nonzero `shift` is the size of the first segment."""
    number = (positions + (size - shift) % size) // size
    found = np.empty(len(positions), np.int64)
    for segment in np.unique(number):
        start = max(0, int(segment) * size - (size - shift) % size)
        stop = min(length, (int(segment) + 1) * size - (size - shift) % size)
        rows = np.flatnonzero(number == segment)
        found[rows] = start + Permutation(stop - start, (*key, int(segment) & 0xFFFFFFFF))(positions[rows] - start)
    return found


class _BlockOrder:
    """Sample order of `shuffle(block=...)`: shuffle blocks, then the samples within every 16 consecutive blocks."""

    def __init__(self, length: int, size: int, key: tuple[int, int]) -> None:
        self.length, self.size, self.key = length, size, key
        blocks, self.missing = -(-length // size), -length % size
        self.order = Permutation(blocks, (*key, _BLOCKS))
        # Before the shuffle, the last block is `missing` samples shorter than the others. After the shuffle, this block
        # ends at position `gap`. Adding `missing` to all positions from `gap` on makes all blocks equally long.
        self.gap = int(self.order.inverse(np.array([blocks - 1]))[0]) * size + size - self.missing
        self.group = size * BLOCKS_TOGETHER

    def find_groups(self, positions: Ints) -> Ints:
        """Return the group index of each position. A group is 16 consecutive shuffled blocks."""
        return (positions + np.where(positions >= self.gap, self.missing, 0)) // self.group

    def shuffle(self, positions: Ints) -> Ints:
        """Convert positions after the shuffle to positions before the shuffle."""
        number = self.find_groups(positions)
        found = np.empty(len(positions), np.int64)
        for group_number in np.unique(number):
            edges = [int(group_number) * self.group, (int(group_number) + 1) * self.group]
            start, stop = (edge - self.missing * (edge > self.gap) for edge in edges)
            stop = min(self.length, stop)
            rows = np.flatnonzero(number == group_number)
            shuffled = Permutation(stop - start, (*self.key, _GROUP, int(group_number) & 0xFFFFFFFF))
            found[rows] = start + shuffled(positions[rows] - start)
        spread = found + np.where(found >= self.gap, self.missing, 0)
        return self.order(spread // self.size) * self.size + spread % self.size
