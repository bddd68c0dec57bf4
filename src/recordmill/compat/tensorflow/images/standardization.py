"""``tf.image.per_image_standardization``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor

_AXES = (-3, -2, -1)
# Values the squares of which are in memory together.
_PART = 1 << 14


@op("image.per_image_standardization")
def per_image_standardization(image: Any) -> Tensor:
    """Every image less its mean, divided by its deviation, which counts as ``1 / sqrt(values)`` where it is smaller."""
    values = array_of(image)
    if values.ndim < 3:
        raise ValueError(f"'image' (shape {TensorShape(values.shape)}) must be at least three-dimensional.")
    if 0 in values.shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {TensorShape(values.shape)}")
    count = math.prod(values.shape[-3:])
    pixels = values.astype(np.float32)
    mean = _sum(values if values.dtype == np.uint8 else pixels) / count
    pixels -= mean.astype(np.float32)
    deviation = np.sqrt(_sum_of_squares(pixels) / count).astype(np.float32)
    pixels /= np.maximum(deviation, np.float32(1) / np.sqrt(np.float32(count)))
    return Tensor(pixels)


def _sum(pixels: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of each image; that of bytes is exact as a whole number, too."""
    small = pixels.dtype == np.uint8 and pixels.size < 1 << 24
    total = pixels.sum(axis=_AXES, keepdims=True, dtype=np.uint32 if small else np.float64)
    return np.asarray(total, np.float64)


def _sum_of_squares(pixels: NDArray[np.float32]) -> NDArray[np.float64]:
    if not pixels.flags.c_contiguous:
        return np.asarray(np.square(pixels, dtype=np.float64).sum(axis=_AXES, keepdims=True))
    images = pixels.reshape(-1, math.prod(pixels.shape[-3:]))
    squares = np.empty(min(images.shape[1], _PART), np.float64)
    return np.array([_halves(image, squares) for image in images]).reshape(*pixels.shape[:-3], 1, 1, 1)


def _halves(values: NDArray[np.float32], squares: NDArray[np.float64]) -> Any:
    """Sum of squares in halves, as NumPy adds them, with no more in memory than a part of them."""
    count = len(values)
    if count > _PART:
        left = count // 2 // 8 * 8
        return _halves(values[:left], squares) + _halves(values[left:], squares)
    part = squares[:count]
    np.copyto(part, values)
    np.multiply(part, part, out=part)
    return np.add.reduce(part)
