"""The numbers of MXNet's interpolation methods, and the kernels of `rm.Resize` that correspond to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Ints = NDArray[np.int64]
# Height and width, in pixels.
Size = tuple[int, int]

NEAREST, BILINEAR, BICUBIC, AREA, LANCZOS = range(5)
# BY_SIZE selects the method for each image: bicubic if both sides grow, area if both sides shrink, else bilinear.
BY_SIZE = 9
# RANDOM selects one of the methods 0 to 4 at random.
RANDOM = 10
METHODS = (NEAREST, BILINEAR, BICUBIC, AREA, LANCZOS, BY_SIZE, RANDOM)
KERNELS = ("opencv:nearest", "opencv:bilinear", "opencv:cubic", "opencv:area", "opencv:lanczos4")


def kernel_name(method: int) -> str:
    """Return the kernel of `rm.Resize` for a method other than `RANDOM`."""
    return "opencv:auto" if method == BY_SIZE else KERNELS[method]


def choose_interpolations(method: int, old: Ints, new: Ints) -> Ints:
    """Return the method (0 to 4) for resizing each image from size `old` to size `new`, both of shape (n, 2)."""
    if method != BY_SIZE:
        return np.full(len(old), method)
    grows, shrinks = (new > old).all(axis=1), (new < old).all(axis=1)
    return np.where(grows, BICUBIC, np.where(shrinks, AREA, BILINEAR))


def choose_interpolation(method: int, old: Size, new: Size) -> int:
    """Return the method (0 to 4) for resizing an image from size `old` to size `new`."""
    return int(choose_interpolations(method, np.array([old]), np.array([new]))[0])


def resize(pixels: NDArray[np.uint8], size: Size, method: int) -> NDArray[np.uint8]:
    """Resize an image with interpolation `method` (0 to 4); an image that already has `size` is returned unchanged."""
    if size == pixels.shape[:2]:
        return pixels
    return rm.resize(pixels, (max(size[0], 1), max(size[1], 1)), kernel=KERNELS[method])
