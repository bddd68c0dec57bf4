"""Turned images: float32, channels first, alone or several."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.nd import NDArray, array, wrap

Floats = Array[np.float32]
_ONE, _TWO = np.float32(1), np.float32(2)


def imrotate(src: Any, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Turn images about their centre; sizes stay, and what is not of the image is 0."""
    if zoom_in and zoom_out:
        raise ValueError("`zoom_in` and `zoom_out` cannot be both True")
    if src.dtype != np.float32:
        raise TypeError("Only `float32` images are supported by this function")
    if src.ndim == 3:
        if not isinstance(rotation_degrees, Number):
            raise TypeError("When a single image is passed the rotation angle is required to be a scalar.")
        return imrotate(wrap(np.asarray(src)[None]), rotation_degrees, zoom_in, zoom_out)[0]  # type: ignore[no-any-return]
    if src.ndim != 4:
        raise ValueError("Only 3D and 4D are supported by this function")
    angles = [rotation_degrees] * len(src) if isinstance(rotation_degrees, Number) else rotation_degrees
    degrees = np.asarray(array(angles), np.float32)
    if len(src) != len(degrees):
        raise ValueError("The number of images must be equal to the number of rotation angles")
    height, width = src.shape[2:]
    radians = (np.float32(np.pi) * degrees / np.float32(180))[:, None, None]
    x, y = _turned_grid(radians, height, width)
    if zoom_in or zoom_out:
        scale = _zoom(radians, np.float32(height), np.float32(width), zoom_out)
        x, y = x * scale, y * scale
    return wrap(np.stack([_sampled(*one) for one in zip(np.asarray(src), x, y, strict=True)]))


def random_rotate(src: Any, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Turn images as `imrotate`, by angles that `numpy.random` draws between two limits."""
    size = None if src.ndim == 3 else src.shape[0]
    low, high = angle_limits
    degrees: Any = np.random.uniform(low, high, size)  # noqa: NPY002 (np.random.seed repeats it)
    return imrotate(src, degrees if size is None else array(degrees), zoom_in, zoom_out)


def _turned_grid(radians: Floats, height: int, width: int) -> tuple[Any, Any]:
    """Where each pixel comes from: -1 and 1 are the first and last pixel of the image."""
    half_height, half_width = np.float32((height - 1) / 2), np.float32((width - 1) / 2)
    rows = np.repeat(np.arange(height, dtype=np.float32)[:, None], width, axis=1)[None] - half_height
    columns = np.repeat(np.arange(width, dtype=np.float32)[None], height, axis=0)[None] - half_width
    cosine, sine = _rounded(np.cos, radians), _rounded(np.sin, radians)
    with np.errstate(divide="ignore", invalid="ignore"):  # of one row or column, as in MXNet
        x = (columns * cosine - rows * sine) / half_width
        y = (columns * sine + rows * cosine) / half_height
    return x, y


def _rounded(function: Any, values: Floats) -> Floats:
    """Function of double precision, rounded: what the C library gives."""
    return np.asarray(function(values.astype(np.float64)), np.float32)


def _zoom(radians: Floats, height: np.float32, width: np.float32, out: bool) -> Floats:
    """Factor by which the turned grid grows, or shrinks."""
    reach = np.sqrt(height * height + width * width)
    corner, turn = np.float32(np.arctan(np.float64(height / width))), np.abs(radians)
    far_x, far_y = (
        np.maximum(*(np.abs(reach * _rounded(function, angle)) for angle in (corner + turn, corner - turn)))
        for function in (np.cos, np.sin)
    )
    found: Floats = np.maximum(far_x / width, far_y / height) if out else np.minimum(width / far_x, height / far_y)
    return found


def _sampled(image: Floats, x: Floats, y: Floats) -> Floats:
    """Image (channels, height, width) at places between its pixels; beyond it are zeros."""
    height, width = image.shape[1:]
    across, down = ((x + _ONE) * np.float32(width - 1) / _TWO, (y + _ONE) * np.float32(height - 1) / _TWO)
    left, top = np.floor(across), np.floor(down)
    near_x, near_y = _ONE - (across - left), _ONE - (down - top)
    far_x, far_y = 1.0 - near_x.astype(np.float64), 1.0 - near_y.astype(np.float64)
    found = _at(image, left, top) * near_y * near_x + (_at(image, left + 1, top) * near_y) * far_x
    found = found + _at(image, left, top + 1) * far_y * near_x + _at(image, left + 1, top + 1) * far_y * far_x
    return np.asarray(found, np.float32)


def _at(image: Floats, x: Floats, y: Floats) -> Floats:
    """Pixels, or zeros outside the image."""
    height, width = image.shape[1:]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    places = np.where(inside, y, 0).astype(np.int64) * width + np.where(inside, x, 0).astype(np.int64)
    return np.where(inside, image.reshape(len(image), -1).take(places, axis=1), np.float32(0))
