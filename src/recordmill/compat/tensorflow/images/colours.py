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
from recordmill.compat.tensorflow.images.levels import converted_levels

Floats = NDArray[Any]


def _in_floats(image: Any, change: Callable[[Floats], Floats], *, saturate: bool) -> Tensor:
    """Levels from 0 to 1, changed, and back to the dtype they had."""
    values = array_of(image)
    check_numbers(values)
    kept = values.dtype in (np.float16, np.float32)
    floats = values if kept else converted_levels(values, np.dtype(np.float32))
    return Tensor(converted_levels(change(floats), values.dtype, saturate=saturate))


@op("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Levels with an amount added.

    Parameters
    ----------
    image : tensor of numbers
    delta : float
        In units of the brightest level.

    Returns
    -------
    Tensor of the same dtype and shape
        Whole numbers stop at their limits.
    """
    amount = number_of(delta)
    return _in_floats(image, lambda floats: floats + floats.dtype.type(amount), saturate=True)


@op("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Levels further from, or nearer to, the mean of their image and channel.

    Parameters
    ----------
    images : tensor of numbers, shape (..., height, width, channels)
    contrast_factor : float

    Returns
    -------
    Tensor of the same dtype and shape
        Whole numbers stop at their limits.

    Raises
    ------
    InvalidArgumentError
        Fewer than three axes.
    """
    factor = number_of(contrast_factor)

    def change(floats: Floats) -> Floats:
        check_axes(floats)
        wide = floats.astype(np.float32)
        mean = channel_means(wide)
        return ((wide - mean) * np.float32(factor) + mean).astype(floats.dtype)

    return _in_floats(images, change, saturate=True)


def channel_means(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean of every channel of every image, added in halves as TensorFlow adds, and so with its rounding.

    Parameters
    ----------
    images : ndarray of float32, shape (..., height, width, channels)

    Returns
    -------
    ndarray of float32, shape (..., 1, 1, channels)
    """
    *batch, height, width, channels = images.shape
    sums = images.reshape(*batch, height * width, channels)
    while sums.shape[-2] > 1:
        right = sums.shape[-2] // 2
        left = sums.shape[-2] - right
        front = sums[..., :right, :] + sums[..., left:, :]
        sums = np.concatenate([front, sums[..., right:left, :]], axis=-2)
    return (sums * np.float32(1 / (height * width))).reshape(*batch, 1, 1, channels)


@op("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Levels from 0 to 1, raised to a power and multiplied.

    Parameters
    ----------
    image : tensor of numbers
    gamma, gain : float

    Returns
    -------
    Tensor of the same dtype and shape
        Whole numbers stop at their limits.

    Raises
    ------
    ValueError
        `gamma` is negative.
    """
    power, factor = number_of(gamma), number_of(gain)
    if power < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def change(floats: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            raised: Floats = floats.dtype.type(factor) * floats ** floats.dtype.type(power)
        return raised

    return _in_floats(image, change, saturate=True)


@op("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Colours with their saturation multiplied, at most to the full.

    Parameters
    ----------
    image : tensor of numbers, shape (..., 3)
        Red, green, blue.
    saturation_factor : float
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    InvalidArgumentError
        No colours.
    """
    factor = number_of(saturation_factor)
    return _recoloured(image, lambda colours: rm.adjust_saturation(colours, factor, like="tensorflow"))


@op("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Colours turned on the circle of hues.

    Parameters
    ----------
    image : tensor of numbers, shape (..., 3)
        Red, green, blue.
    delta : float
        -1 to 1, in full turns.
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        A delta beyond that.
    InvalidArgumentError
        No colours.
    """
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
