"""Each step between pixels and a batch by itself, on one image; colors are in `adjust`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.executors.base import Border
from recordmill.decode.executors.native_one import change_one
from recordmill.decode.executors.native_resize import resize_images, resize_one
from recordmill.decode.moves import Moves
from recordmill.decode.pixels.moving import cut, flip_pixels
from recordmill.decode.pixels.values import Values
from recordmill.decode.presets import Like, kernel_of
from recordmill.decode.specs.checks import PadMode, check_word, levels, per_channel, size_of

Pixels = NDArray[Any]
Window = tuple[int, int, int, int]


def _three(array: ArrayLike, *dtypes: str) -> Pixels:
    pixels = np.asarray(array)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise ValueError(f"an image is (height, width) or (height, width, 1 to 4 channels), not {pixels.shape}")
    if pixels.dtype.name not in dtypes:
        raise TypeError(f"an image of {' or '.join(dtypes)} is needed, not {pixels.dtype}")
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _as_given(pixels: Pixels, array: ArrayLike) -> Pixels:
    return np.ascontiguousarray(pixels[:, :, 0] if np.ndim(array) == 2 else pixels)


_ANY = ("uint8", "uint16", "float32")


def resize(array: ArrayLike, size: int | Sequence[int], *, kernel: str | None = None, like: Like = "pillow") -> Pixels:
    """Scale an image to a size; channels do not mix.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width), (height, width, channels) or (images, ...)
        With four axes, images of one size, each by itself.
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    kernel : str, optional
        In the words of the library ("bilinear"), or "library:kernel".
    like : {"pillow", "opencv", "tensorflow", "mxnet"}
        Whose arithmetic.

    Returns
    -------
    ndarray
        Of the same dtype, but float32 from TensorFlow's kernels other than the nearest neighbor, as there.

    Raises
    ------
    ValueError, TypeError
        No such kernel, no image.
    """
    wanted, chosen = size_of("size", size), kernel_of(kernel, like)
    if np.ndim(array) == 4:
        return resize_images(_images(array, *_ANY), wanted, chosen)
    return _as_given(resize_one(_three(array, *_ANY), wanted, chosen), array)


def _images(array: ArrayLike, *dtypes: str) -> Pixels:
    """Images of one size, if there are any."""
    images = np.asarray(array)
    if images.ndim != 4 or 0 in images.shape[1:] or images.shape[3] > 4:
        raise ValueError(f"images are (images, height, width, 1 to 4 channels), not {images.shape}")
    if images.dtype.name not in dtypes:
        raise TypeError(f"images of {' or '.join(dtypes)} are needed, not {images.dtype}")
    return images


def crop(array: ArrayLike, window: Window, *, mode: PadMode = "constant", fill: int | Sequence[int] = 0) -> Pixels:
    """Take a window of an image, which may reach beyond it.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    window : (int, int, int, int)
        x, y, width and height.
    mode : {"constant", "edge", "reflect"}
        What is outside: `fill`, the outermost pixel, or the image mirrored about its outermost pixels.
    fill : int or sequence of int
        0 to 255, one for each channel or one for all.

    Returns
    -------
    ndarray of the same dtype
    """
    check_word("mode", mode, ("constant", "edge", "reflect"))
    pixels, (x, y, width, height) = _three(array, *_ANY), window
    if min(width, height) < 1:
        raise ValueError(f"a window has pixels, not {width} x {height}")
    return _as_given(cut(pixels, (x, y, width, height), mode, _fills(fill, pixels)), array)


def _fills(fill: int | Sequence[int], pixels: Pixels) -> tuple[int, ...]:
    one_each, channels = levels("fill", fill), pixels.shape[2]
    if len(one_each) not in (1, channels):
        raise ValueError(f"fill has one level for all or one for each of {channels} channels, not {len(one_each)}")
    unit = 257 if pixels.dtype == np.uint16 else 1
    return tuple(level * unit for level in (one_each if len(one_each) == channels else one_each * channels))


def flip(array: ArrayLike, *, horizontal: bool = True, vertical: bool = False) -> Pixels:
    """Mirror an image.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    horizontal, vertical : bool
        Left to right, top to bottom.

    Returns
    -------
    ndarray of the same dtype
    """
    return _as_given(flip_pixels(_three(array, *_ANY), horizontal=horizontal, vertical=vertical), array)


def affine(
    array: ArrayLike,
    matrix: ArrayLike,
    *,
    kernel: Literal["nearest", "bilinear"] = "nearest",
    fill: int | Sequence[int] = 0,
) -> Pixels:
    """Sample an image through an affine map; its size stays.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (height, width) or (height, width, channels)
    matrix : array_like of float, shape (2, 3)
        From places (x, y) in the result to places in `array`; the first pixel reaches from 0 to 1.
    kernel : {"nearest", "bilinear"}
    fill : int or sequence of int
        0 to 255, where the map leaves the image.

    Returns
    -------
    ndarray of the same dtype and shape
    """
    check_word("kernel", kernel, ("nearest", "bilinear"))
    numbers, pixels = np.asarray(matrix, np.float64), _three(array, *_ANY)
    if numbers.shape != (2, 3) or not np.isfinite(numbers).all():
        raise ValueError(f"a matrix is 2 x 3 finite numbers, not {numbers.shape}")
    _fills(fill, pixels)
    height, width, _ = pixels.shape
    whole = np.array([[0, 0, width, height]])
    moves = Moves(whole, whole[:, 2:], whole, np.zeros((1, 2), np.bool_), numbers[None])
    border = Border(warp_kernel=kernel, warp_fill=levels("fill", fill))
    white = 65535.0 if pixels.dtype == np.uint16 else 255.0
    moved = change_one(pixels, Values(pixels.dtype.name, white=white), moves=moves, border=border)
    return _as_given(moved, array)


def normalize(
    array: ArrayLike,
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    *,
    white: float = 1.0,
    dtype: Literal["float16", "float32"] = "float32",
    layout: Literal["chw", "hwc"] = "hwc",
) -> Pixels:
    """Levels to fractions: less the mean, divided by the deviation.

    Parameters
    ----------
    array : array_like of uint8 or uint16, shape (height, width) or (height, width, channels)
        float32 is taken for levels from 0 to 255.
    mean, std : float or sequence of float, optional
        In units of `white`.
    white : float
        What the brightest level (255, or 65,535 of uint16) becomes.
    dtype : {"float16", "float32"}
    layout : {"chw", "hwc"}

    Returns
    -------
    ndarray
        ``(level - mean * brightest / white) * ((white / brightest) / std)`` in float32, then rounded to `dtype`.
    """
    check_word("dtype", dtype, ("float16", "float32"))
    check_word("layout", layout, ("chw", "hwc"))
    pixels, means, deviations = _three(array, *_ANY), per_channel("mean", mean), per_channel("std", std)
    for name, numbers in (("mean", means), ("std", deviations)):
        if numbers is not None and len(numbers) not in (1, pixels.shape[2]):
            raise ValueError(f"{name} has one number or {pixels.shape[2]}, not {len(numbers)}")
    if deviations is not None and min(deviations) <= 0:
        raise ValueError(f"std is above 0, not {std}")
    how = Values(dtype, layout, False, means, deviations, white)
    done = change_one(pixels, how)
    return done.reshape(np.shape(array)) if np.ndim(array) == 2 else done
