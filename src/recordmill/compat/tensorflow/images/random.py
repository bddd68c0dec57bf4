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
    """Draw for one image."""
    return numbers.random(dtype=np.float32)  # type: ignore[return-value]


def corner(numbers: np.random.Generator, shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Draw where a part of a tensor begins."""
    rooms = [whole - part for whole, part in zip(shape, lengths, strict=True)]
    return [int(numbers.integers(room + 1)) if room else 0 for room in rooms]


def _chances(image: NDArray[Any], seed: int | None) -> NDArray[np.float32]:
    """A number for the image, or for each of a batch."""
    draws: NDArray[np.float32] = generator(seed).random(image.shape[:-3], dtype=np.float32)
    return np.asarray(draws)


@op("image.random_flip_left_right", always=True)
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirror an image left to right, or leave it, with equal chances."""
    pixels = array_of(image)
    return Tensor(mirrored(pixels, -2, _chances(pixels, seed)))


@op("image.random_flip_up_down", always=True)
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Mirror an image top to bottom, or leave it, with equal chances."""
    pixels = array_of(image)
    return Tensor(mirrored(pixels, -3, _chances(pixels, seed)))


@op("image.random_brightness", always=True)
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Levels with an amount added that is drawn."""
    check_range(max_delta)
    return adjust_brightness(image, _uniform(-max_delta, max_delta, seed))


@op("image.random_contrast", always=True)
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Contrast multiplied by a factor that is drawn."""
    check_factors(lower, upper)
    return adjust_contrast(image, _uniform(lower, upper, seed))


@op("image.random_saturation", always=True)
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Saturation multiplied by a factor that is drawn."""
    check_factors(lower, upper)
    return adjust_saturation(image, _uniform(lower, upper, seed))


@op("image.random_hue", always=True)
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Colours turned on the circle of hues by an angle that is drawn."""
    check_hue(max_delta)
    return adjust_hue(image, _uniform(-max_delta, max_delta, seed))


@op("image.random_jpeg_quality", always=True)
def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None) -> Tensor:
    """Encode as JPEG with a quality that is drawn, and decode again."""
    check_window(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, int(generator(seed).integers(min_jpeg_quality, max_jpeg_quality)))


@op("image.random_crop", always=True)
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Part of a tensor, at a place that is drawn."""
    whole = array_of(value)
    lengths = check_size(whole, size).tolist()
    return Tensor(sliced(whole, corner(generator(seed), whole.shape, lengths), lengths))
