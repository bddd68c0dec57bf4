"""Color operations on images in memory."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.native_image import transform_image
from recordmill.decode.options import OutputFormat
from recordmill.decode.plan import ColorStep
from recordmill.decode.specs.base import check_choice, check_number
from recordmill.suggestions import suggest_arguments

Levels = NDArray[np.uint8]
_JITTER_STEPS = ("brightness", "contrast", "saturation", "hue")


@suggest_arguments
def adjust_brightness(array: ArrayLike, factor: float) -> Levels:
    """Blend an image with black.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
    factor : float
        Non-negative number: 0 gives black, 1 gives the image itself.

    Returns
    -------
    ndarray of uint8, of the same shape
        Equal to Pillow's ``ImageEnhance.Brightness``.

    Raises
    ------
    TypeError
        If the array is not of uint8.
    ValueError
        If the array has another shape, or `factor` is negative.
    """
    return _apply_jitter_step(array, "brightness", check_number("factor", factor, 0))


@suggest_arguments
def adjust_contrast(array: ArrayLike, factor: float) -> Levels:
    """Blend an image with its mean gray level.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Gray, or red, green, blue.
    factor : float
        Non-negative number: 0 gives a uniform gray, 1 gives the image itself.

    Returns
    -------
    ndarray of uint8, of the same shape
        Equal to Pillow's ``ImageEnhance.Contrast``.

    Raises
    ------
    TypeError
        If the array is not of uint8.
    ValueError
        If the array has another shape, or `factor` is negative.
    """
    return _apply_jitter_step(array, "contrast", check_number("factor", factor, 0))


@suggest_arguments
def adjust_saturation(
    array: ArrayLike, factor: float, *, like: Literal["pillow", "tensorflow"] = "pillow"
) -> NDArray[Any]:
    """Blend an image with its gray version, or multiply its saturation in HSV.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Gray (not changed), or red, green, blue. With ``like="tensorflow"``, uint8 or float32 of shape (..., 3).
    factor : float
        Non-negative number: 0 gives gray, 1 gives the image itself.
    like : str
        "pillow" blends; "tensorflow" multiplies the saturation and clips it at 1.

    Returns
    -------
    ndarray of the same dtype and shape
        Equal to Pillow's ``ImageEnhance.Color``, or to ``tf.image.adjust_saturation``.

    Raises
    ------
    TypeError
        If the array has another dtype.
    ValueError
        If the array has another shape, or `factor` is negative.
    """
    check_choice("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return _convert_colors(array, "saturate", factor)
    return _apply_jitter_step(array, "saturation", check_number("factor", factor, 0))


@suggest_arguments
def adjust_hue(array: ArrayLike, turn: float, *, like: Literal["pillow", "tensorflow"] = "pillow") -> NDArray[Any]:
    """Rotate the hue of an image.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Gray (not changed), or red, green, blue. With ``like="tensorflow"``, uint8 or float32 of shape (..., 3).
    turn : float
        Fraction of the color circle: -0.5 to 0.5, or -1 to 1 with ``like="tensorflow"``.
    like : str
        "pillow" rotates the 8-bit hue of Pillow's HSV by ``int(turn * 255)``; "tensorflow" computes in float32.

    Returns
    -------
    ndarray of the same dtype and shape
        With ``like="tensorflow"`` equal to ``tf.image.adjust_hue``.

    Raises
    ------
    TypeError
        If the array has another dtype.
    ValueError
        If the array has another shape, or `turn` is outside its range.
    """
    check_choice("like", like, ("pillow", "tensorflow"))
    if like == "tensorflow":
        return _convert_colors(array, "turn", check_number("turn", turn, -1, 1))
    return _apply_jitter_step(array, "hue", check_number("turn", turn, -0.5, 0.5))


@suggest_arguments
def grayscale(array: ArrayLike) -> Levels:
    """Convert an image to gray and keep the number of channels.

    Parameters
    ----------
    array : array_like of uint8, shape (height, width) or (height, width, 1 or 3)
        Gray, or red, green, blue.

    Returns
    -------
    ndarray of uint8, of the same shape

    Raises
    ------
    TypeError
        If the array is not of uint8.
    ValueError
        If the array has another shape.
    """
    return _apply_color_step(array, ColorStep("gray", np.ones((1, 1))))


def _apply_jitter_step(array: ArrayLike, step: str, amount: float) -> Levels:
    """Apply one color jitter adjustment, such as "brightness", to an image."""
    amounts = np.full((1, 4), np.nan)  # NaN disables an adjustment.
    amounts[0, _JITTER_STEPS.index(step)] = amount
    order = np.arange(4.0)[None]
    return _apply_color_step(array, ColorStep("jitter", np.concatenate([amounts, order], axis=1)))


def _apply_color_step(array: ArrayLike, step: ColorStep) -> Levels:
    pixels: NDArray[Any] = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise TypeError(f"array must have dtype uint8, got {pixels.dtype}")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3)):
        raise ValueError(f"array must have shape (height, width) or (height, width, 1 or 3), got {pixels.shape}")
    three_axes = pixels[:, :, None] if pixels.ndim == 2 else pixels
    return transform_image(three_axes, OutputFormat(), colors=[step]).reshape(pixels.shape)


@suggest_arguments
def rgb_to_hsv(array: ArrayLike) -> NDArray[np.float32]:
    """Convert red, green, blue to hue, saturation, value.

    Parameters
    ----------
    array : array_like of float32, shape (..., 3)
        Red, green, blue from 0 to 1.

    Returns
    -------
    ndarray of float32, of the same shape
        Values from 0 to 1, equal to ``tf.image.rgb_to_hsv``.

    Raises
    ------
    TypeError
        If the array is not of float32.
    ValueError
        If the last axis does not have three channels.
    """
    return _convert_colors(array, "to_hsv", dtypes=("float32",))


@suggest_arguments
def hsv_to_rgb(array: ArrayLike) -> NDArray[np.float32]:
    """Convert hue, saturation, value to red, green, blue.

    Parameters
    ----------
    array : array_like of float32, shape (..., 3)
        Hue, saturation, value from 0 to 1.

    Returns
    -------
    ndarray of float32, of the same shape
        Values from 0 to 1, equal to ``tf.image.hsv_to_rgb``.

    Raises
    ------
    TypeError
        If the array is not of float32.
    ValueError
        If the last axis does not have three channels.
    """
    return _convert_colors(array, "from_hsv", dtypes=("float32",))


@suggest_arguments
def rgb_to_hls(array: ArrayLike, *, behind: int | None = None) -> Levels:
    """Convert red, green, blue to hue, lightness, saturation.

    Parameters
    ----------
    array : array_like of uint8, shape (..., 3)
        Red, green, blue.
    behind : int, optional
        Number of pixels at the right end of each row that OpenCV 3.4 converts one by one instead of in groups of four.
        This changes the last bits of their values. The default is the width modulo 4 for images, and 0 for a list of
        colors.

    Returns
    -------
    ndarray of uint8, of the same shape
        Hue from 0 to 180 in steps of two degrees, lightness and saturation from 0 to 255. Equal to ``cv2.cvtColor`` of
        OpenCV 3.4; later versions differ by 1 for a few colors.

    Raises
    ------
    TypeError
        If the array is not of uint8.
    ValueError
        If the last axis does not have three channels, or `behind` exceeds the width.
    """
    colors = _check_color_array(array, ("uint8",))
    width = colors.shape[-2] if colors.ndim > 2 else 1
    default = width % 4 if colors.ndim > 2 else 0
    return _convert_hls(colors, False, width, default if behind is None else behind)


@suggest_arguments
def hls_to_rgb(array: ArrayLike) -> Levels:
    """Convert hue, lightness, saturation to red, green, blue.

    Parameters
    ----------
    array : array_like of uint8, shape (..., 3)
        Hue, lightness, saturation as `rgb_to_hls` returns them.

    Returns
    -------
    ndarray of uint8, of the same shape
        Equal to ``cv2.cvtColor``.

    Raises
    ------
    TypeError
        If the array is not of uint8.
    ValueError
        If the last axis does not have three channels.
    """
    return _convert_hls(_check_color_array(array, ("uint8",)), True, 1, 0)


def _convert_hls(colors: NDArray[Any], to_rgb: bool, width: int, behind: int) -> Levels:
    if not 0 <= behind <= width:
        raise ValueError(f"parameter 'behind' must be from 0 to {width} (the image width), got {behind}")
    result: Levels = np.asarray(_core.change_hls(colors.reshape(-1), to_rgb, max(width, 1), behind))
    return result.reshape(colors.shape)


def _convert_colors(
    array: ArrayLike, change: str, amount: float = 0.0, *, dtypes: tuple[str, ...] = ("uint8", "float32")
) -> NDArray[Any]:
    """Convert the colors of every pixel with the native module, which computes in float32."""
    colors = _check_color_array(array, dtypes)
    result = _core.change_colors(colors.reshape(-1), colors.dtype.name, change, amount)
    return np.asarray(result).reshape(colors.shape)


def _check_color_array(array: ArrayLike, dtypes: tuple[str, ...]) -> NDArray[Any]:
    colors: NDArray[Any] = np.asarray(array)
    if colors.dtype.name not in dtypes:
        raise TypeError(f"array must have dtype {' or '.join(dtypes)}, got {colors.dtype}")
    if not colors.ndim or colors.shape[-1] != 3:
        raise ValueError(f"array must have shape (..., 3), got {colors.shape}")
    return np.ascontiguousarray(colors)
