"""The color steps by themselves, on one image."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.colors import ColorStep
from recordmill.decode.executors.native_one import change_one
from recordmill.decode.hues import change_colors
from recordmill.decode.pixels.values import Values
from recordmill.decode.specs.checks import check_word, number

Levels = NDArray[np.uint8]
Circle = Literal["pillow", "tensorflow"]


def _levels(array: ArrayLike) -> Levels:
    pixels: Any = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise TypeError(f"colors of uint8 are changed, not of {pixels.dtype}")
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or 0 in pixels.shape or pixels.shape[2] not in (1, 3):
        raise ValueError(f"an image is gray or red, green, blue, not {pixels.shape}")
    levels: Levels = pixels
    return levels


def _jittered(array: ArrayLike, which: int, factor: float) -> Levels:
    """One part of a color jitter: brightness, contrast, saturation or hue."""
    factors = np.full((1, 4), np.nan)
    factors[0, which] = factor
    order = np.arange(4.0)[None]
    return _changed(array, ColorStep("jitter", np.concatenate([factors, order], axis=1)))


def _changed(array: ArrayLike, step: ColorStep) -> Levels:
    changed: Levels = change_one(_levels(array), Values(), colors=[step]).reshape(np.shape(array))
    return changed


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
    return _jittered(array, 0, number("factor", factor, 0))


def adjust_contrast(array: ArrayLike, factor: float) -> Levels:
    """Mix with the mean gray.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue.
    factor : float
        0 is plain gray, 1 leaves the image alone.

    Returns
    -------
    ndarray of the same shape
        Equal to Pillow's ``ImageEnhance.Contrast``.
    """
    return _jittered(array, 1, number("factor", factor, 0))


def adjust_saturation(array: ArrayLike, factor: float, *, like: Circle = "pillow") -> NDArray[Any]:
    """Mix with the gray image, or multiply the saturation of HSV.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue; gray images stay. With ``like="tensorflow"`` uint8 or float32 of shape (..., 3).
    factor : float
        0 is gray, 1 leaves the image alone.
    like : {"pillow", "tensorflow"}
        Whose arithmetic: Pillow mixes; TensorFlow multiplies, at most to the full saturation.

    Returns
    -------
    ndarray of the same dtype and shape
        Equal to Pillow's ``ImageEnhance.Color``, or to ``tf.image.adjust_saturation``.
    """
    check_word("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return change_colors(array, "saturate", factor)
    return _jittered(array, 2, number("factor", factor, 0))


def adjust_hue(array: ArrayLike, turn: float, *, like: Circle = "pillow") -> NDArray[Any]:
    """Turn the color circle.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue; gray images stay. With ``like="tensorflow"`` uint8 or float32 of shape (..., 3).
    turn : float
        -0.5 to 0.5 turns; the circle of Pillow's HSV has 256 steps, ``int(turn * 255)`` are taken. -1 to 1 turns of a
        circle in float32 with ``like="tensorflow"``.
    like : {"pillow", "tensorflow"}
        Whose circle.

    Returns
    -------
    ndarray of the same dtype and shape
        With ``like="tensorflow"`` equal to ``tf.image.adjust_hue``.
    """
    check_word("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return change_colors(array, "turn", number("turn", turn, -1, 1))
    return _jittered(array, 3, number("turn", turn, -0.5, 0.5))


def grayscale(array: ArrayLike) -> Levels:
    """Make gray and keep the channels.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Red, green, blue.

    Returns
    -------
    ndarray of the same shape
    """
    return _changed(array, ColorStep("gray", np.ones((1, 1))))
