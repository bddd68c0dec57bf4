"""MXNet's interpolation numbers in the words of the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NEAREST, BILINEAR, BICUBIC, AREA, LANCZOS = range(5)
# By the sizes: bicubic where both sides grow, area where both shrink, else bilinear.
BY_SIZE = 9
RANDOM = 10
KERNELS = ("opencv:nearest", "opencv:bilinear", "opencv:cubic", "opencv:area", "opencv:lanczos4")


def methods_of(method: int, old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.int64]:
    """Interpolation of each image: 0 to 4."""
    if method != BY_SIZE:
        return np.full(len(old), method)
    grows, shrinks = (new > old).all(axis=1), (new < old).all(axis=1)
    return np.where(grows, BICUBIC, np.where(shrinks, AREA, BILINEAR))
