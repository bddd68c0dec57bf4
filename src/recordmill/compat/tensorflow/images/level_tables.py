"""Changes of 8-bit levels by a table: what becomes of each of the 256 is computed once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

LEVELS = np.arange(256, dtype=np.uint8)
# Values of an image from which on a table is worth making.
MANY = 1024


def by_table(pixels: Bytes, change: Callable[[Bytes], Bytes]) -> Bytes:
    """Change pixels by a function of their levels."""
    return change(pixels) if pixels.size < MANY else looked_up(pixels, change(LEVELS))


def looked_up(pixels: Bytes, table: Bytes) -> Bytes:
    """Replace levels by those of a table."""
    found = bytearray(np.ascontiguousarray(pixels)).translate(table.tobytes())
    return np.frombuffer(found, np.uint8).reshape(pixels.shape)
