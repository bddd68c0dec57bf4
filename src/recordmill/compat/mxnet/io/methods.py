"""Which interpolation an image is resized with, where that is left to chance or to its size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.kernels import KERNELS, RANDOM, methods_of

Size = tuple[int, int]


def drawn_method(method: int, old: Size, new: Size, chance: Numbers) -> int:
    """Interpolation of one image.

    Parameters
    ----------
    method : int
        0 to 4, 9 for one by the sizes, 10 for one by chance.
    old, new : (int, int)
        Sizes.
    chance : Numbers
        Asked for method 10 alone.

    Returns
    -------
    int
        0 to 4.
    """
    if method == RANDOM:
        return chance.integer(0, 4)
    return int(methods_of(method, np.array([old]), np.array([new]))[0])


def resized(pixels: NDArray[np.uint8], size: Size, method: int) -> NDArray[np.uint8]:
    """Scale an image, if it has another size.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, channels)
    size : (int, int)
        Height and width.
    method : int
        0 to 4.

    Returns
    -------
    ndarray of uint8, shape (*size, channels)
    """
    if size == pixels.shape[:2]:
        return pixels
    return rm.resize(pixels, (max(size[0], 1), max(size[1], 1)), kernel=KERNELS[method])
