"""The random numbers of OneFlow's readers, number by number: libstdc++'s generators and how they are used.

References
----------
libstdc++ before GCC 11 (``std::shuffle``, ``std::uniform_int_distribution``); ISO C++ [rand.util.seedseq].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_WORD = 0xFFFFFFFF
_MINSTD = 2**31 - 1
_MINSTD_SPAN = _MINSTD - 2
# Orders of parts do not depend on any seed of the reader.
_PART_SEED = 524287


def shuffle_parts(parts: list[T], epoch: int) -> None:
    """Bring parts, which stand as in the epoch before, into the order of an epoch, in place."""
    shuffle(parts, _PART_SEED + epoch)


def shuffle(items: list[T], seed: int) -> None:
    """``std::shuffle`` with ``std::mt19937`` of a seed, in place."""
    twister = np.random.RandomState(seed & _WORD)

    def draw() -> int:
        return int.from_bytes(twister.bytes(4), "little")

    start = 1
    if len(items) % 2 == 0 and items:
        other = uniform(draw, _WORD, 2)
        items[1], items[other] = items[other], items[1]
        start = 2
    for place in range(start, len(items), 2):
        both = uniform(draw, _WORD, (place + 1) * (place + 2))
        first, second = divmod(both, place + 2)
        items[place], items[first] = items[first], items[place]
        items[place + 1], items[second] = items[second], items[place + 1]


def uniform(draw: Callable[[], int], span: int, count: int) -> int:
    """``std::uniform_int_distribution`` from 0 to ``count - 1``."""
    step = span // count
    while (value := draw()) >= count * step:
        pass
    return value // step


class Slots:
    """Which slot of its buffer a shuffling reader empties next: ``std::minstd_rand0`` of a seed sequence."""

    def __init__(self, seed: int, count: int) -> None:
        self._count = count
        self._state = seed_words(seed & _WORD)[3] % _MINSTD or 1

    def _draw(self) -> int:
        self._state = self._state * 16807 % _MINSTD
        return self._state - 1

    def next(self) -> int:
        """Return the next slot."""
        return uniform(self._draw, _MINSTD_SPAN, self._count)


def seed_words(seed: int) -> list[int]:
    """Four words of ``std::seed_seq{seed}.generate``."""
    words = [0x8B8B8B8B] * 4
    for step in range(8):
        here, near, far, before = (place % 4 for place in (step, step + 1, step + 2, step - 1))
        if step < 4:
            mixed = _folded(words[here] ^ words[near] ^ words[before]) * 1664525 & _WORD
            added = mixed + (1 if step == 0 else step + seed if step == 1 else step) & _WORD
            words[near], words[far] = words[near] + mixed & _WORD, words[far] + added & _WORD
        else:
            mixed = _folded(words[here] + words[near] + words[before] & _WORD) * 1566083941 & _WORD
            added = mixed - here & _WORD
            words[near], words[far] = words[near] ^ mixed, words[far] ^ added
        words[here] = added
    return words


def _folded(word: int) -> int:
    return word ^ word >> 27
