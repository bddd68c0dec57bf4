"""Random numbers as MXNet makes them of a generator's words of 32 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Words = NDArray[np.uint32]
Floats = NDArray[np.float32]
_WORDS = 2**32 - 1
_BLOCK = 64
_BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))


class Numbers:
    """Numbers of one sample, one after another.

    Parameters
    ----------
    blocks : iterator of ndarray of uint32
        Words, some at a time.
    """

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

    def uniform(self, low: Any = 0, high: Any = 1) -> np.float32:
        """Float32 from `low` up to `high`."""
        share = self.shares(1)[0]
        self.skip(1)
        return np.float32(between(share, np.float32(low), np.float32(high)))

    def below(self, count: int) -> int:
        """Whole number from 0 to `count` - 1; a word beyond the last whole share is drawn again."""
        share = _WORDS // count
        while True:
            word = int(self._ahead(1)[0])
            self.skip(1)
            if word < count * share:
                return word // share

    def order(self, count: int) -> list[int]:
        """Permutation of so many places."""
        places = list(range(count))
        for place in range(1, count):
            other = self.below(place + 1)
            places[place], places[other] = places[other], places[place]
        return places


def between(shares: Any, low: Any, high: Any) -> Any:
    """Numbers of a range, for float32 from 0 up to 1."""
    return shares * (high - low) + low


def numbers_of(draws: rm.Draws, positions: Sequence[int]) -> list[Numbers]:
    """Numbers of some samples, each of the seed, the epoch and its position alone.

    Parameters
    ----------
    draws : Draws
    positions : sequence of int

    Returns
    -------
    list of Numbers
    """
    first = _words(draws, positions, 0)
    return [Numbers(_blocks(draws, one, words)) for one, words in zip(positions, first, strict=True)]


def _blocks(draws: rm.Draws, position: int, first: Words) -> Iterator[Words]:
    yield first
    place = 0
    while True:
        place += _BLOCK
        yield _words(draws, [position], place)[0]


def _words(draws: rm.Draws, positions: Sequence[int], first: int) -> Words:
    return (draws.words(positions, rm.Stage.FREE, _BLOCK, first) >> np.uint64(32)).astype(np.uint32)
