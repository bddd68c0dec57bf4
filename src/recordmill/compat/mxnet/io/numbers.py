"""Random numbers as MXNet makes them of a generator's words of 32 bits, with the distributions of libstdc++.

Those of MXNet 1.9.1 are of versions until 10 (bits/random.tcc), its own generator is ``std::mt19937`` (M. Matsumoto, T.
Nishimura: Mersenne Twister, ACM TOMACS 8, 1998).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Words = NDArray[np.uint32]
Floats = NDArray[np.float32]
_WORDS = 2**32 - 1
_BLOCK = 64
_BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))
_TWO = np.float32(2)


class Numbers:
    """Numbers of one sample, one after another."""

    def __init__(self, blocks: Iterator[Words]) -> None:
        self._blocks = blocks
        self._words: Words = np.empty(0, np.uint32)
        self._place = 0

    def _ahead(self, count: int) -> Words:
        """So many words, which stay where they are."""
        while len(self._words) - self._place < count:
            self._words, self._place = np.concatenate([self._words[self._place :], next(self._blocks)]), 0
        return self._words[self._place : self._place + count]

    def shares(self, count: int) -> Floats:
        """So many float32 from 0 up to 1, which are drawn once `skip` says so."""
        found: Floats = np.minimum(self._ahead(count).astype(np.float32) * np.float32(2.0**-32), _BELOW_ONE)
        return found

    def skip(self, count: int) -> None:
        """Leave so many words behind."""
        self._place += count

    def word(self) -> int:
        """Return the next 32 bits."""
        word = int(self._ahead(1)[0])
        self.skip(1)
        return word

    def uniform(self, low: Any = 0, high: Any = 1) -> np.float32:
        """Float32 from `low` up to `high`: ``std::uniform_real_distribution<float>``."""
        share = min(np.float32(self.word()) * np.float32(2.0**-32), _BELOW_ONE)
        return np.float32(between(share, np.float32(low), np.float32(high)))

    def integer(self, low: int, high: int) -> int:
        """Whole number from `low` to `high`: ``std::uniform_int_distribution``."""
        count = high - low + 1
        share = _WORDS // count
        word = self.word()
        while word >= count * share:
            word = self.word()
        return low + word // share

    def coin(self) -> bool:
        """True in one half of the cases: ``std::bernoulli_distribution``, which takes two words."""
        low, high = self.word(), self.word()
        return (low + high * 2.0**32) / 2.0**64 < 0.5

    def normals(self, count: int, deviation: float) -> Floats:
        """Numbers of one ``std::normal_distribution<float>`` about 0, by Marsaglia's polar method."""
        drawn: list[np.float32] = []
        while len(drawn) < count:
            x, y = (_TWO * self.uniform() - np.float32(1) for _ in range(2))
            square = x * x + y * y
            if 0 < square <= 1:
                factor = np.sqrt(-_TWO * np.log(square) / square)
                drawn += [y * factor, x * factor]
        return np.array(drawn[:count], np.float32) * np.float32(deviation)

    def order(self, count: int) -> list[int]:
        """Permutation of so many places: ``std::shuffle``."""
        places = list(range(count))
        for place in range(1, count):
            other = self.integer(0, place)
            places[place], places[other] = places[other], places[place]
        return places


def between(shares: Any, low: Any, high: Any) -> Any:
    """Numbers of a range, for float32 from 0 up to 1."""
    return shares * (high - low) + low


def rounded(value: np.float32) -> int:
    """Nearest whole number, halves away from zero: ``std::round``."""
    return int(math.copysign(math.floor(abs(float(value)) + 0.5), value))


def twister(seed: int) -> Numbers:
    """Numbers of MXNet's generator."""
    return Numbers(_twisted(seed))


def _twisted(seed: int) -> Iterator[Words]:
    generator = np.random.RandomState(seed % 2**32)
    while True:
        yield generator.randint(0, 2**32, _BLOCK, np.uint32)


def numbers_of(draws: rm.Draws, positions: NDArray[np.int64]) -> list[Numbers]:
    """Numbers of some samples, each of the seed, the epoch and its position alone."""
    first = _words(draws, positions, 0)
    return [Numbers(_blocks(draws, one, words)) for one, words in zip(positions, first, strict=True)]


def _blocks(draws: rm.Draws, position: np.int64, first: Words) -> Iterator[Words]:
    yield first
    place = 0
    while True:
        place += _BLOCK
        yield _words(draws, np.array([position]), place)[0]


def _words(draws: rm.Draws, positions: NDArray[np.int64], first: int) -> Words:
    return (draws.words(positions, rm.Stage.FREE, _BLOCK, first) >> np.uint64(32)).astype(np.uint32)
