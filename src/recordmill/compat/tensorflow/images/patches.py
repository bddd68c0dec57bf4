"""``tf.image.extract_patches`` and ``crop_and_resize``: parts of many images at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.tensor import Tensor

_METHODS = ("bilinear", "nearest")


@op("image.extract_patches")
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str) -> Tensor:
    """Patches of images, each as one row of values.

    Parameters
    ----------
    images : tensor of numbers, shape (batch, height, width, channels)
    sizes, strides, rates : sequence of four int
        ``[1, rows, columns, 1]``: of a patch, between patches, and between the pixels of a patch.
    padding : {"VALID", "SAME"}
        Patches inside the image only, or also zeros around it.

    Returns
    -------
    Tensor, shape (batch, patches down, patches across, rows * columns * channels)

    Raises
    ------
    ValueError
        No such padding, or numbers that are not ``[1, rows, columns, 1]``.
    """
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
    """Parts of images brought to one size.

    Parameters
    ----------
    image : tensor of numbers, shape (batch, height, width, channels)
    boxes : tensor of floats, shape (n, 4)
        ``ymin, xmin, ymax, xmax``; 0 and 1 are the middles of the first and of the last pixel.
    box_indices : tensor of int, shape (n,)
        Image of each box.
    crop_size : two int
        Height and width.
    method : {"bilinear", "nearest"}
    extrapolation_value : float
        Of places outside the image.

    Returns
    -------
    Tensor of float32, shape (n, height, width, channels)

    Raises
    ------
    OutOfRangeError
        A box of an image that is not there.
    InvalidArgumentError
        Shapes that do not go together, or another method.
    """
    images, places = array_of(image), np.asarray(array_of(boxes), np.float32)
    chosen, (height, width) = np.atleast_1d(array_of(box_indices)), (int(one) for one in array_of(crop_size))
    if method not in _METHODS:
        raise InvalidArgumentError(f"method must be one of {_METHODS}, not {method!r} [Op:CropAndResize]")
    if images.ndim != 4 or places.shape != (len(chosen), 4) or height < 1 or width < 1:
        raise InvalidArgumentError(
            f"image must be 4-D and boxes of shape [{len(chosen)}, 4], not {images.shape} and {places.shape}; crop "
            "dimensions must be positive [Op:CropAndResize]"
        )
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(images):
        raise OutOfRangeError(f"box_index has values outside [0, {len(images)})")
    pixels, outside = images.astype(np.float32, copy=False), np.float32(extrapolation_value)
    out = np.empty((len(chosen), height, width, images.shape[3]), np.float32)
    for number, (which, box) in enumerate(zip(chosen, places, strict=True)):
        rows = _coordinates(box[0], box[2], images.shape[1], height)
        columns = _coordinates(box[1], box[3], images.shape[2], width)
        out[number] = _sampled(pixels[which], rows, columns, method, outside)
    return Tensor(out)


def _coordinates(low: Any, high: Any, length: int, count: int) -> NDArray[np.float32]:
    last = np.float32(length - 1)
    if count == 1:
        return np.array([np.float32(0.5) * (low + high) * last], np.float32)
    step = (high - low) * last / np.float32(count - 1)
    return np.asarray(low * last + np.arange(count, dtype=np.float32) * step, np.float32)


def _sampled(image: NDArray[np.float32], rows: Any, columns: Any, method: str, outside: np.float32) -> NDArray[Any]:
    inside_rows = (rows >= 0) & (rows <= image.shape[0] - 1)
    inside_columns = (columns >= 0) & (columns <= image.shape[1] - 1)
    y, x = np.where(inside_rows, rows, 0), np.where(inside_columns, columns, 0)
    if method == "nearest":  # halves away from zero
        found = image[np.floor(y + np.float32(0.5)).astype(int)][:, np.floor(x + np.float32(0.5)).astype(int)]
    else:
        top, left = np.floor(y).astype(int), np.floor(x).astype(int)
        bottom, right = np.ceil(y).astype(int), np.ceil(x).astype(int)
        across, down = (x - left).astype(np.float32)[None, :, None], (y - top).astype(np.float32)[:, None, None]
        upper = _between(image[top][:, left], image[top][:, right], across)
        lower = _between(image[bottom][:, left], image[bottom][:, right], across)
        found = _between(upper, lower, down)
    inside = (inside_rows[:, None] & inside_columns[None])[..., None]
    return np.where(inside, found, outside)


def _between(first: Any, second: Any, part: Any) -> Any:
    return first + (second - first) * part
