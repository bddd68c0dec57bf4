"""Pixels moved without being changed: turned, cut, padded, mirrored; and the affine map, which samples them anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import need_pillow
from recordmill.decode.pixels.planes import through_pillow

Pixels = NDArray[Any]
Window = tuple[int, int, int, int]


def orient(pixels: Pixels, orientation: int) -> Pixels:
    """Turn an image as EXIF asks for."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return pixels


def stored_window(window: Window, size: tuple[int, int], orientation: int) -> Window:
    """Where a window of the upright image lies in the stored one."""
    x, y, width, height = window
    if orientation in (2, 3, 6, 7):
        x = size[0] - x - width
    if orientation in (3, 4, 7, 8):
        y = size[1] - y - height
    return (y, x, height, width) if orientation >= 5 else (x, y, width, height)


def flip_pixels(pixels: Pixels, *, horizontal: bool, vertical: bool) -> Pixels:
    """Mirror an image."""
    return pixels[:: -1 if vertical else 1, :: -1 if horizontal else 1]


def cut(pixels: Pixels, window: Window, mode: str = "constant", fill: Any = 0) -> Pixels:
    """Take a window, which may reach beyond the image."""
    x, y, width, height = window
    if x >= 0 and y >= 0 and y + height <= pixels.shape[0] and x + width <= pixels.shape[1]:
        return pixels[y : y + height, x : x + width]
    rows, row_inside = _places(y, height, pixels.shape[0], mode)
    columns, column_inside = _places(x, width, pixels.shape[1], mode)
    taken = pixels[rows[:, None], columns]
    if mode == "constant":
        taken[~row_inside] = fill
        taken[:, ~column_inside] = fill
    return taken


def _places(start: int, count: int, length: int, mode: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    places = np.arange(start, start + count)
    inside = (places >= 0) & (places < length)
    if mode == "reflect" and length > 1:
        period = 2 * (length - 1)
        places = np.abs(places) % period
        return np.minimum(places, period - places), inside
    return np.clip(places, 0, length - 1), inside


def warp(pixels: Pixels, matrix: NDArray[np.float64], kernel: str, fill: Any) -> Pixels:
    """Sample an image through an affine map; the size stays."""
    module = need_pillow()
    height, width, channels = pixels.shape
    parts = [pixels] if pixels.dtype == np.uint8 and channels == 3 else np.split(pixels, channels, axis=2)
    fills = [tuple(fill)] if len(parts) == 1 and channels == 3 else list(fill)
    sampling = getattr(module.Resampling, kernel.upper())
    numbers = tuple(matrix.ravel().tolist())

    def moved(part: Pixels, level: Any) -> Pixels:
        return through_pillow(
            part,
            lambda image: image.transform(
                (width, height), module.Transform.AFFINE, numbers, resample=sampling, fillcolor=level
            ),
        )

    return np.concatenate([moved(part, level) for part, level in zip(parts, fills, strict=True)], axis=2)
