"""``mx.nd.image``: operations on one image (height, width, channels), or on several of one size."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap

__getattr__ = create_module_getattr(__name__, {}, "use mx.image, or NumPy on .asnumpy()")


def to_tensor(data: Any) -> NDArray:
    """Move the channels to the front and divide by 255, as float32."""
    values = np.moveaxis(np.asarray(data), -1, -3).astype(np.float32, order="C")
    values /= np.float32(255)
    return wrap(values)


def normalize(data: Any, mean: Any = 0.0, std: Any = 1.0) -> NDArray:
    """Subtract `mean` and divide by `std`, each one number or one per channel; the channels must come first."""
    means, deviations = (np.atleast_1d(np.asarray(one, np.float32))[:, None, None] for one in (mean, std))
    values = np.subtract(np.asarray(data), means, dtype=np.float32)
    values /= deviations
    return wrap(values)


def random_flip_left_right(data: Any) -> Any:
    """Flip left and right with probability 0.5, drawn from Python's `random`."""
    return wrap(np.flip(np.asarray(data), -2)) if random.random() < 0.5 else data
