"""Rectangles drawn on images, pixel by pixel as OpenCV draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def draw_rectangle(
    pixels: Pixels, corner: tuple[int, int], other: tuple[int, int], colour: Any, thickness: int
) -> None:
    """Draw the border of a rectangle, in place; what lies outside the image is left away."""
    left, right = sorted((corner[0], other[0]))
    top, bottom = sorted((corner[1], other[1]))
    rows, columns = np.ogrid[: pixels.shape[0], : pixels.shape[1]]
    across, down = _beyond(columns, left, right), _beyond(rows, top, bottom)
    if thickness < 0:
        drawn = (across == 0) & (down == 0)
    else:
        radius = (thickness + 1) // 2 if thickness > 1 else 0
        near_side = np.minimum(abs(columns - left), abs(columns - right)) <= radius
        near_end = np.minimum(abs(rows - top), abs(rows - bottom)) <= radius
        within = (near_side & (down == 0)) | (near_end & (across == 0))
        drawn = within | (across * across + down * down <= radius * radius)
        drawn &= within | ((across > 0) & (down > 0))
    pixels[drawn] = np.clip(np.rint(np.asarray(colour, np.float64)), 0, 255).astype(np.uint8)


def _beyond(places: NDArray[Any], first: int, last: int) -> NDArray[Any]:
    """How far places lie outside a range."""
    found: NDArray[Any] = np.maximum(np.maximum(first - places, places - last), 0)
    return found
