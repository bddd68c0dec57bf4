"""The order in which MXNet's ImageRecordIter visits records, for a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The generator of a seed is seeded with so much more.
_SEED_OFFSET = 111
_LARGEST = 2**32 - 1
# Places whose words are drawn at once.
_CHUNK = 1 << 14


class EpochOrders:
    """Permutations of one epoch after another, of a 32-bit Mersenne Twister that is never set back.

    Equal to MXNet 1.9.1's for files that it reads in one chunk (64 MB); larger ones it shuffles chunk by chunk without
    an index, where this is a permutation of all records.

    Parameters
    ----------
    count : int
        Records.
    seed : int or None
        None for the order of the file, every time.
    """

    def __init__(self, count: int, seed: int | None) -> None:
        self._count = count
        self._words = None if seed is None else np.random.RandomState((_SEED_OFFSET + seed) % 2**32)

    def draw(self) -> NDArray[np.int64]:
        """Order of the next epoch.

        Returns
        -------
        ndarray of int64, shape (count,)
        """
        order = list(range(self._count))
        if self._words is not None:
            for start in range(1, self._count, _CHUNK):
                partners = _partners(self._words, start, min(start + _CHUNK, self._count))
                for place, other in enumerate(partners, start):
                    order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64)


def _partners(words: np.random.RandomState, start: int, stop: int) -> list[int]:
    """With which place up to itself each place is exchanged; a word beyond the last whole share is drawn again."""
    sizes = np.arange(start + 1, stop + 1, dtype=np.uint64)
    shares = np.uint64(_LARGEST) // sizes
    drawn = _draw(words, len(sizes))
    while len(refused := np.flatnonzero(drawn >= sizes * shares)):
        drawn = np.concatenate([drawn[: refused[0]], drawn[refused[0] + 1 :], _draw(words, 1)])
    return (drawn // shares).astype(np.int64).tolist()  # type: ignore[no-any-return]


def _draw(words: np.random.RandomState, count: int) -> NDArray[np.uint64]:
    return words.randint(0, 2**32, count, dtype=np.uint32).astype(np.uint64)
