"""``mx.nd.image``: operations on one image (height, width, channels) or a batch of images."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.nd.arrays import NDArray, as_ndarray

__getattr__ = create_module_getattr(__name__, {}, "use mx.image, or NumPy on .asnumpy()")


def to_tensor(data: Any) -> NDArray:
    """Convert an image or a batch to float32, divide by 255, and move the channels before height and width."""
    values = np.moveaxis(np.asarray(data), -1, -3).astype(np.float32, order="C")
    values /= np.float32(255)
    return as_ndarray(values)


def normalize(data: Any, mean: Any = 0.0, std: Any = 1.0) -> NDArray:
    """Subtract `mean` and divide by `std` (a number, or one per channel). Channels must precede height and width."""
    means, deviations = (np.atleast_1d(np.asarray(one, np.float32))[:, None, None] for one in (mean, std))
    values = np.subtract(np.asarray(data), means, dtype=np.float32)
    values /= deviations
    return as_ndarray(values)


def random_flip_left_right(data: Any) -> Any:
    """Mirror horizontally with probability 0.5; the random number comes from Python's `random`."""
    return as_ndarray(np.flip(np.asarray(data), -2)) if random.random() < 0.5 else data
