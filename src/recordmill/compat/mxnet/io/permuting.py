"""Permutations as MXNet makes them of a seed: a Mersenne Twister's words through ``std::shuffle``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LARGEST = 2**32 - 1
# Places whose words are drawn at once.
_CHUNK = 1 << 14


def words_of(seed: int) -> np.random.RandomState:
    """Return the words of a seed."""
    return np.random.RandomState(seed % 2**32)


def permute(order: list[int], words: np.random.RandomState) -> None:
    """Permute a list in place, as libstdc++ did until version 6."""
    for start in range(1, len(order), _CHUNK):
        partners = _partners(words, start, min(start + _CHUNK, len(order)))
        for place, other in enumerate(partners, start):
            order[place], order[other] = order[other], order[place]


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
