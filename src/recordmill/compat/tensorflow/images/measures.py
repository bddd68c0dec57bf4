"""``tf.image.psnr``, ``total_variation`` and the gradients of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.images.levels import converted_levels

# Across and down: the weights of one row and how rows are weighted.
_SMOOTH, _SLOPE = (1, 2, 1), (-1, 0, 1)


@op("image.psnr")
def psnr(a: Any, b: Any, max_val: Any) -> Tensor:
    """Ratio of the highest signal to the noise between images, in decibels."""
    first, second = array_of(a), array_of(b)
    if first.shape[-3:] != second.shape[-3:] or first.ndim < 3:
        raise InvalidArgumentError(f"images of shapes {first.shape} and {second.shape} cannot be compared")
    single = np.dtype(np.float32)
    highest = converted_levels(np.asarray(array_of(max_val), first.dtype), single)
    errors = np.mean((converted_levels(first, single) - converted_levels(second, single)) ** 2, axis=(-3, -2, -1))
    with np.errstate(divide="ignore"):
        found = 20 * np.log(highest) / np.log(np.float32(10)) - np.float32(10 / np.log(10)) * np.log(errors)
    return wrap(found, np.float32)


@op("image.total_variation")
def total_variation(images: Any) -> Tensor:
    """Sum of the differences of neighbours, for each image."""
    values = array_of(images)
    if values.ndim not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down, across = np.abs(np.diff(values, axis=-3)), np.abs(np.diff(values, axis=-2))
    return wrap(down.sum((-3, -2, -1)) + across.sum((-3, -2, -1)), values.dtype)


@op("image.image_gradients")
def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """Differences to the pixels below and to the right; the last ones are 0."""
    values = array_of(image)
    if values.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {values.shape}.")
    down, across = np.zeros_like(values), np.zeros_like(values)
    down[:, :-1], across[:, :, :-1] = np.diff(values, axis=1), np.diff(values, axis=2)
    return Tensor(down), Tensor(across)


@op("image.sobel_edges")
def sobel_edges(image: Any) -> Tensor:
    """Slopes by Sobel's filters, of images mirrored at their edges."""
    values = array_of(image)
    height, width = values.shape[1:3]
    wide = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")

    def slope(rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
        parts = (
            wide[:, y : y + height, x : x + width] * values.dtype.type(row * column)
            for y, row in enumerate(rows)
            for x, column in enumerate(columns)
            if row * column
        )
        return sum(parts, np.zeros_like(values))

    return Tensor(np.stack([slope(_SLOPE, _SMOOTH), slope(_SMOOTH, _SLOPE)], -1))
