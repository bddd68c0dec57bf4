"""``tf.image.flip_left_right``, ``flip_up_down``, ``transpose`` and ``rot90``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import to_image, to_integer


@op("image.flip_left_right")
def flip_left_right(image: Any) -> Tensor:
    """``tf.image.flip_left_right``: mirror images left to right."""
    return Tensor(flip_axis(to_image(image), -2))


@op("image.flip_up_down")
def flip_up_down(image: Any) -> Tensor:
    """``tf.image.flip_up_down``: mirror images top to bottom."""
    return Tensor(flip_axis(to_image(image), -3))


@op("image.transpose")
def transpose(image: Any) -> Tensor:
    """``tf.image.transpose``: swap height and width."""
    return Tensor(np.ascontiguousarray(to_image(image).swapaxes(-3, -2)))


@op("image.rot90")
def rot90(image: Any, k: Any = 1) -> Tensor:
    """``tf.image.rot90``: rotate counterclockwise by `k` times 90 degrees."""
    return Tensor(np.ascontiguousarray(np.rot90(to_image(image), to_integer(k), axes=(-3, -2))))


def flip_axis(pixels: NDArray[Any], axis: int) -> NDArray[Any]:
    """Return a copy of an array in which one axis is reversed."""
    # `np.take` copies whole pixels. Copying a reversed view is slower.
    return np.take(pixels, np.arange(pixels.shape[axis])[::-1], axis)
