"""``tf.image.extract_patches`` and ``crop_and_resize``: parts of many images at once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.tensor import Tensor

_METHODS = ("bilinear", "nearest")
_DIRECT = (np.uint8, np.uint16, np.float32)


@op("image.extract_patches")
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str) -> Tensor:
    """Patches of images, each as one row of values."""
    values = array_of(images)
    numbers = [_inner(one, what) for one, what in ((sizes, "ksizes"), (strides, "strides"), (rates, "rates"))]
    (rows, row_step, row_rate), (columns, column_step, column_rate) = zip(*numbers, strict=True)
    if padding not in ("VALID", "SAME"):
        raise ValueError(f'padding must be "VALID" or "SAME", not {padding!r}')
    if padding == "SAME":
        down = _around(values.shape[1], rows, row_step, row_rate)
        across = _around(values.shape[2], columns, column_step, column_rate)
        values = np.pad(values, ((0, 0), down, across, (0, 0)))
    spans = ((rows - 1) * row_rate + 1, (columns - 1) * column_rate + 1)
    windows = np.lib.stride_tricks.sliding_window_view(values, spans, axis=(1, 2))
    picked = windows[:, ::row_step, ::column_step, :, ::row_rate, ::column_rate]
    found = np.ascontiguousarray(np.moveaxis(picked, 3, -1))
    return Tensor(found.reshape(*found.shape[:3], -1))


def _inner(numbers: Any, what: str) -> tuple[int, int]:
    first, rows, columns, last = array_of(numbers).tolist()
    if (first, last) != (1, 1) or rows < 1 or columns < 1:
        raise ValueError(f"{what} must be [1, rows, columns, 1], not {[first, rows, columns, last]}")
    return rows, columns


def _around(length: int, size: int, step: int, rate: int) -> tuple[int, int]:
    """Zeros in front and behind, so that there are as many patches as steps."""
    lacking = max(0, (-(-length // step) - 1) * step + (size - 1) * rate + 1 - length)
    return lacking // 2, lacking - lacking // 2


@op("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Parts of images brought to one size."""
    images, places = array_of(image), np.asarray(array_of(boxes), np.float32)
    chosen = np.atleast_1d(array_of(box_indices))
    height, width = _crop_size(crop_size)
    _check_boxes(images, places, chosen, method)
    if min(height, width) < 1:
        raise _refused("crop dimensions must be positive")
    if 0 in (len(chosen), images.shape[3]):
        return Tensor(np.zeros((len(chosen), height, width, images.shape[3]), np.float32))
    pixels = images if images.dtype in _DIRECT else images.astype(np.float32)
    kernel: Literal["bilinear", "nearest"] = "nearest" if method == "nearest" else "bilinear"
    size, fill = (height, width), float(extrapolation_value)
    return Tensor(rm.resize_boxes(pixels, places, chosen, size, kernel=kernel, fill=fill))


def _crop_size(crop_size: Any) -> tuple[int, int]:
    sides = array_of(crop_size)
    if sides.shape != (2,):
        raise _refused(f"crop_size must have two elements{list(sides.shape)}")
    return int(sides[0]), int(sides[1])


def _check_boxes(images: NDArray[Any], places: NDArray[Any], chosen: NDArray[Any], method: str) -> None:
    if method not in _METHODS:
        raise _refused(f"method must be one of {_METHODS}, not {method!r}")
    if images.ndim != 4 or places.shape != (len(chosen), 4):
        raise _refused(
            f"image must be 4-D and boxes of shape [{len(chosen)}, 4], not {images.shape} and {places.shape}"
        )
    if 0 in images.shape[1:3]:
        raise _refused("image dimensions must be positive")
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(images):
        raise OutOfRangeError(f"box_index has values outside [0, {len(images)})")
    if not np.isfinite(places).all():
        raise _refused("Boxes contains at least one element that is not finite")


def _refused(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{message} [Op:CropAndResize]")
