"""``tf.image.flip_left_right`` and the other moves that keep every pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.pixel_copies import laid_out
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.checks import image_of, whole


@op("image.flip_left_right")
def flip_left_right(image: Any) -> Tensor:
    """Mirror left to right."""
    return Tensor(laid_out(image_of(image)[..., ::-1, :]))


@op("image.flip_up_down")
def flip_up_down(image: Any) -> Tensor:
    """Mirror top to bottom."""
    return Tensor(laid_out(image_of(image)[..., ::-1, :, :]))


@op("image.transpose")
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Exchange height and width."""
    return Tensor(laid_out(image_of(image).swapaxes(-3, -2)))


@op("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turn by quarters, against the clock."""
    return Tensor(laid_out(np.rot90(image_of(image), whole(k), axes=(-3, -2))))
