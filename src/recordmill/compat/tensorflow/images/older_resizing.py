"""TensorFlow 1's resizing, whose pixels lie at their corners: ``tf.compat.v1.image.resize`` and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.resizing import around, fitted, resized, size_of

_METHODS = ("bilinear", "nearest", "bicubic", "area")


class ResizeMethod:
    """Numbers of the kernels."""

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
    """Images of another size, as TensorFlow 1 made them."""
    pixels = array_of(images)
    if pixels.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    height, width = size_of(size)
    if preserve_aspect_ratio:
        height, width = fitted((height, width), (pixels.shape[-3], pixels.shape[-2]))
    if (height, width) == pixels.shape[-3:-1]:
        return Tensor(pixels)
    return Tensor(_by_corners(pixels, (height, width), _name_of(method), align_corners=align_corners))


def _name_of(method: Any) -> str:
    name = _METHODS[method] if isinstance(method, int) and 0 <= method < len(_METHODS) else method
    if name not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    return str(name)


def _by_corners(pixels: NDArray[Any], size: tuple[int, int], method: str, *, align_corners: bool) -> NDArray[Any]:
    if min(size) < 1:
        raise InvalidArgumentError("output dimensions must be positive", kind="bad_argument")
    if 0 in pixels.shape[-3:-1]:
        raise InvalidArgumentError("input image must be of non-zero size", kind="bad_argument")
    if method == "area" and not align_corners:
        return resized(pixels, size, "area", antialias=False)
    if method in ("area", "bicubic"):
        raise NotImplementedError(
            f"tf.compat.v1.image.resize(method={method!r}, align_corners={align_corners}) is not supported: use "
            "tf.image.resize, whose pixels differ a little"
        )
    places = [_places(length, wanted, align_corners) for length, wanted in zip(pixels.shape[-3:-1], size, strict=True)]
    return _nearest(pixels, places, align_corners) if method == "nearest" else _bilinear(pixels, places)


def _places(length: int, wanted: int, align_corners: bool) -> NDArray[np.float32]:
    """Where output pixels lie in the input, in float32 as TensorFlow computes it."""
    inside, outside = (length - 1, wanted - 1) if align_corners and wanted > 1 else (length, wanted)
    scale = np.float32(inside) / np.float32(outside)
    return np.arange(wanted, dtype=np.float32) * scale


def _nearest(pixels: NDArray[Any], places: list[NDArray[np.float32]], align_corners: bool) -> NDArray[Any]:
    moved = [np.floor(one + np.float32(0.5)) if align_corners else np.floor(one) for one in places]
    rows, columns = (
        np.minimum(one.astype(np.int64), length - 1) for one, length in zip(moved, pixels.shape[-3:-1], strict=True)
    )
    return pixels[..., rows[:, None], columns, :]


def _bilinear(pixels: NDArray[Any], places: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Between columns first, then between rows; only of rows that are asked for."""
    (top, bottom, down), across = _neighbours(places[0], pixels.shape[-3]), places[1]
    if 2 * len(top) < pixels.shape[-3]:
        rows, found = np.unique(np.concatenate([top, bottom]), return_inverse=True)
        pixels, top, bottom = pixels[..., rows, :, :], found[: len(top)], found[len(top) :]
    columns = _between_columns(pixels, across)
    made = np.take(columns, top, axis=-2)
    lower = np.take(columns, bottom, axis=-2)
    lower -= made
    lower *= down[:, None]
    made += lower
    return made.reshape(*made.shape[:-1], len(across), pixels.shape[-1])


def _between_columns(pixels: NDArray[Any], places: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of new columns, whose channels lie side by side."""
    left, right, share = _neighbours(places, pixels.shape[-2])
    flat, channels = pixels.reshape(*pixels.shape[:-2], -1), np.arange(pixels.shape[-1])
    first, second = (
        np.take(flat, (one[:, None] * len(channels) + channels).ravel(), axis=-1).astype(np.float32)
        for one in (left, right)
    )
    second -= first
    second *= np.repeat(share, len(channels))
    first += second
    return first


def _neighbours(
    places: NDArray[np.float32], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    first = np.floor(places)
    lower = np.maximum(first.astype(np.int64), 0)
    return lower, np.minimum(np.ceil(places).astype(np.int64), length - 1), places - first


@op("image.older_resize_with_pad")
def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False
) -> Tensor:
    """Images brought to a size without changing their shape, with zeros around them."""
    return around(image, target_height, target_width, lambda pixels, size: resize(pixels, size, method, align_corners))


def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, name: Any = None, half_pixel_centers: bool = False
) -> Tensor:
    """As `resize` with "bilinear", or as ``tf.image.resize`` with `half_pixel_centers`."""
    return _named("bilinear", images, size, align_corners, half_pixel_centers, name)


def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: Any = None, half_pixel_centers: bool = False
) -> Tensor:
    """As `resize` with "nearest", or as ``tf.image.resize`` with `half_pixel_centers`."""
    return _named("nearest", images, size, align_corners, half_pixel_centers, name)


def _named(method: str, images: Any, size: Any, align_corners: bool, centres: bool, name: Any) -> Tensor:
    from recordmill.compat.tensorflow.images.resizing import resize as by_centres

    del name
    if centres:
        return by_centres(images, size, method)
    return resize(images, size, method, align_corners)
