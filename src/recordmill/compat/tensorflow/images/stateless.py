"""``tf.image.stateless_random_flip_left_right`` and others that follow from a pair of seeds, as in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.colours import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from recordmill.compat.tensorflow.images.limits import check_factors, check_hue, check_range, check_size, check_window
from recordmill.compat.tensorflow.images.moves import mirrored, sliced
from recordmill.compat.tensorflow.images.philox import Philox
from recordmill.compat.tensorflow.images.quality import adjust_jpeg_quality

_LARGEST = 2**31 - 1


def _mirrored(image: Any, axis: int, seed: Any) -> Tensor:
    pixels = array_of(image)
    numbers = Philox(seed).units(int(np.prod(pixels.shape[:-3])))
    return Tensor(mirrored(pixels, axis, numbers.reshape(pixels.shape[:-3])))


@op("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """Mirror an image left to right, or leave it."""
    return _mirrored(image, -2, seed)


@op("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """Mirror an image top to bottom, or leave it."""
    return _mirrored(image, -3, seed)


@op("image.stateless_random_brightness")
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Levels with an amount added that follows from the seeds."""
    check_range(max_delta)
    return adjust_brightness(image, Philox(seed).uniform(-max_delta, max_delta))


@op("image.stateless_random_contrast")
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """Contrast multiplied by a factor that follows from the seeds."""
    check_factors(lower, upper)
    return adjust_contrast(image, Philox(seed).uniform(lower, upper))


@op("image.stateless_random_saturation")
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Saturation multiplied by a factor that follows from the seeds."""
    check_factors(lower, upper)
    return adjust_saturation(image, Philox(seed).uniform(lower, upper))


@op("image.stateless_random_hue")
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Colours turned on the circle of hues by an angle that follows from the seeds."""
    check_hue(max_delta)
    return adjust_hue(image, Philox(seed).uniform(-max_delta, max_delta))


@op("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any) -> Tensor:
    """Encode as JPEG with a quality that follows from the seeds, and decode again."""
    check_window(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, Philox(seed).below(max_jpeg_quality, min_jpeg_quality))


@op("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """Part of a tensor, at a place that follows from the seeds."""
    whole = array_of(value)
    lengths = check_size(whole, size)
    numbers = Philox(seed)
    drawn = np.array([numbers.below(_LARGEST) for _ in lengths], np.int64)
    first = drawn % (np.array(whole.shape) - lengths + 1)
    return Tensor(sliced(whole, first.tolist(), lengths.tolist()))
