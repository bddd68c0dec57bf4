"""Colours of 8-bit images changed, with the rounding that Pillow's ImageEnhance has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import need_pillow
from recordmill.decode.pixels.greys import grey_like_pillow

Levels = NDArray[np.uint8]


def _blended(base: Any, pixels: Levels, factor: float) -> Levels:
    """Return base + factor * (pixels - base), cut off to whole levels and to 0 … 255."""
    start = np.asarray(base, np.float32)
    mixed = start + np.float32(factor) * (pixels.astype(np.float32) - start)
    return np.clip(mixed, 0, 255).astype(np.uint8)


def _grey(pixels: Levels) -> Levels:
    return pixels if pixels.shape[2] == 1 else grey_like_pillow(pixels)


def brighten(pixels: Levels, factor: float) -> Levels:
    """Mix with black; 1 leaves the image alone.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 1 or 3)
    factor : float

    Returns
    -------
    ndarray of the same shape
    """
    return _blended(0, pixels, factor)


def contrast(pixels: Levels, factor: float) -> Levels:
    """Mix with the image's mean grey, a whole level; 1 leaves the image alone.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 1 or 3)
    factor : float

    Returns
    -------
    ndarray of the same shape
    """
    return _blended(int(_grey(pixels).mean(dtype=np.float64) + 0.5), pixels, factor)


def saturate(pixels: Levels, factor: float) -> Levels:
    """Mix with the grey image; 1 leaves the image alone, grey images always stay.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 1 or 3)
    factor : float

    Returns
    -------
    ndarray of the same shape
    """
    return pixels if pixels.shape[2] == 1 else _blended(_grey(pixels), pixels, factor)


def turn_hue(pixels: Levels, turn: float) -> Levels:
    """Turn the colour circle of Pillow's HSV, whose hue has 256 steps; grey images stay.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 1 or 3)
    turn : float
        -0.5 to 0.5 turns; ``int(turn * 255)`` steps, as in torchvision.

    Returns
    -------
    ndarray of the same shape
    """
    if pixels.shape[2] == 1:
        return pixels
    module = need_pillow()
    values = np.array(module.fromarray(np.ascontiguousarray(pixels)).convert("HSV"))
    values[:, :, 0] += np.uint8(int(turn * 255) % 256)
    return np.asarray(module.frombytes("HSV", values.shape[1::-1], values.tobytes()).convert("RGB"))


def make_grey(pixels: Levels) -> Levels:
    """Make grey and keep the number of channels.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 1 or 3)

    Returns
    -------
    ndarray of the same shape
    """
    return np.repeat(_grey(pixels), pixels.shape[2], axis=2) if pixels.shape[2] > 1 else pixels


def shift(pixels: Levels, levels: NDArray[np.float64]) -> Levels:
    """Add a number to every channel, rounded to the nearest level and kept within 0 to 255.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, channels)
    levels : ndarray of float64, shape (channels,)

    Returns
    -------
    ndarray of the same shape
    """
    moved = pixels.astype(np.float32) + levels.astype(np.float32)
    return np.clip(np.rint(moved), 0, 255).astype(np.uint8)


def paint(pixels: Levels, window: tuple[int, int, int, int], fill: tuple[int, ...]) -> Levels:
    """Paint over a window that lies within the image.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, channels)
    window : (int, int, int, int)
        x, y, width, height.
    fill : tuple of int
        A level for each channel, or one for all.

    Returns
    -------
    ndarray of the same shape
    """
    x, y, width, height = window
    painted = pixels.copy()
    painted[y : y + height, x : x + width] = fill
    return painted
