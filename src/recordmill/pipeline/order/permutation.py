"""Permutations of 0 … n - 1 that are computed, not stored."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.philox import generate_words

Ints = NDArray[np.int64]

# Below this many entries the order of as many random words is kept: exactly uniform, and half a megabyte at most.
_TABLE = 1 << 16
_ROUNDS = 10
_LIMIT = 1 << 48
_HALF = np.uint64(32)


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
        """Entries at positions.

        Parameters
        ----------
        positions : ndarray of int64
            0 … length - 1.

        Returns
        -------
        ndarray of int64
        """
        if self._length <= _TABLE:
            return _order(self._length, self._key)[positions]
        return self._walk(positions, invert=False)

    def inverse(self, entries: Ints) -> Ints:
        """Positions of entries.

        Parameters
        ----------
        entries : ndarray of int64

        Returns
        -------
        ndarray of int64
        """
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
    counters = np.empty((4, -(-count // 2)), np.uint64)
    counters[0] = np.arange(counters.shape[1], dtype=np.uint64)
    counters[1], counters[2], counters[3] = first, second, third
    one, two, three, four = generate_words(counters, (seed & 0xFFFFFFFF, seed >> 32))
    return np.stack([two << _HALF | one, four << _HALF | three], axis=-1).reshape(-1)[:count]
