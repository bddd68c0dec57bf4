"""Boxes of images, brought to one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill import _core
from recordmill.decode.executors.native_one import image_error
from recordmill.decode.specs.checks import check_word, size_of

_DTYPES = ("uint8", "uint16", "float32")


def resize_boxes(
    array: ArrayLike,
    boxes: ArrayLike,
    images: ArrayLike,
    size: int | Sequence[int],
    *,
    kernel: Literal["bilinear", "nearest"] = "bilinear",
    fill: float = 0.0,
) -> NDArray[np.float32]:
    """Cut boxes out of images and scale them to one size.

    Parameters
    ----------
    array : array_like of uint8, uint16 or float32, shape (images, height, width, channels)
        Any number of channels.
    boxes : array_like of float, shape (boxes, 4)
        ``ymin, xmin, ymax, xmax``; 0 and 1 are the middles of the first and of the last pixel. They may lie beyond, and
        turn an image around.
    images : array_like of int, shape (boxes,)
        The image of each box.
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    kernel : {"bilinear", "nearest"}
    fill : float
        Of places beyond the image.

    Returns
    -------
    ndarray of float32, shape (boxes, *size, channels)
        Equal to ``tf.image.crop_and_resize``.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Shapes that do not go together, an image that is not there.
    """
    pixels: NDArray[Any] = np.asarray(array)
    places, chosen = np.asarray(boxes, np.float32), np.asarray(images, np.int64)
    wanted = size_of("size", size)
    check_word("kernel", kernel, ("bilinear", "nearest"))
    _check(pixels, places, chosen)
    flat = (np.ascontiguousarray(one).reshape(-1) for one in (pixels, places, chosen))
    values, corners, numbers = flat
    beside = (wanted, kernel == "nearest", fill)
    try:
        made = _core.cut_boxes(values, pixels.dtype.name, pixels.shape[1:], corners, numbers, *beside)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.asarray(made).reshape(len(chosen), *wanted, pixels.shape[3])


def _check(pixels: NDArray[Any], places: NDArray[Any], chosen: NDArray[Any]) -> None:
    if pixels.dtype.name not in _DTYPES:
        raise TypeError(f"images of {' or '.join(_DTYPES)} are needed, not {pixels.dtype}")
    if pixels.ndim != 4 or 0 in pixels.shape[1:]:
        raise ValueError(f"images are (images, height, width, channels), not {pixels.shape}")
    if chosen.ndim != 1 or places.shape != (len(chosen), 4):
        raise ValueError(f"boxes are (boxes, 4) and their images (boxes,), not {places.shape} and {chosen.shape}")
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(pixels):
        found = chosen.min() if chosen.min() < 0 else chosen.max()
        raise ValueError(f"images of boxes are 0 to {len(pixels) - 1}, not {found}")
    if not np.isfinite(places).all():
        raise ValueError("places of boxes are finite numbers")
