"""Colors by hue: in floats with saturation and value as TensorFlow, in bytes with lightness as OpenCV."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core

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
