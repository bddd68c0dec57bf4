"""Kernels that filter images although their size stays, where the library hands images back as they are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_SIGMA = 0.5


def _sinc(radius: int) -> Callable[[int], np.float32]:
    """Lanczos, whose zeros are not quite zero in float32."""

    def weight(distance: int) -> np.float32:
        if not distance:
            return np.float32(1)
        turn = np.float32(math.pi) * np.float32(distance)
        top = np.float32(radius) * np.sin(turn) * np.sin(turn / np.float32(radius))
        return np.float32(top / (np.float32(math.pi) * turn * np.float32(distance)))

    return weight


def _gaussian(distance: int) -> np.float32:
    return np.float32(math.exp(-(distance**2) / (2 * _SIGMA * _SIGMA)))


def _mitchell(distance: int) -> np.float32:
    if distance != 1:
        return np.float32(8 / 9 if not distance else 0)
    # The polynomial at 1, rounded after each step.
    return (np.float32(-7 / 18) + np.float32(2) - np.float32(10 / 3)) + np.float32(16 / 9)


# method: how far its weights reach, and the weight at a distance in pixels
SAME_SIZE: dict[str, tuple[int, Callable[[int], np.float32]]] = {
    "lanczos3": (3, _sinc(3)),
    "lanczos5": (5, _sinc(5)),
    "gaussian": (1, _gaussian),
    "mitchellcubic": (2, _mitchell),
}


def filtered(pixels: Floats, method: str) -> Floats:
    """Images weighted with their neighbours; at the edges the weights that are left are brought to the sum 1."""
    return _along(_along(pixels, -3, method), -2, method)


def _along(pixels: Floats, axis: int, method: str) -> Floats:
    reach, weight = SAME_SIZE[method]
    values = np.moveaxis(pixels, axis, 0)
    length, out = len(values), np.empty_like(values)
    for place in range(length):
        places = range(max(place - reach, 0), min(place + reach, length - 1) + 1)
        weights = np.array([weight(abs(other - place)) for other in places], np.float32)
        weights *= np.float32(1) / np.float32(sum(weights, np.float32(0)))
        out[place] = sum((one * values[other] for one, other in zip(weights, places, strict=True)), np.float32(0))
    return np.ascontiguousarray(np.moveaxis(out, 0, axis))
