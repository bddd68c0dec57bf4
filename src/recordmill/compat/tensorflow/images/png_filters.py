"""Filters of PNG's rows: of each row the one that libpng takes, computed for many rows at once.

References
----------
W3C Portable Network Graphics (Third Edition), sections 9 and 12.7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

# Where the filters None, Sub, Up, Average and Paeth look: beside (h) and above (v).
_LOOKS = ("", "h", "v", "hv", "hv")
# Bytes of rows that are filtered together, so that what is between stays near the processor.
_BAND = 1 << 16


def filtered(rows: Bytes, step: int) -> Bytes:
    """Rows, each behind the number of the filter that makes the sum of its differences least."""
    height, length = rows.shape
    out = np.empty((height, 1 + length), np.uint8)
    unused = _unused(height, length // step)
    count = max(_BAND // length, 1)
    for first in range(0, height, count):
        above = rows[first - 1] if first else None
        candidates = _candidates(rows[first : first + count], above, step)
        best = _best(candidates, unused)
        out[first : first + count, 0] = best
        out[first : first + count, 1:] = candidates[best, np.arange(len(best))]
    return out


def _candidates(rows: Bytes, row_above: Bytes | None, step: int) -> Bytes:
    """Rows in each of the five filters, shape (5, height, bytes)."""
    height, length = rows.shape
    # Zeros beside and above: each neighbour lies at the same distance in one flat array.
    framed = np.zeros((height + 1, length + step), np.uint8)
    framed[1:, step:] = rows
    if row_above is not None:
        framed[0, step:] = row_above
    flat, wide = framed.reshape(-1), length + step
    here, left, above, corner = flat[wide + step :], flat[wide:-step], flat[step:-wide], flat[: -wide - step]
    found = np.zeros((5, height * wide), np.uint8)
    into = found[:, : len(here)]
    into[0] = here
    np.subtract(here, left, out=into[1])
    np.subtract(here, above, out=into[2])
    np.subtract(here, (left & above) + ((left ^ above) >> 1), out=into[3])
    np.subtract(here, _paeth(left, above, corner), out=into[4])
    return found.reshape(5, height, wide)[:, :, :length]


def _best(candidates: Bytes, unused: list[int]) -> NDArray[np.intp]:
    """Filter of each row; differences count by their distance from 0, as bytes with a sign."""
    sums = np.abs(candidates.view(np.int8)).view(np.uint8).sum(-1, dtype=np.uint32)
    if unused:
        sums[unused] = np.iinfo(np.uint32).max
    return np.asarray(sums.argmin(0))


def _unused(height: int, width: int) -> list[int]:
    """Filters that libpng does not try: of a single row or column those that look beyond it."""
    return [
        number for number, sides in enumerate(_LOOKS) if (height == 1 and "v" in sides) or (width == 1 and "h" in sides)
    ]


def _paeth(left: Bytes, above: Bytes, corner: Bytes) -> Bytes:
    """Of three bytes the nearest one to left + above - corner.

    Of the two sides it is the lower one if the corner is far above it, at least two thirds of the way to the higher
    one, the higher one likewise; else it is the corner, which lies between them.
    """
    low, high = np.minimum(left, above), np.maximum(left, above)
    middle = np.maximum(corner, low)
    np.minimum(middle, high, out=middle)
    up, down = high - middle, middle - low
    is_low, is_high = up <= down >> 1, down <= up >> 1
    middle -= down * is_low.view(np.uint8)
    middle += up * is_high.view(np.uint8)
    return middle
