"""``tf.image.resize`` and ``resize_with_pad``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import raise_invalid, to_image, to_integer
from recordmill.compat.tensorflow.images.crop import check_target_size, pad_image

Size = tuple[int, int]

_MAX_CHANNELS = 4
_NATIVE_DTYPES = (np.uint8, np.uint16, np.float32)


class ResizeMethod:
    """``tf.image.ResizeMethod``: names of the interpolation methods."""

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
) -> Tensor:
    """``tf.image.resize``: resize an image or a batch to `size` (height, width) with one of the `ResizeMethod` filters.

    The methods lanczos3, lanczos5, gaussian and mitchellcubic do not filter images that already have this size.
    """
    pixels = array_of(images)
    target = compute_output_size(pixels, size, preserve_aspect_ratio=preserve_aspect_ratio)
    return Tensor(resize_pixels(pixels, target, method, antialias=antialias))


@op("image.resize_with_pad")
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """``tf.image.resize_with_pad``: scale images to fit the target without distortion, and pad with zeros."""

    def resize_to_size(pixels: NDArray[Any], size: Size) -> NDArray[Any]:
        return resize_pixels(pixels, size, method, antialias=antialias)

    return fit_and_pad(image, target_height, target_width, resize_to_size)


def compute_output_size(pixels: NDArray[Any], size: Any, *, preserve_aspect_ratio: bool) -> Size:
    """Return the output size (height, width). If the aspect ratio is kept, the size is computed in float32."""
    if pixels.ndim not in (3, 4):
        raise ValueError(f"images must have 3 or 4 dimensions, got shape {pixels.shape}")
    try:
        sides = array_of(size, dtypes.int32)
    except (TypeError, ValueError):
        raise ValueError("size must be a 1-D int32 tensor") from None
    if sides.shape != (2,):
        raise ValueError(f"size must have 2 elements, height and width, got shape {sides.shape}")
    if preserve_aspect_ratio:
        stored = np.array(pixels.shape[-3:-1], np.float32)
        check_not_empty(pixels)
        scale = (sides.astype(np.float32) / stored).min()
        sides = np.rint(scale * stored).astype(np.int32)
    height, width = sides.tolist()
    return height, width


def check_not_empty(pixels: NDArray[Any]) -> None:
    """Raise InvalidArgumentError for an image without pixels."""
    if 0 in pixels.shape[-3:-1]:
        raise_invalid(f"image must not be empty, got shape {pixels.shape}")


def resize_pixels(pixels: NDArray[Any], size: Size, method: str, *, antialias: bool) -> NDArray[Any]:
    """Resize one image or a batch of images in an array."""
    if method not in _METHODS:
        raise ValueError(f"method must be one of {sorted(_METHODS)}, got {method!r}")
    if min(size) < 1:
        raise_invalid(f"size must be positive, got {size}")
    check_not_empty(pixels)
    if pixels.dtype.kind not in "iuf":
        raise_invalid(f"images must hold integers or floats, got {pixels.dtype}")
    if method == "nearest" and pixels.dtype not in _NATIVE_DTYPES:
        rows, columns = (_compute_nearest_indices(*lengths) for lengths in zip(pixels.shape[-3:-1], size, strict=True))
        return pixels[..., rows[:, None], columns, :]
    kernel = f"antialiased_{method}" if antialias and method not in ("nearest", "area") else method
    if pixels.dtype not in _NATIVE_DTYPES:
        pixels = pixels.astype(np.float32)
    if 1 <= pixels.shape[-1] <= _MAX_CHANNELS:
        return rm.resize(pixels, size, kernel=kernel, like="tensorflow")
    out = np.empty((*pixels.shape[:-3], *size, pixels.shape[-1]), pixels.dtype if method == "nearest" else np.float32)
    for first in range(0, pixels.shape[-1], _MAX_CHANNELS):
        part = np.ascontiguousarray(pixels[..., first : first + _MAX_CHANNELS])
        out[..., first : first + _MAX_CHANNELS] = rm.resize(part, size, kernel=kernel, like="tensorflow")
    return out


def _compute_nearest_indices(length: int, wanted: int) -> NDArray[np.int64]:
    scale = np.float32(length) / np.float32(wanted)
    centers = (np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale
    indices: NDArray[np.int64] = np.minimum(np.floor(centers).astype(np.int64), length - 1)
    return indices


def fit_and_pad(
    image: Any, target_height: Any, target_width: Any, resize_to: Callable[[NDArray[Any], Size], Any]
) -> Tensor:
    """Resize images to fit the target without distortion, and pad with zeros. Call `resize_to` for the resizing."""
    pixels, height, width = to_image(image), to_integer(target_height), to_integer(target_width)
    check_target_size(height, width)
    target, stored = np.array((height, width), np.float32), np.array(pixels.shape[-3:-1], np.float32)
    exact = stored / (stored / target).max()
    inner_height, inner_width = np.floor(exact).astype(np.int32).tolist()
    y, x = np.maximum(np.floor((target - exact) / np.float32(2)), 0).astype(np.int32).tolist()
    return Tensor(pad_image(array_of(resize_to(pixels, (inner_height, inner_width))), y, x, height, width))
