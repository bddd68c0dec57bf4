"""``tf.image.per_image_standardization``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor

_AXES = (-3, -2, -1)


@op("image.per_image_standardization")
def per_image_standardization(image: Any) -> Tensor:
    """Every image less its mean, divided by its deviation, which counts as ``1 / sqrt(values)`` where it is smaller.

    Parameters
    ----------
    image : tensor of numbers, shape (..., height, width, channels)

    Returns
    -------
    Tensor of float32
        Sums are more exact than TensorFlow's, which adds in float32: values differ by some parts of a million.

    Raises
    ------
    ValueError
        Fewer than three axes.
    """
    values = array_of(image)
    if values.ndim < 3:
        raise ValueError(f"'image' (shape {TensorShape(values.shape)}) must be at least three-dimensional.")
    if 0 in values.shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {TensorShape(values.shape)}")
    pixels = values.astype(np.float32)
    mean = pixels.mean(axis=_AXES, keepdims=True, dtype=np.float64).astype(np.float32)
    centred = pixels - mean
    deviation = np.sqrt(np.square(centred, dtype=np.float64).mean(axis=_AXES, keepdims=True)).astype(np.float32)
    least = np.float32(1) / np.sqrt(np.float32(np.prod(values.shape[-3:])))
    return Tensor(centred / np.maximum(deviation, least))
