"""The colour steps by themselves, on one image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.pixels.colouring import brighten, contrast, make_grey, saturate, turn_hue
from recordmill.decode.specs.checks import number

Levels = NDArray[np.uint8]


def _levels(array: ArrayLike) -> Levels:
    pixels: Any = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise TypeError(f"colours of uint8 are changed, not of {pixels.dtype}")
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or 0 in pixels.shape or pixels.shape[2] not in (1, 3):
        raise ValueError(f"an image is grey or red, green, blue, not {pixels.shape}")
    levels: Levels = pixels
    return levels


def adjust_brightness(array: ArrayLike, factor: float) -> Levels:
    """Mix with black.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
    factor : float
        0 is black, 1 leaves the image alone.

    Returns
    -------
    ndarray of the same shape
        Equal to Pillow's ``ImageEnhance.Brightness``.
    """
    return brighten(_levels(array), number("factor", factor, 0)).reshape(np.shape(array))


def adjust_contrast(array: ArrayLike, factor: float) -> Levels:
    """Mix with the mean grey.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue.
    factor : float
        0 is plain grey, 1 leaves the image alone.

    Returns
    -------
    ndarray of the same shape
        Equal to Pillow's ``ImageEnhance.Contrast``.
    """
    return contrast(_levels(array), number("factor", factor, 0)).reshape(np.shape(array))


def adjust_saturation(array: ArrayLike, factor: float) -> Levels:
    """Mix with the grey image.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue; grey images stay.
    factor : float
        0 is grey, 1 leaves the image alone.

    Returns
    -------
    ndarray of the same shape
        Equal to Pillow's ``ImageEnhance.Color``.
    """
    return saturate(_levels(array), number("factor", factor, 0)).reshape(np.shape(array))


def adjust_hue(array: ArrayLike, turn: float) -> Levels:
    """Turn the colour circle.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue; grey images stay.
    turn : float
        -0.5 to 0.5 turns; the circle of Pillow's HSV has 256 steps, ``int(turn * 255)`` are taken.

    Returns
    -------
    ndarray of the same shape
    """
    return turn_hue(_levels(array), number("turn", turn, -0.5, 0.5)).reshape(np.shape(array))


def greyscale(array: ArrayLike) -> Levels:
    """Make grey and keep the channels.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue.

    Returns
    -------
    ndarray of the same shape
    """
    return make_grey(_levels(array)).reshape(np.shape(array))
