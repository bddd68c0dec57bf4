"""Resize images without half-pixel centers, as TensorFlow 1 does: ``tf.compat.v1.image.resize`` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images import resize as v2
from recordmill.compat.tensorflow.images.arguments import raise_invalid
from recordmill.compat.tensorflow.images.resize import (
    Size,
    check_not_empty,
    compute_output_size,
    fit_and_pad,
    resize_pixels,
)

_METHODS = ("bilinear", "nearest", "bicubic", "area")
# Coefficient A of the cubic kernel, and steps per pixel in the table of kernel weights. Both are TensorFlow's values.
_CUBIC, _CUBIC_STEPS = -0.75, 1024


class ResizeMethod:
    """``tf.compat.v1.image.ResizeMethod``: numbers of the interpolation methods."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


@op("image.older_resize")
def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
) -> Tensor:
    """``tf.compat.v1.image.resize``: resize images; `align_corners` is not supported for the method AREA."""
    pixels = array_of(images)
    target = compute_output_size(pixels, size, preserve_aspect_ratio=preserve_aspect_ratio)
    name = _METHODS[method] if isinstance(method, int) and 0 <= method < len(_METHODS) else method
    if name not in _METHODS:
        raise ValueError(f"method must be one of {_METHODS}, got {method!r}")
    if target == pixels.shape[-3:-1]:
        return Tensor(pixels)
    return Tensor(_resize_pixels_v1(pixels, target, name, align_corners=align_corners))


@op("image.older_resize_with_pad")
def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False
) -> Tensor:
    """``tf.compat.v1.image.resize_image_with_pad``: scale to fit the target without distortion, and pad with zeros."""

    def resize_to_size(pixels: NDArray[Any], size: Size) -> Tensor:
        return resize(pixels, size, method, align_corners)

    return fit_and_pad(image, target_height, target_width, resize_to_size)


def _create_resize(method: str) -> Callable[..., Tensor]:
    """Create a resize function for `method`. The function calls ``tf.image.resize`` if `half_pixel_centers` is True."""

    def resize_by_method(
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:
        if half_pixel_centers:
            return v2.resize(images, size, method)
        return resize(images, size, method, align_corners)

    resize_by_method.__doc__ = f"Resize images with the method {method}."
    return resize_by_method


resize_bilinear = _create_resize("bilinear")
resize_bicubic = _create_resize("bicubic")
resize_nearest_neighbor = _create_resize("nearest")


def _resize_pixels_v1(pixels: NDArray[Any], size: Size, method: str, *, align_corners: bool) -> NDArray[Any]:
    if min(size) < 1:
        raise_invalid(f"size must be positive, got {size}")
    check_not_empty(pixels)
    if method == "area":
        if align_corners:
            raise NotImplementedError("the method AREA does not support align_corners=True; use tf.image.resize")
        return resize_pixels(pixels, size, "area", antialias=False)
    sides = zip(pixels.shape[-3:-1], size, strict=True)
    rows, columns = (_compute_source_positions(length, wanted, align_corners) for length, wanted in sides)
    if method == "nearest":
        return _sample_nearest(pixels, rows, columns, align_corners)
    combine = _interpolate_linear if method == "bilinear" else _interpolate_cubic
    values = pixels.astype(np.float32)
    if method == "bilinear":
        return combine(combine(values, columns, -2), rows, -3)
    return combine(combine(values, rows, -3), columns, -2)


def _compute_source_positions(length: int, wanted: int, align_corners: bool) -> NDArray[np.float32]:
    """Return the input position of each output pixel, computed in float32 as in TensorFlow."""
    inside, outside = (length - 1, wanted - 1) if align_corners and wanted > 1 else (length, wanted)
    return np.arange(wanted, dtype=np.float32) * (np.float32(inside) / np.float32(outside))


def _sample_nearest(
    pixels: NDArray[Any], rows: NDArray[np.float32], columns: NDArray[np.float32], align_corners: bool
) -> NDArray[Any]:
    offset = np.float32(0.5 if align_corners else 0)
    y, x = (np.floor(positions + offset).astype(np.int64) for positions in (rows, columns))
    height, width = pixels.shape[-3:-1]
    return pixels[..., np.minimum(y, height - 1)[:, None], np.minimum(x, width - 1), :]


def _interpolate_linear(values: NDArray[np.float32], positions: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Interpolate linearly at positions along an axis."""
    last, first = values.shape[axis] - 1, np.floor(positions)
    left = np.take(values, first.astype(np.int64), axis)
    right = np.take(values, np.minimum(np.ceil(positions).astype(np.int64), last), axis)
    mixed: NDArray[np.float32] = left + (right - left) * _reshape_along_axis(positions - first, axis)
    return mixed


def _interpolate_cubic(values: NDArray[np.float32], positions: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Interpolate at positions along an axis: sum four neighbors, weighted by the cubic kernel."""
    last, first = values.shape[axis] - 1, np.floor(positions).astype(np.int64)
    step = np.rint((positions - first.astype(np.float32)) * np.float32(_CUBIC_STEPS)).astype(np.int64)
    near, far = _compute_cubic_weight_tables()
    weights = (far[step], near[step], near[_CUBIC_STEPS - step], far[_CUBIC_STEPS - step])
    neighbors = [np.take(values, np.clip(first + offset, 0, last), axis) for offset in (-1, 0, 1, 2)]
    total = neighbors[0] * _reshape_along_axis(weights[0], axis)
    for weight, neighbor in zip(weights[1:], neighbors[1:], strict=True):
        total += neighbor * _reshape_along_axis(weight, axis)
    return total


def _compute_cubic_weight_tables() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return two tables of cubic kernel weights: for distances from 0 to 1, and for distances from 1 to 2."""
    near = np.arange(_CUBIC_STEPS + 1) / _CUBIC_STEPS
    far = near + 1
    near_weights = ((_CUBIC + 2) * near - (_CUBIC + 3)) * near * near + 1
    far_weights = ((_CUBIC * far - 5 * _CUBIC) * far + 8 * _CUBIC) * far - 4 * _CUBIC
    return near_weights.astype(np.float32), far_weights.astype(np.float32)


def _reshape_along_axis(weights: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Reshape a vector of weights so that it broadcasts along an axis of images."""
    return weights[:, None, None] if axis == -3 else weights[:, None]
