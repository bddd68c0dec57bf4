"""One of two values at each place by masks of bits: NumPy's way has a branch for each value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import combined

# Values below which masks cost more than they save.
_MANY = 1024
_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def selected(chosen: NDArray[np.bool_], a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Take the value of the first array where a condition holds, else that of the second."""
    if a.dtype.kind == "O" or max(chosen.size, a.size, b.size) < _MANY:
        return np.where(chosen, a, b)
    number = _BITS[a.dtype.itemsize]
    mask = chosen.view(np.int8).astype(number)
    np.negative(mask, out=mask)
    kept, other = a.view(number), b.view(number)
    # Bits in which the two differ, where the first is chosen, turn the second into the first.
    change = combined(np.bitwise_xor, kept, other)
    if mask.shape == np.broadcast_shapes(mask.shape, change.shape) and other.size in (1, mask.size):
        np.bitwise_and(mask, change, out=mask)
        return np.bitwise_xor(mask, other, out=mask).view(a.dtype)
    return combined(np.bitwise_xor, combined(np.bitwise_and, mask, change), other).view(a.dtype)
