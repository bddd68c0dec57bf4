"""MXNet's random numbers: distributions of libstdc++ before version 11, applied to a stream of random 32-bit words.

MXNet's own generator is ``std::mt19937`` (Matsumoto, Nishimura: Mersenne Twister, ACM TOMACS 8, 1998).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Ints = NDArray[np.int64]
Words = NDArray[np.uint32]
Floats = NDArray[np.float32]

_MAX_WORD = 2**32 - 1
_BLOCK = 64
_BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))
_TWO = np.float32(2)
# Number of swap positions that `shuffle_long_list` draws at once.
_SHUFFLE_BLOCK = 1 << 14


class LibstdcxxGenerator:
    """Draws numbers with the distributions of libstdc++ from a stream of random 32-bit words."""

    def __init__(self, blocks: Iterator[Words]) -> None:
        self._blocks = blocks
        self._words: Words = np.empty(0, np.uint32)
        self._next = 0

    def _peek_words(self, count: int) -> Words:
        while len(self._words) - self._next < count:
            self._words, self._next = np.concatenate([self._words[self._next :], next(self._blocks)]), 0
        return self._words[self._next : self._next + count]

    def peek_uniform(self, count: int) -> Floats:
        """Return the next `count` float32 numbers in [0, 1) without consuming them."""
        units: Floats = np.minimum(self._peek_words(count).astype(np.float32) * np.float32(2.0**-32), _BELOW_ONE)
        return units

    def skip_words(self, count: int) -> None:
        """Skip the next `count` random words."""
        self._next += count

    def next_word(self) -> int:
        """Return the next random 32-bit word."""
        word = int(self._peek_words(1)[0])
        self.skip_words(1)
        return word

    def uniform(self, low: Any = 0, high: Any = 1) -> np.float32:
        """Return a random float32 in [low, high), as ``std::uniform_real_distribution<float>`` does."""
        unit = min(np.float32(self.next_word()) * np.float32(2.0**-32), _BELOW_ONE)
        return np.float32(scale_to_range(unit, np.float32(low), np.float32(high)))

    def integer(self, low: int, high: int) -> int:
        """Return a random integer in [low, high], as ``std::uniform_int_distribution`` does."""
        count = high - low + 1
        share = _MAX_WORD // count
        word = self.next_word()
        while word >= count * share:
            word = self.next_word()
        return low + word // share

    def flip_coin(self) -> bool:
        """Return True with probability 0.5 and, like ``std::bernoulli_distribution``, consume two words."""
        low, high = self.next_word(), self.next_word()
        return (low + high * 2.0**32) / 2.0**64 < 0.5

    def normal(self, count: int, deviation: float) -> Floats:
        """Return `count` numbers of a ``std::normal_distribution<float>`` with mean 0 (Marsaglia's polar method)."""
        values: list[np.float32] = []
        while len(values) < count:
            x, y = (_TWO * self.uniform() - np.float32(1) for _ in range(2))
            square = x * x + y * y
            if 0 < square <= 1:
                factor = np.sqrt(-_TWO * np.log(square) / square)
                values += [y * factor, x * factor]
        return np.array(values[:count], np.float32) * np.float32(deviation)

    def permutation(self, count: int) -> list[int]:
        """Return a random permutation of ``range(count)``, as ``std::shuffle`` does."""
        order = list(range(count))
        for position in range(1, count):
            other = self.integer(0, position)
            order[position], order[other] = order[other], order[position]
        return order


def scale_to_range(units: Any, low: Any, high: Any) -> Any:
    """Map float32 numbers in [0, 1) to [low, high)."""
    return units * (high - low) + low


def round_half_away(value: np.float32) -> int:
    """Round to the nearest integer, halves away from zero, as ``std::round`` does."""
    return int(math.copysign(math.floor(abs(float(value)) + 0.5), value))


def create_mersenne_twister(seed: int) -> np.random.RandomState:
    """Return a generator whose 32-bit words equal those of ``std::mt19937`` with this seed."""
    return np.random.RandomState(seed % 2**32)


def create_seeded_generator(seed: int) -> LibstdcxxGenerator:
    """Return a `LibstdcxxGenerator` with the random 32-bit words of ``std::mt19937``, as in MXNet."""

    def yield_word_blocks() -> Iterator[Words]:
        words = create_mersenne_twister(seed)
        while True:
            yield words.randint(0, 2**32, _BLOCK, np.uint32)

    return LibstdcxxGenerator(yield_word_blocks())


def create_image_generators(draws: rm.Draws, positions: Ints) -> list[LibstdcxxGenerator]:
    """Return one random number generator per position.

    The random numbers depend only on the seed, the epoch and the position.
    """
    first = _draw_words(draws, positions, 0)
    return [LibstdcxxGenerator(_draw_word_blocks(draws, *one)) for one in zip(positions, first, strict=True)]


def _draw_word_blocks(draws: rm.Draws, position: np.int64, first: Words) -> Iterator[Words]:
    yield first
    start = 0
    while True:
        start += _BLOCK
        yield _draw_words(draws, np.array([position]), start)[0]


def _draw_words(draws: rm.Draws, positions: Ints, first: int) -> Words:
    return (draws.words(positions, rm.Stage.FREE, _BLOCK, first) >> np.uint64(32)).astype(np.uint32)


def shuffle_long_list(order: list[int], words: np.random.RandomState) -> None:
    """Shuffle a list in place as ``std::shuffle`` does, but draw the random numbers in blocks, which is faster."""
    for start in range(1, len(order), _SHUFFLE_BLOCK):
        partners = _draw_swap_partners(words, start, min(start + _SHUFFLE_BLOCK, len(order)))
        for position, other in enumerate(partners, start):
            order[position], order[other] = order[other], order[position]


def _draw_swap_partners(words: np.random.RandomState, start: int, stop: int) -> list[int]:
    sizes = np.arange(start + 1, stop + 1, dtype=np.uint64)
    shares = np.uint64(_MAX_WORD) // sizes
    chosen = _draw_mersenne_words(words, len(sizes))
    while len(rejected := np.flatnonzero(chosen >= sizes * shares)):
        chosen = np.concatenate([chosen[: rejected[0]], chosen[rejected[0] + 1 :], _draw_mersenne_words(words, 1)])
    return (chosen // shares).astype(np.int64).tolist()  # type: ignore[no-any-return]


def _draw_mersenne_words(words: np.random.RandomState, count: int) -> NDArray[np.uint64]:
    return words.randint(0, 2**32, count, dtype=np.uint32).astype(np.uint64)
