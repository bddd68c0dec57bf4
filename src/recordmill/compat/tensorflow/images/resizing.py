"""``tf.image.resize``: TensorFlow's kernels, by the library's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.boxes import check_target, padded
from recordmill.compat.tensorflow.images.checks import framed, whole
from recordmill.compat.tensorflow.images.contents import check_attribute
from recordmill.compat.tensorflow.images.same_size import SAME_SIZE, filtered

_MOST_CHANNELS = 4
_UNANTIALIASED = ("nearest", "area")
_DIRECT = (np.uint8, np.uint16, np.float32)
_EMPTY = "input image must be of non-zero size"
_ALLOWED = (
    dtypes.int8,
    dtypes.uint8,
    dtypes.int16,
    dtypes.uint16,
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
)


class ResizeMethod:
    """Names of the kernels."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_METHODS = {value for name, value in vars(ResizeMethod).items() if name.isupper()}


@op("image.resize")
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images of another size."""
    pixels = array_of(images)
    if pixels.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    height, width = size_of(size)
    if preserve_aspect_ratio:
        height, width = fitted((height, width), (pixels.shape[-3], pixels.shape[-2]))
    return Tensor(resized(pixels, (height, width), method, antialias=antialias))


def size_of(size: Any) -> tuple[int, int]:
    """Height and width that are asked for."""
    try:
        sides = array_of(size, dtypes.int32)
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if sides.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return int(sides[0]), int(sides[1])


def fitted(size: tuple[int, int], stored: tuple[int, int]) -> tuple[int, int]:
    """Largest size of the same shape within `size`, in float32 as TensorFlow computes it."""
    wanted, sides = np.array(size, np.float32), np.array(stored, np.float32)
    if 0 in stored:
        raise InvalidArgumentError(_EMPTY, kind="bad_argument")
    scale = (wanted / sides).min()
    height, width = np.rint(scale * sides).astype(np.int32).tolist()
    return height, width


def resized(pixels: NDArray[Any], size: tuple[int, int], method: str, *, antialias: bool) -> NDArray[Any]:
    """`resize` of an array."""
    if method not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    if min(size) < 1:
        raise InvalidArgumentError("output dimensions must be positive", kind="bad_argument")
    if 0 in pixels.shape[-3:-1]:
        raise InvalidArgumentError(_EMPTY, kind="bad_argument")
    check_attribute("T", pixels.dtype, _ALLOWED)
    if method == "nearest":
        return _nearest(pixels, size)
    if size == pixels.shape[-3:-1] and method in SAME_SIZE:
        return filtered(pixels.astype(np.float32), method)
    kernel = f"antialiased_{method}" if antialias and method not in _UNANTIALIASED else method
    return _each(pixels if pixels.dtype in _DIRECT else pixels.astype(np.float32), size, kernel)


def _nearest(pixels: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Whole pixels, whatever they are: their bytes are brought to new places as channels."""
    if pixels.dtype in _DIRECT:
        return _each(pixels, size, "nearest")
    carrier = {1: np.uint8, 2: np.uint16}.get(pixels.dtype.itemsize, np.uint16)
    moved = _each(np.ascontiguousarray(pixels).view(carrier), size, "nearest")
    return np.ascontiguousarray(moved).view(pixels.dtype)


def _each(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Every image by itself, a few channels at a time."""
    if pixels.shape[-1] in range(1, _MOST_CHANNELS + 1):
        return rm.resize(pixels, size, kernel=kernel, like="tensorflow")
    dtype = pixels.dtype if kernel == "nearest" else np.dtype(np.float32)
    out = np.empty((*pixels.shape[:-3], *size, pixels.shape[-1]), dtype)
    for first in range(0, pixels.shape[-1], _MOST_CHANNELS):
        part = np.ascontiguousarray(pixels[..., first : first + _MOST_CHANNELS])
        out[..., first : first + _MOST_CHANNELS] = rm.resize(part, size, kernel=kernel, like="tensorflow")
    return out


@op("image.resize_with_pad")
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images brought to a size without changing their shape, with zeros around them."""
    return around(
        image, target_height, target_width, lambda pixels, size: resized(pixels, size, method, antialias=antialias)
    )


def around(image: Any, target_height: Any, target_width: Any, resizing: Callable[..., Any]) -> Tensor:
    """As `resize_with_pad`, with any way of resizing."""
    pixels, height, width = framed(image), whole(target_height), whole(target_width)
    check_target(height, width)
    target, stored = np.array((height, width), np.float32), np.array(pixels.shape[-3:-1], np.float32)
    exact = stored / (stored / target).max()
    inner = np.floor(exact).astype(np.int32)
    y, x = np.maximum(np.floor((target - exact) / np.float32(2)), 0).astype(np.int32)
    found = array_of(resizing(pixels, (int(inner[0]), int(inner[1]))))
    return Tensor(padded(found, int(y), int(x), height, width))
