"""Random numbers that depend only on seed, epoch, position and stage, and not on previous random numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core

Words = NDArray[np.uint64]

_MAX_POSITION = 1 << 48
_MAX_STAGE = 1 << 16
_MAX_EPOCH = 1 << 32
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Stage(IntEnum):
    """Stage numbers of random transforms. Each stage has its own random numbers. Your code can use 4,096 and above."""

    CROP = 1
    FLIP = 2
    AFFINE = 3
    MIX = 4
    COLOR = 64
    FREE = 4096


@dataclass(frozen=True, slots=True)
class Draws:
    """Random numbers of one epoch.

    Number ``k`` of a stage, for the sample at a position of the epoch, is a pure function of
    ``(seed, epoch, position, stage, k)``. It does not depend on threads, workers, ranks, batch sizes or earlier draws.
    The counter of the generator has four words: ``k // 2``, the low 32 bits of the position, the high 16 bits of the
    position together with the stage, and the epoch. The key of the generator is the seed.

    Parameters
    ----------
    seed : int
        0 to 2**64 - 1.
    epoch : int
        0 to 2**32 - 1.

    References
    ----------
    Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011 (Philox4x32-10).

    Examples
    --------
    >>> rm.Draws(seed=7).uniform([0, 1], stage=4096).round(3)
    array([[0.898],
           [0.411]])
    """

    seed: int
    epoch: int = 0

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if the seed or the epoch is invalid."""
        _check_range("seed", self.seed, 1 << 64)
        _check_range("epoch", self.epoch, _MAX_EPOCH)

    def words(self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0) -> Words:
        """Return random 64-bit integers, `count` for each sample.

        Parameters
        ----------
        positions : array_like of int, shape (n,)
            Positions of the samples in the epoch, below 2**48.
        stage : int
            Purpose of the numbers, below 65,536. Different stages give independent numbers.
        count : int
            Numbers per sample.
        first : int
            Number ``k`` of the first word.

        Returns
        -------
        ndarray of uint64, shape (n, count)

        Raises
        ------
        TypeError, ValueError
            If positions or stage are not integers, or out of range.
        """
        array = np.asarray(positions)
        if array.ndim != 1 or not (array.dtype.kind in "iu" or array.size == 0):
            raise TypeError(f"positions must be integers of shape (n,), got {array.dtype} of shape {array.shape}")
        if array.size and (int(array.min()) < 0 or int(array.max()) >= _MAX_POSITION):
            raise ValueError(f"positions must be from 0 to 2**48 - 1, got {array.min()} to {array.max()}")
        _check_range("stage", stage, _MAX_STAGE)
        numbers = np.ascontiguousarray(array, np.uint64)
        words = _core.random_words(self.seed, self.epoch, numbers, stage, first, count)
        return np.asarray(words).reshape(len(numbers), count)

    def uniform(
        self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0, low: float = 0.0, high: float = 1.0
    ) -> NDArray[np.float64]:
        """Return numbers that are uniform in [low, high), each computed from 53 random bits.

        Parameters
        ----------
        positions, stage
            As in `words`.
        count
            As in `words`.
        first
            As in `words`.
        low : float
            Smallest value.
        high : float
            End of the range. Rounding can give `high` itself.

        Returns
        -------
        ndarray of float64, shape (n, count)
        """
        numbers: NDArray[np.float64] = low + (high - low) * words_to_uniform(self.words(positions, stage, count, first))
        return numbers

    def integers(self, positions: ArrayLike, stage: int, high: ArrayLike, first: int = 0) -> NDArray[np.int64]:
        """Return one integer from 0 to ``high - 1`` for each sample.

        The integer is ``(word * high) >> 64``, where `word` has 64 random bits. The probabilities of two integers
        therefore differ by at most one part in 2**32.

        Parameters
        ----------
        positions, stage
            As in `words`.
        first
            As in `words`.
        high : array_like of int, shape () or (n,)
            1 to 2**32 - 1.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ValueError
            If `high` is out of range.
        """
        words = self.words(positions, stage, 1, first)[:, 0]
        bounds = np.broadcast_to(np.asarray(high, np.int64), words.shape)
        if (bounds < 1).any() or (bounds > int(_LOW)).any():
            raise ValueError(f"high must be from 1 to 2**32 - 1, got {bounds.min()} to {bounds.max()}")
        return words_to_integers(words, bounds)

    def booleans(self, positions: ArrayLike, stage: int, probability: float, first: int = 0) -> NDArray[np.bool_]:
        """Return one random boolean for each sample. A boolean is True with the given probability.

        Parameters
        ----------
        positions, stage
            As in `words`.
        first
            As in `words`.
        probability : float
            Probability of True: 0 is never, 1 is always.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        return words_to_uniform(self.words(positions, stage, 1, first))[:, 0] < probability

    def choice(self, positions: ArrayLike, stage: int, weights: ArrayLike, first: int = 0) -> NDArray[np.int64]:
        """Return one index into `weights` for each sample, with probabilities in proportion to the weights.

        Parameters
        ----------
        positions, stage
            As in `words`.
        first
            As in `words`.
        weights : array_like of float, shape (k,)
            Non-negative and not all zero. They do not have to add up to 1.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ValueError
            If a weight is negative, or all weights are zero.
        """
        steps = np.cumsum(np.asarray(weights, np.float64))
        if steps.ndim != 1 or not len(steps) or (np.diff(steps, prepend=0) < 0).any() or not steps[-1] > 0:
            raise ValueError("weights must be a non-empty sequence of non-negative numbers, not all 0")
        unit = self.uniform(positions, stage, 1, first)[:, 0]
        last = int(np.flatnonzero(np.diff(steps, prepend=0))[-1])
        indices: NDArray[np.int64] = np.minimum(np.searchsorted(steps, unit * steps[-1], side="right"), last)
        return indices

    def normal(self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0) -> NDArray[np.float64]:
        """Return numbers of the standard normal distribution (Box-Muller). Number k uses words 2k and 2k + 1.

        Parameters
        ----------
        positions, stage
            As in `words`.
        count
            As in `words`.
        first
            As in `words`.

        Returns
        -------
        ndarray of float64, shape (n, count)
        """
        unit = self.uniform(positions, stage, 2 * count, 2 * first)
        radius = np.sqrt(-2 * np.log1p(-unit[:, 0::2]))
        numbers: NDArray[np.float64] = radius * np.cos(2 * np.pi * unit[:, 1::2])
        return numbers

    def permutation(self, positions: ArrayLike, stage: int, length: int, first: int = 0) -> NDArray[np.int64]:
        """Return a random permutation of 0 … ``length - 1`` for each sample: the argsort of `length` random integers.

        Parameters
        ----------
        positions, stage
            As in `words`.
        first
            As in `words`.
        length : int

        Returns
        -------
        ndarray of int64, shape (n, length)
        """
        return np.argsort(self.words(positions, stage, length, first), axis=1, kind="stable")


def parse_rng(rng: Draws | int | None, epoch: int = 0) -> Draws | None:
    """Convert the arguments `rng` and `epoch` of a public function to Draws."""
    if rng is None or isinstance(rng, Draws):
        if epoch and (rng is None or rng.epoch != epoch):
            raise ValueError("epoch cannot be combined with rng=Draws(seed, epoch), which already has an epoch")
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(f"rng must be an integer seed or Draws(seed, epoch), got {type(rng).__name__}")
    return Draws(int(rng), epoch)


def words_to_uniform(words: Words) -> NDArray[np.float64]:
    """Convert random words to numbers in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def words_to_integers(words: Words, high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert random words to integers below `high`, which must be from 1 to 2**32 - 1."""
    factor = high.astype(np.uint64)
    carry = (words & _LOW) * factor >> _HALF
    return ((words >> _HALF) * factor + carry >> _HALF).astype(np.int64)


_ATTEMPTS = 64
_WORDS_PER_GAMMA = 3 * _ATTEMPTS + 1


def draw_beta(draws: Draws, position: int, stage: int, alpha: float, first: int = 0) -> float:
    """Draw a number from Beta(alpha, alpha): ``x / (x + y)``, where x and y are drawn from Gamma(alpha, 1)."""
    one, other = (_draw_log_gamma(draws, position, stage, alpha, first + part * _WORDS_PER_GAMMA) for part in (0, 1))
    return 1 / (1 + math.exp(min(700.0, other - one)))


def _draw_log_gamma(draws: Draws, position: int, stage: int, shape: float, first: int) -> float:
    """Draw a number from Gamma(shape, 1) by the method of Marsaglia and Tsang; return the logarithm of the number."""
    unit = draws.uniform([position], stage, _WORDS_PER_GAMMA, first)[0]
    lift = math.log1p(-unit[-1]) / shape if shape < 1 else 0.0
    center = (shape + 1 if shape < 1 else shape) - 1 / 3
    tries = unit[:-1].reshape(_ATTEMPTS, 3)
    normal = np.sqrt(-2 * np.log1p(-tries[:, 0])) * np.cos(2 * np.pi * tries[:, 1])
    cube = (1 + normal / math.sqrt(9 * center)) ** 3
    logs = np.log(np.maximum(cube, 1e-300))
    accepted = (cube > 0) & (np.log1p(-tries[:, 2]) < normal**2 / 2 + center * (1 - cube + logs))
    return math.log(center) + float(logs[int(accepted.argmax())]) + lift


def _check_range(name: str, value: int, stop: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
    if not 0 <= value < stop:
        raise ValueError(f"{name} must be from 0 to {stop - 1}, got {value}")
