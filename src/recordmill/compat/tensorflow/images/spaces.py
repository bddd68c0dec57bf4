"""``tf.image.rgb_to_grayscale`` and the other changes of what channels mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.checks import check_numbers
from recordmill.compat.tensorflow.images.hues import colours_of, hsv_of
from recordmill.compat.tensorflow.images.levels import converted_levels

_WEIGHTS = (0.2989, 0.587, 0.114)


@op("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Brightness of colours."""
    values = array_of(images)
    check_numbers(values)
    if not values.ndim or values.shape[-1] != 3:
        channels = values.shape[-1] if values.ndim else 1
        message = f"Matrix size-incompatible: In[0]: [{values.size // max(channels, 1)},{channels}], In[1]: [3,1]"
        raise InvalidArgumentError(message, kind="bad_shape")
    floats = converted_levels(values, np.dtype(np.float32))
    grey = np.zeros(values.shape[:-1], np.float32)
    for channel, weight in enumerate(_WEIGHTS):
        grey += floats[..., channel] * np.float32(weight)
    return Tensor(converted_levels(grey[..., None], values.dtype))


@op("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Grey as three equal colours."""
    values = array_of(images)
    if values.ndim < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if values.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1, not {TensorShape(values.shape)}.")
    return Tensor(np.repeat(values, 3, axis=-1))


@op("image.rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colours."""
    return Tensor(hsv_of(_floats(images)))


@op("image.hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Colours of hue, saturation and value."""
    return Tensor(colours_of(_floats(images)))


def _floats(images: Any) -> NDArray[Any]:
    values = array_of(images)
    if not isinstance(images, Tensor) and values.dtype.kind in "iuf":
        values = values.astype(np.float32)
    if values.dtype.kind != "f":
        allowed = "half, bfloat16, float, double"
        raise InvalidArgumentError(
            f"Value for attr 'T' of {values.dtype} is not in the list of allowed values: {allowed}", kind="bad_dtype"
        )
    if not values.ndim:
        raise InvalidArgumentError("input must be at least 1D[]", kind="bad_shape")
    if values.shape[-1] != 3:
        raise FailedPreconditionError(f"input must have 3 channels but input only has {values.shape[-1]} channels.")
    return values
