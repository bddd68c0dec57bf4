"""``tf.image.random_flip_left_right`` and the other changes by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.draws import generator
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.colours import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from recordmill.compat.tensorflow.images.limits import check_factors, check_hue, check_range, check_size, check_window
from recordmill.compat.tensorflow.images.moves import mirrored, sliced
from recordmill.compat.tensorflow.images.quality import adjust_jpeg_quality


def _uniform(low: float, high: float, seed: int | None) -> float:
    return float(np.float32(generator(seed).uniform(low, high)))


def chance(numbers: np.random.Generator) -> np.float32:
    """Draw for one image.

    Parameters
    ----------
    numbers : numpy.random.Generator

    Returns
    -------
    numpy.float32
        From 0 to 1.
    """
    return numbers.random(dtype=np.float32)  # type: ignore[return-value]


def corner(numbers: np.random.Generator, shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Draw where a part of a tensor begins.

    Parameters
    ----------
    numbers : numpy.random.Generator
    shape, lengths : sequence of int
        Of the tensor, and of the part.

    Returns
    -------
    list of int
        A place on each axis.
    """
    rooms = [whole - part for whole, part in zip(shape, lengths, strict=True)]
    return [int(numbers.integers(room + 1)) if room else 0 for room in rooms]


def _chances(image: NDArray[Any], seed: int | None) -> NDArray[np.float32]:
    """A number for the image, or for each of a batch."""
    draws: NDArray[np.float32] = generator(seed).random(image.shape[:-3], dtype=np.float32)
    return np.asarray(draws)


@op("image.random_flip_left_right", always=True)
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirror an image left to right, or leave it, with equal chances.

    Parameters
    ----------
    image : tensor, shape (height, width, channels) or (batch, height, width, channels)
        Every image of a batch has its own chance.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape
    """
    pixels = array_of(image)
    return Tensor(mirrored(pixels, -2, _chances(pixels, seed)))


@op("image.random_flip_up_down", always=True)
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Mirror an image top to bottom, or leave it, with equal chances.

    Parameters
    ----------
    image : tensor, shape (height, width, channels) or (batch, height, width, channels)
        Every image of a batch has its own chance.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape
    """
    pixels = array_of(image)
    return Tensor(mirrored(pixels, -3, _chances(pixels, seed)))


@op("image.random_brightness", always=True)
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Levels with an amount added that is drawn.

    Parameters
    ----------
    image : tensor of numbers
    max_delta : float
        Largest amount, in either direction.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        `max_delta` is negative.
    """
    check_range(max_delta)
    return adjust_brightness(image, _uniform(-max_delta, max_delta, seed))


@op("image.random_contrast", always=True)
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Contrast multiplied by a factor that is drawn.

    Parameters
    ----------
    image : tensor of numbers, shape (..., height, width, channels)
    lower, upper : float
        Range of the factor.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        No range, or below zero.
    """
    check_factors(lower, upper)
    return adjust_contrast(image, _uniform(lower, upper, seed))


@op("image.random_saturation", always=True)
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Saturation multiplied by a factor that is drawn.

    Parameters
    ----------
    image : tensor of numbers, shape (..., 3)
    lower, upper : float
        Range of the factor.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        No range, or below zero.
    """
    check_factors(lower, upper)
    return adjust_saturation(image, _uniform(lower, upper, seed))


@op("image.random_hue", always=True)
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Colours turned on the circle of hues by an angle that is drawn.

    Parameters
    ----------
    image : tensor of numbers, shape (..., 3)
    max_delta : float
        Largest angle in either direction: 0 to 0.5 turns.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        Another `max_delta`.
    """
    check_hue(max_delta)
    return adjust_hue(image, _uniform(-max_delta, max_delta, seed))


@op("image.random_jpeg_quality", always=True)
def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None) -> Tensor:
    """Encode as JPEG with a quality that is drawn, and decode again.

    Parameters
    ----------
    image : tensor of numbers, shape (height, width, 1 or 3)
    min_jpeg_quality, max_jpeg_quality : int
        0 to 100; the largest one is not drawn.
    seed : int, optional

    Returns
    -------
    Tensor of the same dtype and shape

    Raises
    ------
    ValueError
        No range of qualities.
    """
    check_window(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, int(generator(seed).integers(min_jpeg_quality, max_jpeg_quality)))


@op("image.random_crop", always=True)
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Part of a tensor, at a place that is drawn.

    Parameters
    ----------
    value : tensor
    size : tensor of int32, one length for each axis
    seed : int, optional
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of the same dtype, shape `size`

    Raises
    ------
    InvalidArgumentError
        The part is larger than the tensor.
    """
    whole = array_of(value)
    lengths = check_size(whole, size).tolist()
    return Tensor(sliced(whole, corner(generator(seed), whole.shape, lengths), lengths))
