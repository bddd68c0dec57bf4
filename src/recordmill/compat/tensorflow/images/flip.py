"""``tf.image.flip_left_right`` and the other rearrangements of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import to_image, to_integer


@op("image.flip_left_right")
def flip_left_right(image: Any) -> Tensor:
    """Mirror left to right."""
    return Tensor(flip_axis(to_image(image), -2))


@op("image.flip_up_down")
def flip_up_down(image: Any) -> Tensor:
    """Mirror top to bottom."""
    return Tensor(flip_axis(to_image(image), -3))


@op("image.transpose")
def transpose(image: Any) -> Tensor:
    """Exchange height and width."""
    return Tensor(np.ascontiguousarray(to_image(image).swapaxes(-3, -2)))


@op("image.rot90")
def rot90(image: Any, k: Any = 1) -> Tensor:
    """Rotate counterclockwise by multiples of 90 degrees."""
    return Tensor(np.ascontiguousarray(np.rot90(to_image(image), to_integer(k), axes=(-3, -2))))


def flip_axis(pixels: NDArray[Any], axis: int) -> NDArray[Any]:
    """Reverse an axis of an array; `take` copies whole pixels, which a reversed view does not."""
    return np.take(pixels, np.arange(pixels.shape[axis])[::-1], axis)
