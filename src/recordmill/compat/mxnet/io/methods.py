"""Which interpolation an image is resized with, where that is left to chance or to its size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.kernels import KERNELS, RANDOM, methods_of

Size = tuple[int, int]


def drawn_method(method: int, old: Size, new: Size, chance: Numbers) -> int:
    """Interpolation of one image."""
    if method == RANDOM:
        return chance.integer(0, 4)
    return int(methods_of(method, np.array([old]), np.array([new]))[0])


def resized(pixels: NDArray[np.uint8], size: Size, method: int) -> NDArray[np.uint8]:
    """Scale an image, if it has another size."""
    if size == pixels.shape[:2]:
        return pixels
    return rm.resize(pixels, (max(size[0], 1), max(size[1], 1)), kernel=KERNELS[method])
