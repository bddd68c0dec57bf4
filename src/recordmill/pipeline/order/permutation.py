"""Permutations of 0 … n - 1 that are computed, not stored."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.philox import philox

Ints = NDArray[np.int64]

# Below this many entries the order of as many random words is kept: exactly uniform, and half a megabyte at most.
_TABLE = 1 << 16
_ROUNDS = 10
_LIMIT = 1 << 48
_LOW = np.uint64(0xFFFFFFFF)
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
        self._right = -(-length // self._left)
        self._moduli = (np.uint64(self._left), np.uint64(self._right))

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
            return _table(self._length, self._key)[0][positions]
        return self._walk(positions, range(_ROUNDS), 1)

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
            return _table(self._length, self._key)[1][entries]
        return self._walk(entries, range(_ROUNDS - 1, -1, -1), -1)

    def _walk(self, numbers: Ints, rounds: range, sign: int) -> Ints:
        found = self._cross(numbers, rounds, sign)
        while (outside := np.flatnonzero(found >= self._length)).size:
            found[outside] = self._cross(found[outside], rounds, sign)
        return found

    def _cross(self, numbers: Ints, rounds: range, sign: int) -> Ints:
        keys = _round_keys(self._key)
        halves = [numbers.astype(np.uint64) % self._moduli[0], numbers.astype(np.uint64) // self._moduli[0]]
        for number in rounds:
            changed = number % 2
            modulus = self._moduli[changed]
            drawn = _mixed(halves[1 - changed] + keys[number], modulus)
            halves[changed] = (halves[changed] + (drawn if sign > 0 else modulus - drawn)) % modulus
        return (halves[1] * self._moduli[0] + halves[0]).astype(np.int64)


def _mixed(words: NDArray[np.uint64], modulus: np.uint64) -> NDArray[np.uint64]:
    """Numbers below a modulus (under 2**32) that look random, one for each word."""
    words = words * np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> _HALF
    words = words * np.uint64(0xD6E8FEB86659FD93)
    words ^= words >> np.uint64(29)
    return (words >> _HALF) * modulus >> _HALF


@lru_cache(maxsize=64)
def _round_keys(key: tuple[int, ...]) -> NDArray[np.uint64]:
    return _words(key, _ROUNDS)


@lru_cache(maxsize=32)
def _table(length: int, key: tuple[int, ...]) -> tuple[Ints, Ints]:
    order = np.argsort(_words(key, length), kind="stable")
    places = np.empty(length, np.int64)
    places[order] = np.arange(length)
    return order.astype(np.int64), places


def _words(key: tuple[int, ...], count: int) -> NDArray[np.uint64]:
    seed, first, second, third = (*key, 0, 0, 0)[:4]
    counters = np.empty((4, -(-count // 2)), np.uint64)
    counters[0] = np.arange(counters.shape[1], dtype=np.uint64)
    counters[1], counters[2], counters[3] = first, second, third
    one, two, three, four = philox(counters, (seed & 0xFFFFFFFF, seed >> 32))
    return np.stack([two << _HALF | one, four << _HALF | three], axis=-1).reshape(-1)[:count]
