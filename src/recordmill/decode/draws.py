"""Random numbers that depend on seed, epoch, position and stage alone, and on nothing that ran before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.philox import generate_words

_MAX_POSITION = 1 << 48
_MAX_STAGE = 1 << 16
_MAX_EPOCH = 1 << 32
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Stage(IntEnum):
    """Numbers of the stages that draw; 4,096 and above are free for callers."""

    CROP = 1
    FLIP = 2
    AFFINE = 3
    MIX = 4
    COLOR = 64
    FREE = 4096


@dataclass(frozen=True, slots=True)
class Draws:
    """All random numbers of one epoch.

    Number ``k`` of a stage, for the sample at a position of the epoch, is a pure function of
    ``(seed, epoch, position, stage, k)``: threads, workers, ranks, batch sizes and what was drawn before do not matter.
    Counters and key of the generator are ``(k // 2, position's low word, position's high half and stage, epoch)``
    and the seed.

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
    >>> Draws(seed=7).uniform([0, 1], stage=4096).round(3)
    array([[0.898],
           [0.411]])
    """

    seed: int
    epoch: int = 0

    def __post_init__(self) -> None:
        """Refuse what the generator's key and counter do not hold."""
        _check_range("seed", self.seed, 1 << 64)
        _check_range("epoch", self.epoch, _MAX_EPOCH)

    def words(self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0) -> NDArray[np.uint64]:
        """Numbers of 64 random bits.

        Parameters
        ----------
        positions : array_like of int, shape (n,)
            Positions of samples in the epoch, below 2**48.
        stage : int
            What the numbers are for, below 65,536.
        count : int
            Numbers per sample.
        first : int
            Number of the first one.

        Returns
        -------
        ndarray of uint64, shape (n, count)
        """
        places = _positions(positions)
        _check_range("stage", stage, _MAX_STAGE)
        blocks = np.arange(first // 2, (first + count + 1) // 2, dtype=np.uint64)
        counters = np.empty((4, len(places), len(blocks)), np.uint64)
        counters[0] = blocks
        counters[1] = (places & _LOW)[:, None]
        counters[2] = (places >> _HALF)[:, None] | np.uint64(int(stage) << 16)
        counters[3] = self.epoch
        low, high, next_low, next_high = generate_words(counters, (self.seed & 0xFFFFFFFF, self.seed >> 32))
        pairs = np.stack([high << _HALF | low, next_high << _HALF | next_low], axis=-1)
        return pairs.reshape(len(places), 2 * len(blocks))[:, first % 2 : first % 2 + count]

    def uniform(
        self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0, low: float = 0.0, high: float = 1.0
    ) -> NDArray[np.float64]:
        """Numbers from `low` up to `high`, all 53 bits of the fraction drawn.

        Parameters
        ----------
        positions, stage, count, first
            As in `words`.
        low, high : float
            `high` itself is not drawn, rounding aside.

        Returns
        -------
        ndarray of float64, shape (n, count)
        """
        unit = (self.words(positions, stage, count, first) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        numbers: NDArray[np.float64] = low + (high - low) * unit
        return numbers

    def integers(self, positions: ArrayLike, stage: int, high: ArrayLike, first: int = 0) -> NDArray[np.int64]:
        """One whole number from 0 to `high` - 1 for each sample.

        It is the upper half of 64 random bits times `high`, so that no number is likelier than another by more than
        one part in 2**32.

        Parameters
        ----------
        positions, stage, first
            As in `words`.
        high : array_like of int, shape () or (n,)
            1 to 2**32 - 1.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        words = self.words(positions, stage, 1, first)[:, 0]
        bound = np.broadcast_to(np.asarray(high, np.int64), words.shape)
        if (bound < 1).any() or (bound > int(_LOW)).any():
            raise ValueError("whole numbers are drawn below 1 to 2**32 - 1")
        factor = bound.astype(np.uint64)
        carry = (words & _LOW) * factor >> _HALF
        return ((words >> _HALF) * factor + carry >> _HALF).astype(np.int64)

    def booleans(self, positions: ArrayLike, stage: int, probability: float, first: int = 0) -> NDArray[np.bool_]:
        """True with a probability, for each sample.

        Parameters
        ----------
        positions, stage, first
            As in `words`.
        probability : float
            0 is never, 1 is always.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        return self.uniform(positions, stage, 1, first)[:, 0] < probability

    def choice(self, positions: ArrayLike, stage: int, weights: ArrayLike, first: int = 0) -> NDArray[np.int64]:
        """Index of one entry for each sample, as likely as its weight.

        Parameters
        ----------
        positions, stage, first
            As in `words`.
        weights : array_like of float, shape (k,)
            Not negative, not all zero; they need not add up to 1.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        steps = np.cumsum(np.asarray(weights, np.float64))
        if steps.ndim != 1 or not len(steps) or (np.diff(steps, prepend=0) < 0).any() or not steps[-1] > 0:
            raise ValueError("weights are not negative, and at least one is above 0")
        unit = self.uniform(positions, stage, 1, first)[:, 0]
        last = int(np.flatnonzero(np.diff(steps, prepend=0))[-1])
        found: NDArray[np.int64] = np.minimum(np.searchsorted(steps, unit * steps[-1], side="right"), last)
        return found

    def normal(self, positions: ArrayLike, stage: int, count: int = 1, first: int = 0) -> NDArray[np.float64]:
        """Numbers of the standard normal distribution (Box and Muller); number k takes words 2k and 2k + 1.

        Parameters
        ----------
        positions, stage, count, first
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
        """An order of 0 … `length` - 1 for each sample: that of as many random words.

        Parameters
        ----------
        positions, stage, first
            As in `words`.
        length : int

        Returns
        -------
        ndarray of int64, shape (n, length)
        """
        return np.argsort(self.words(positions, stage, length, first), axis=1, kind="stable")


def draws_from(rng: Draws | int | None, epoch: int = 0) -> Draws | None:
    """Draws as users name them: a seed and an epoch, or the draws themselves."""
    if rng is None or isinstance(rng, Draws):
        if epoch and (rng is None or rng.epoch != epoch):
            raise ValueError("epoch= goes with rng=seed; Draws(seed, epoch) has its own")
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(f"rng is a seed or Draws(seed, epoch), not {type(rng).__name__}")
    return Draws(int(rng), epoch)


def _positions(positions: ArrayLike) -> NDArray[np.uint64]:
    places = np.asarray(positions)
    if places.ndim != 1 or not (places.dtype.kind in "iu" or places.size == 0):
        raise TypeError(f"positions are whole numbers in one row, not {places.dtype} of shape {places.shape}")
    if places.size and (int(places.min()) < 0 or int(places.max()) >= _MAX_POSITION):
        raise ValueError(f"positions are 0 to 2**48 - 1, not {places.min()} to {places.max()}")
    return places.astype(np.uint64)


def _check_range(name: str, value: int, stop: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    if not 0 <= value < stop:
        raise ValueError(f"{name} is 0 to {stop - 1}, not {value}")
