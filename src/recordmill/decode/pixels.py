"""Rearrange the pixels of one image with NumPy: orientation, crop and flip."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[Any]
Window = tuple[int, int, int, int]  # (x, y, width, height)


def apply_orientation(pixels: Pixels, orientation: int) -> Pixels:
    """Rotate or mirror an image so that it is upright, given its EXIF orientation from 1 to 8."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return pixels


def to_stored_window(window: Window, size: tuple[int, int], orientation: int) -> Window:
    """Map a window of the upright image to the stored image; `size` is the upright (width, height)."""
    x, y, width, height = window
    if orientation in (2, 3, 6, 7):
        x = size[0] - x - width
    if orientation in (3, 4, 7, 8):
        y = size[1] - y - height
    return (y, x, height, width) if orientation >= 5 else (x, y, width, height)


def crop_pixels(pixels: Pixels, window: Window, mode: str = "constant", fill: Any = 0) -> Pixels:
    """Crop an image. Pad the result if the window reaches beyond the image."""
    x, y, width, height = window
    if x >= 0 and y >= 0 and y + height <= pixels.shape[0] and x + width <= pixels.shape[1]:
        return pixels[y : y + height, x : x + width]
    rows, row_inside = _find_source_indices(y, height, pixels.shape[0], mode)
    columns, column_inside = _find_source_indices(x, width, pixels.shape[1], mode)
    cropped = pixels[rows[:, None], columns]
    if mode == "constant":
        cropped[~row_inside] = fill
        cropped[:, ~column_inside] = fill
    return cropped


def _find_source_indices(start: int, count: int, length: int, mode: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    positions = np.arange(start, start + count)
    inside = (positions >= 0) & (positions < length)
    if mode == "reflect" and length > 1:
        period = 2 * (length - 1)
        positions = np.abs(positions) % period
        return np.minimum(positions, period - positions), inside
    return np.clip(positions, 0, length - 1), inside


def flip_pixels(pixels: Pixels, *, horizontal: bool, vertical: bool) -> Pixels:
    """Flip an image."""
    return pixels[:: -1 if vertical else 1, :: -1 if horizontal else 1]
