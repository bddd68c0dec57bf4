"""``tf.image.ssim`` and ``ssim_multiscale``: how alike images look.

References
----------
Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity", 2004
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.images.levels import converted_levels

_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
Pixels = NDArray[Any]


@op("image.ssim")
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Structural similarity of images; 1 for the same."""
    first, second, highest = _pair(img1, img2, max_val, filter_size)
    whole, _ = _compared(first, second, highest, _window(filter_size, filter_sigma), k1, k2)
    return wrap(np.mean(whole, axis=-1) if return_index_map else np.mean(whole, axis=(-3, -2, -1)), np.float32)


@op("image.ssim_multiscale")
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = _WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Structural similarity of images and of their halves, quarters and so on, multiplied; as `ssim`."""
    first, second, highest = _pair(img1, img2, max_val, filter_size)
    window, found = _window(filter_size, filter_sigma), np.ones((*first.shape[:-3], first.shape[-1]), np.float32)
    for place, power in enumerate(power_factors):
        if place:
            first, second = _halved(first), _halved(second)
            _check_size(first, filter_size)
        whole, contrast = _compared(first, second, highest, window, k1, k2)
        last = place == len(power_factors) - 1
        each = np.maximum(np.mean(whole if last else contrast, axis=(-3, -2)), 0)
        found = found * each ** np.float32(power)
    return wrap(np.mean(found, axis=-1), np.float32)


def _pair(img1: Any, img2: Any, max_val: Any, filter_size: int) -> tuple[Pixels, Pixels, np.float32]:
    first, second = array_of(img1), array_of(img2)
    if first.ndim < 3 or first.shape[-3:] != second.shape[-3:]:
        raise ValueError(f"Shapes {first.shape[-3:]} and {second.shape[-3:]} are incompatible")
    single = np.dtype(np.float32)
    highest = converted_levels(np.asarray(array_of(max_val), first.dtype), single)
    first, second = converted_levels(first, single), converted_levels(second, single)
    _check_size(first, filter_size)
    return first, second, np.float32(highest)


def _check_size(images: Pixels, filter_size: int) -> None:
    if min(images.shape[-3:-1]) < filter_size:
        raise InvalidArgumentError(
            f"images of shape {images.shape} are smaller than the filter, which is {filter_size}"
        )


def _window(size: int, sigma: float) -> Pixels:
    """Weights of a Gaussian bell, along one axis."""
    places = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    bell = np.exp(-(places**2) / np.float32(2 * sigma**2))
    return (bell / bell.sum()).astype(np.float32)  # type: ignore[no-any-return]


def _smoothed(images: Pixels, window: Pixels) -> Pixels:
    for axis in (-3, -2):
        count = images.shape[axis] - len(window) + 1
        parts = (np.take(images, range(at, at + count), axis) * weight for at, weight in enumerate(window))
        images = np.asarray(sum(parts))
    return images


def _compared(
    first: Pixels, second: Pixels, highest: np.float32, window: Pixels, k1: float, k2: float
) -> tuple[Pixels, Pixels]:
    """Similarity at each place, and the part of it that is contrast and structure."""
    small, tiny = (np.float32(k) * highest for k in (k1, k2))
    mean, other = _smoothed(first, window), _smoothed(second, window)
    product, squares = mean * other * 2, mean**2 + other**2
    light = (product + small**2) / (squares + small**2)
    shared = _smoothed(first * second, window) * 2
    spread = _smoothed(first**2 + second**2, window)
    contrast = (shared - product + tiny**2) / (spread - squares + tiny**2)
    return light * contrast, contrast


def _halved(images: Pixels) -> Pixels:
    """Means of squares of four pixels; odd ends are mirrored."""
    odd = [(0, 0)] * (images.ndim - 3) + [(0, images.shape[-3] % 2), (0, images.shape[-2] % 2), (0, 0)]
    wide = np.pad(images, odd, "symmetric")
    rows = (wide[..., 0::2, :, :] + wide[..., 1::2, :, :]) / 2
    return np.asarray((rows[..., :, 0::2, :] + rows[..., :, 1::2, :]) / 2, np.float32)
