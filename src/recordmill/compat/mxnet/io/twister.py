"""Random numbers as MXNet's augmentations draw them: a Mersenne Twister through the distributions of libstdc++."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Words that are drawn at once.
_CHUNK = 64
_LARGEST = 2**32 - 1
_BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))


class Twister:
    """Draws of one generator, in the order in which they are asked for.

    The generator is ``std::mt19937``; the distributions are those of libstdc++ until version 10, with which MXNet 1.9.1
    is built.

    Parameters
    ----------
    seed : int
        Its lowest 32 bits count.

    References
    ----------
    M. Matsumoto, T. Nishimura: Mersenne Twister, ACM TOMACS 8 (1998); libstdc++, bits/random.tcc.
    """

    def __init__(self, seed: int = 0) -> None:
        self._words = np.random.RandomState(seed % 2**32)
        self._drawn: list[int] = []

    def restart(self, seed: int) -> None:
        """Begin again with another seed.

        Parameters
        ----------
        seed : int
        """
        self._words.seed(seed % 2**32)
        self._drawn = []

    def word(self) -> int:
        """Return the next 32 bits."""
        if not self._drawn:
            self._drawn = self._words.randint(0, 2**32, _CHUNK, np.uint32).tolist()[::-1]
        return self._drawn.pop()

    def uniform(self, low: float = 0.0, high: float = 1.0) -> np.float32:
        """Return a float32 from `low` to below `high`: ``std::uniform_real_distribution<float>``.

        Parameters
        ----------
        low, high : float

        Returns
        -------
        float32
        """
        first = np.float32(low)
        unit = min(np.float32(self.word()) / np.float32(2**32), _BELOW_ONE)
        drawn: np.float32 = unit * (np.float32(high) - first) + first
        return drawn

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`: ``std::uniform_int_distribution``.

        Parameters
        ----------
        low, high : int
            The second not below the first.

        Returns
        -------
        int
        """
        count = high - low + 1
        share = _LARGEST // count
        word = self.word()
        while word >= count * share:
            word = self.word()
        return low + word // share

    def coin(self) -> bool:
        """Return True in one half of the cases: ``std::bernoulli_distribution``, which takes two words."""
        low, high = self.word(), self.word()
        return (low + high * 2.0**32) / 2.0**64 < 0.5

    def normals(self, count: int, deviation: float) -> NDArray[np.float32]:
        """Return numbers of one ``std::normal_distribution<float>`` about 0, by Marsaglia's polar method.

        Parameters
        ----------
        count : int
        deviation : float

        Returns
        -------
        ndarray of float32, shape (count,)
        """
        drawn: list[np.float32] = []
        while len(drawn) < count:
            x, y = (np.float32(2) * self.uniform() - np.float32(1) for _ in range(2))
            square = x * x + y * y
            if 0 < square <= 1:
                factor = np.sqrt(np.float32(-2) * np.log(square) / square)
                drawn += [y * factor, x * factor]
        return np.array(drawn[:count], np.float32) * np.float32(deviation)

    def order(self, count: int) -> list[int]:
        """Return a permutation of 0 … ``count - 1``: ``std::shuffle``.

        Parameters
        ----------
        count : int

        Returns
        -------
        list of int
        """
        order = list(range(count))
        for place in range(1, count):
            other = self.integer(0, place)
            order[place], order[other] = order[other], order[place]
        return order


def rounded(value: np.float32) -> int:
    """Nearest whole number, halves away from zero: ``std::round``.

    Parameters
    ----------
    value : float32

    Returns
    -------
    int
    """
    return int(math.copysign(math.floor(abs(float(value)) + 0.5), value))
