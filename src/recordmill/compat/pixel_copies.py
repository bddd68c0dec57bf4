"""Copies of pixels that change their order, a pixel at a time; NumPy copies each of its few values alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Values below which there is nothing to gain, and of a last axis from which on NumPy's copies are as quick.
_MANY, _SHORT = 1024, 16
# Bytes of a pixel that one move of the processor takes, as numbers of that size.
_MOVED = {2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64), 16: np.dtype(np.complex128)}


def laid_out(pixels: NDArray[Any]) -> NDArray[Any]:
    """Put the values of a view side by side in memory."""
    if pixels.flags.c_contiguous or pixels.size < _MANY:
        return np.ascontiguousarray(pixels)
    out = np.empty(pixels.shape, pixels.dtype)
    put(out, pixels)
    return out


def put(out: NDArray[Any], pixels: NDArray[Any]) -> None:
    """Copy pixels to places of the same shape."""
    if pixels.size < _MANY or not 1 < pixels.shape[-1] < _SHORT or _in_rows(pixels, out):
        out[...] = pixels
        return
    channels, item = pixels.shape[-1], pixels.dtype.itemsize
    size = channels * item
    whole = pixels.strides[-1] == item == out.strides[-1] and pixels.dtype.kind != "O"
    if not whole or (item == 1 and size not in _MOVED):
        for channel in range(channels):
            out[..., channel] = pixels[..., channel]
    else:
        moved: Any = _MOVED.get(size, np.dtype((np.void, size)))
        out.view(moved)[...] = pixels.view(moved)


def _in_rows(*arrays: NDArray[Any]) -> bool:
    """Whether pixels lie side by side in all arrays, so that NumPy copies whole rows."""
    return all(
        one.ndim > 1 and one.strides[-1] == one.itemsize and one.strides[-2] == one.shape[-1] * one.itemsize
        for one in arrays
    )


def reordered(pixels: NDArray[Any], order: Sequence[int]) -> NDArray[Any]:
    """Take channels in another order."""
    out = np.empty((*pixels.shape[:-1], len(order)), pixels.dtype)
    for place, channel in enumerate(order):
        out[..., place] = pixels[..., channel]
    return out


def joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Join arrays along their last axis."""
    if sum(part.size for part in parts) < _MANY:
        return np.concatenate(parts, -1)
    out = np.empty((*parts[0].shape[:-1], sum(part.shape[-1] for part in parts)), parts[0].dtype)
    first = 0
    for part in parts:
        put(out[..., first : first + part.shape[-1]], part)
        first += part.shape[-1]
    return out
