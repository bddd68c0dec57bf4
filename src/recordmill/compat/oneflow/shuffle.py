"""Shuffle parts and records as OneFlow's readers do, with the random generators of libstdc++.

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
# Seed of the order of parts. The seed of the reader has no effect on this order.
_PART_SEED = 524287


def shuffle_parts(parts: list[T], epoch: int) -> None:
    """Shuffle the parts in place for an epoch; on entry, `parts` must have the order of the previous epoch."""
    shuffle_like_libstdcxx(parts, _PART_SEED + epoch)


def shuffle_like_libstdcxx(items: list[T], seed: int) -> None:
    """Shuffle in place as ``std::shuffle`` does with a seeded ``std::mt19937``."""
    twister = np.random.RandomState(seed & _WORD)

    def draw_word() -> int:
        return int.from_bytes(twister.bytes(4), "little")

    start = 1
    if len(items) % 2 == 0 and items:
        other = draw_uniform_int(draw_word, _WORD, 2)
        items[1], items[other] = items[other], items[1]
        start = 2
    for position in range(start, len(items), 2):
        both = draw_uniform_int(draw_word, _WORD, (position + 1) * (position + 2))
        first, second = divmod(both, position + 2)
        items[position], items[first] = items[first], items[position]
        items[position + 1], items[second] = items[second], items[position + 1]


def draw_uniform_int(draw: Callable[[], int], span: int, count: int) -> int:
    """Draw an integer from 0 to ``count - 1``, as ``std::uniform_int_distribution`` does.

    `draw` returns random numbers from 0 to `span`.
    """
    step = span // count
    while (value := draw()) >= count * step:
        pass
    return value // step


class SlotGenerator:
    """Random generator of positions in the shuffle buffer: ``std::minstd_rand0``, seeded with ``std::seed_seq``."""

    def __init__(self, seed: int, count: int) -> None:
        self._count = count
        self._state = generate_seed_words(seed & _WORD)[3] % _MINSTD or 1

    def _draw_minstd_number(self) -> int:
        self._state = self._state * 16807 % _MINSTD
        return self._state - 1

    def next_slot(self) -> int:
        """Return the next random position in the shuffle buffer."""
        return draw_uniform_int(self._draw_minstd_number, _MINSTD_SPAN, self._count)


def generate_seed_words(seed: int) -> list[int]:
    """Return the first four words that ``std::seed_seq{seed}`` generates."""
    words = [0x8B8B8B8B] * 4
    for step in range(8):
        here, near, far, before = (word % 4 for word in (step, step + 1, step + 2, step - 1))
        if step < 4:
            mixed = _xorshift(words[here] ^ words[near] ^ words[before]) * 1664525 & _WORD
            added = mixed + (1 if step == 0 else step + seed if step == 1 else step) & _WORD
            words[near], words[far] = words[near] + mixed & _WORD, words[far] + added & _WORD
        else:
            mixed = _xorshift(words[here] + words[near] + words[before] & _WORD) * 1566083941 & _WORD
            added = mixed - here & _WORD
            words[near], words[far] = words[near] ^ mixed, words[far] ^ added
        words[here] = added
    return words


def _xorshift(word: int) -> int:
    return word ^ word >> 27
