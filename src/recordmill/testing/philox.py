"""Reference implementation of the counter-based random number generator Philox4x32-10, in NumPy.

Tests compare the native generator in `rust/core/src/random.rs` with it.

References
----------
Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def generate_words(counters: NDArray[np.uint64], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Return four random 32-bit words for each counter."""
    first, second, third, fourth = (np.array(row) for row in counters)
    one, two = np.empty_like(first), np.empty_like(first)
    for number in range(_ROUNDS):
        low_key, high_key = (
            np.uint64((word + number * step) & 0xFFFFFFFF) for word, step in zip(key, _WEYL, strict=True)
        )
        np.multiply(first, _MULTIPLIERS[0], out=one)
        np.multiply(third, _MULTIPLIERS[1], out=two)
        np.right_shift(two, _HALF, out=first)
        first ^= second
        first ^= low_key
        np.bitwise_and(two, _LOW, out=second)
        np.right_shift(one, _HALF, out=third)
        third ^= fourth
        third ^= high_key
        np.bitwise_and(one, _LOW, out=fourth)
    return np.stack([first, second, third, fourth])
