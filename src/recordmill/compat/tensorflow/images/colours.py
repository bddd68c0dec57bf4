"""``tf.image.adjust_brightness`` and the other changes of colour by a given amount."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.checks import check_axes, check_numbers, number_of
from recordmill.compat.tensorflow.images.contrast import contrasted, contrasted_bytes
from recordmill.compat.tensorflow.images.level_tables import MANY, by_table
from recordmill.compat.tensorflow.images.levels import converted_levels

Floats = NDArray[Any]


def _in_floats(image: Any, change: Callable[[Floats], Floats], *, saturate: bool) -> Tensor:
    """Levels from 0 to 1, changed, and back to the dtype they had."""
    values = array_of(image)
    check_numbers(values)
    kept = values.dtype in (np.float16, np.float32)
    floats = values if kept else converted_levels(values, np.dtype(np.float32))
    return Tensor(converted_levels(change(floats), values.dtype, saturate=saturate))


def _by_level(image: Any, change: Callable[[Floats], Floats]) -> Tensor:
    """Levels changed one by one, whole numbers stopping at their limits."""
    values = array_of(image)
    if values.dtype != np.uint8:
        return _in_floats(values, change, saturate=True)
    return Tensor(by_table(values, lambda levels: _in_floats(levels, change, saturate=True).values))


@op("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Levels with an amount added."""
    amount = number_of(delta)
    return _by_level(image, lambda floats: floats + floats.dtype.type(amount))


@op("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Levels further from, or nearer to, the mean of their image and channel."""
    factor = number_of(contrast_factor)

    values = array_of(images)
    if values.dtype == np.uint8 and values.ndim > 2 and values.size >= MANY:
        return Tensor(contrasted_bytes(values, factor))

    def change(floats: Floats) -> Floats:
        check_axes(floats)
        with np.errstate(invalid="ignore", over="ignore"):
            return contrasted(floats.astype(np.float32, copy=False), factor).astype(floats.dtype, copy=False)

    return _in_floats(values, change, saturate=True)


@op("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Levels from 0 to 1, raised to a power and multiplied."""
    power, factor = number_of(gamma), number_of(gain)
    if power < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def change(floats: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            raised: Floats = floats.dtype.type(factor) * floats ** floats.dtype.type(power)
        return raised

    return _by_level(image, change)


@op("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Colours with their saturation multiplied, at most to the full."""
    factor = number_of(saturation_factor)
    return _recoloured(image, lambda colours: rm.adjust_saturation(colours, factor, like="tensorflow"))


@op("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Colours turned on the circle of hues."""
    amount = number_of(delta)
    if not -1 <= amount <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _recoloured(image, lambda colours: rm.adjust_hue(colours, amount, like="tensorflow"))


def _recoloured(image: Any, change: Callable[[Floats], Floats]) -> Tensor:
    """Colours changed: those of uint8 on the way to floats and back, others as floats."""
    values = array_of(image)

    def changed(colours: Floats) -> Floats:
        check_axes(colours)
        if colours.shape[-1] != 3:
            message = f"input must have 3 channels but instead has {colours.shape[-1]} channels."
            raise InvalidArgumentError(message, kind="bad_shape")
        narrow = colours.dtype == np.float16
        return change(colours.astype(np.float32)).astype(np.float16) if narrow else change(colours)

    return Tensor(changed(values)) if values.dtype == np.uint8 else _in_floats(values, changed, saturate=False)
