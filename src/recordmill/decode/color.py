"""Color operations on one image in memory."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.native_image import transform_image
from recordmill.decode.options import OutputFormat
from recordmill.decode.plan import ColorStep
from recordmill.decode.specs.base import check_choice, check_number

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
    changed: Levels = transform_image(_levels(array), OutputFormat(), colors=[step]).reshape(np.shape(array))
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
    return _jittered(array, 0, check_number("factor", factor, 0))


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
    return _jittered(array, 1, check_number("factor", factor, 0))


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
    check_choice("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return change_colors(array, "saturate", factor)
    return _jittered(array, 2, check_number("factor", factor, 0))


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
    check_choice("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return change_colors(array, "turn", check_number("turn", turn, -1, 1))
    return _jittered(array, 3, check_number("turn", turn, -0.5, 0.5))


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


Floats = NDArray[np.float32]


def rgb_to_hsv(array: ArrayLike) -> Floats:
    """Hue, saturation and value of colors.

    Parameters
    ----------
    array : array_like of float32, shape (..., 3)
        Red, green, blue from 0 to 1.

    Returns
    -------
    ndarray of float32 of the same shape
        Equal to ``tf.image.rgb_to_hsv``.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Not three channels.
    """
    return change_colors(array, "to_hsv", dtypes=("float32",))


def hsv_to_rgb(array: ArrayLike) -> Floats:
    """Colors of hue, saturation and value.

    Parameters
    ----------
    array : array_like of float32, shape (..., 3)
        From 0 to 1.

    Returns
    -------
    ndarray of float32 of the same shape
        Red, green, blue; equal to ``tf.image.hsv_to_rgb``.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Not three channels.
    """
    return change_colors(array, "from_hsv", dtypes=("float32",))


def rgb_to_hls(array: ArrayLike, *, behind: int | None = None) -> NDArray[np.uint8]:
    """Hue, lightness and saturation of colors.

    Parameters
    ----------
    array : array_like of uint8, shape (..., 3)
        Red, green, blue.
    behind : int, optional
        Pixels at the right of each row that OpenCV 3.4 does not compute together with others, whose last bits differ:
        those that four do not divide, by default, of an image.

    Returns
    -------
    ndarray of uint8 of the same shape
        Hues from 0 to 180 in steps of two degrees; equal to ``cv2.cvtColor`` of OpenCV 3.4, later ones differ by one in
        few colors.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Not three channels.
    """
    colors = _colors(array, ("uint8",))
    width = colors.shape[-2] if colors.ndim > 2 else 1
    return _by_lightness(colors, False, width, (width % 4 if colors.ndim > 2 else 0) if behind is None else behind)


def hls_to_rgb(array: ArrayLike) -> NDArray[np.uint8]:
    """Colors of hue, lightness and saturation.

    Parameters
    ----------
    array : array_like of uint8, shape (..., 3)
        As `rgb_to_hls` gives them.

    Returns
    -------
    ndarray of uint8 of the same shape
        Red, green, blue; equal to ``cv2.cvtColor``.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Not three channels.
    """
    return _by_lightness(_colors(array, ("uint8",)), True, 1, 0)


def _by_lightness(colors: NDArray[Any], back: bool, width: int, behind: int) -> NDArray[np.uint8]:
    if not 0 <= behind <= width:
        raise ValueError(f"behind is from 0 to {width}, the pixels of a row, not {behind}")
    flat = colors.reshape(-1)
    made: NDArray[np.uint8] = np.asarray(_core.change_hls(flat, back, max(width, 1), behind)).reshape(colors.shape)
    return made


def change_colors(
    array: ArrayLike, change: str, amount: float = 0.0, *, dtypes: tuple[str, ...] = ("uint8", "float32")
) -> NDArray[Any]:
    """Change every color in floats."""
    colors = _colors(array, dtypes)
    made = _core.change_colors(colors.reshape(-1), colors.dtype.name, change, amount)
    return np.asarray(made).reshape(colors.shape)


def _colors(array: ArrayLike, dtypes: tuple[str, ...]) -> NDArray[Any]:
    colors: NDArray[Any] = np.asarray(array)
    if colors.dtype.name not in dtypes:
        raise TypeError(f"colors of {' or '.join(dtypes)} are needed, not of {colors.dtype}")
    if not colors.ndim or colors.shape[-1] != 3:
        raise ValueError(f"colors are (..., 3 channels), not {colors.shape}")
    return np.ascontiguousarray(colors)
