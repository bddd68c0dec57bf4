"""Numbers that depend on nothing but a pair of seeds: TensorFlow's stateless generator, Philox with ten rounds.

References
----------
Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011); tensorflow/core/kernels/stateless_random_ops.cc (how
a pair of seeds becomes a key and a counter).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)
_SEED_KEY = (0x3EC8F720, 0x02461E29)
_WORD = 0xFFFFFFFF
_ROUNDS = 10


def _block(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Four words of 32 bits for a counter and a key."""
    a, b, c, d = counter
    first, second = key
    for _ in range(_ROUNDS):
        low, high = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b, c, d = (high >> 32) ^ b ^ first, high & _WORD, (low >> 32) ^ d ^ second, low & _WORD
        first, second = (first + _STEPS[0]) & _WORD, (second + _STEPS[1]) & _WORD
    return a, b, c, d


def unit_of(word: int) -> np.float32:
    """Number from 0 to 1 that the lower 23 bits of a word make."""
    return np.uint32(word & 0x7FFFFF | 127 << 23).view(np.float32) - np.float32(1)


class Philox:
    """The words of one pair of seeds, in order."""

    def __init__(self, seed: Any) -> None:
        numbers = array_of(seed)
        if numbers.shape != (2,) or numbers.dtype.kind not in "iu":
            message = f"seed must have shape [2], not {list(numbers.shape)}"
            raise InvalidArgumentError(message, kind="bad_shape", found=numbers.dtype.name)
        first, second = (int(number) % 2**64 for number in numbers)
        mixed = _block((first & _WORD, first >> 32, second & _WORD, second >> 32), _SEED_KEY)
        self._key, self._counter = mixed[:2], mixed[2] << 64 | mixed[3] << 96
        self._words: list[int] = []

    def word(self) -> int:
        """Take the next 32 bits."""
        if not self._words:
            counter = self._counter
            words = _block((counter & _WORD, counter >> 32 & _WORD, counter >> 64 & _WORD, counter >> 96), self._key)
            self._words, self._counter = list(words), (counter + 1) % 2**128
        return self._words.pop(0)

    def unit(self) -> np.float32:
        """Take a number from 0 to 1, of 23 bits."""
        return unit_of(self.word())

    def units(self, count: int) -> NDArray[np.float32]:
        """Take several numbers from 0 to 1."""
        return np.array([self.unit() for _ in range(count)], np.float32)

    def uniform(self, low: float, high: float) -> float:
        """Take a number of a range, in float32."""
        least = np.float32(low)
        return float(self.unit() * (np.float32(high) - least) + least)

    def below(self, limit: int, first: int = 0) -> int:
        """Take a whole number."""
        return first + self.word() % (limit - first)
