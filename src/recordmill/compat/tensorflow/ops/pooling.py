"""``tf.nn``: highest and mean values of windows, and blocks of pixels as channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.pixel_copies import laid_out
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor


@op("nn.max_pool2d")
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Highest value of each window."""
    least = array_of(input).dtype
    low = -np.inf if least.kind == "f" else np.iinfo(least).min
    return Tensor(_pooled(input, ksize, strides, padding, data_format, low, _highest))


@op("nn.avg_pool2d")
def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Mean of what each window holds of the image; arguments as of `max_pool2d`, values are floats."""
    return Tensor(_pooled(input, ksize, strides, padding, data_format, np.nan, _mean))


def _highest(values: NDArray[Any], sizes: tuple[int, int], steps: tuple[int, int]) -> NDArray[Any]:
    """Highest values of rows, then of columns."""
    for axis, size, step in zip((1, 2), sizes, steps, strict=True):
        last = values.shape[axis] - size + 1
        parts = [values[(slice(None),) * axis + (slice(first, first + last, step),)] for first in range(size)]
        values = laid_out(parts[0]).copy()
        for part in parts[1:]:
            np.maximum(values, laid_out(part), out=values)
    return values


def _mean(values: NDArray[Any], sizes: tuple[int, int], steps: tuple[int, int]) -> NDArray[Any]:
    windows = np.lib.stride_tricks.sliding_window_view(values, sizes, axis=(1, 2))
    return np.asarray(np.nanmean(windows[:, :: steps[0], :: steps[1]], axis=(-2, -1)))


def _pooled(
    given: Any, ksize: Any, strides: Any, padding: str, order: str, outside: float, best: Callable[..., NDArray[Any]]
) -> NDArray[Any]:
    if order != "NHWC":
        raise NotImplementedError(f"data_format={order!r} is not supported, only 'NHWC'")
    values, sizes, steps = array_of(given), pair_of(ksize), pair_of(strides)
    if padding == "SAME":
        fill = [around(*one) for one in zip(values.shape[1:3], sizes, steps, strict=True)]
        values = np.pad(values, ((0, 0), *fill, (0, 0)), constant_values=outside)
    elif padding != "VALID":
        raise ValueError(f'padding must be "VALID" or "SAME", not {padding!r}')
    if any(size > length for size, length in zip(sizes, values.shape[1:3], strict=True)):
        found = f"{values.shape[1]} x {values.shape[2]}"
        raise ValueError(f"windows of {sizes[0]} x {sizes[1]} are larger than the image of {found} pixels")
    return np.ascontiguousarray(best(values, sizes, steps), array_of(given).dtype)


def pair_of(numbers: Any) -> tuple[int, int]:
    """Read what is said of rows and of columns."""
    given = [int(one) for one in np.atleast_1d(array_of(numbers))]
    rows, columns = given * 2 if len(given) == 1 else given[1:3] if len(given) == 4 else given
    return rows, columns


def around(length: int, size: int, step: int) -> tuple[int, int]:
    """Count what an axis lacks for windows that begin at every step."""
    lacking = max(0, (-(-length // step) - 1) * step + size - length)
    return lacking // 2, lacking - lacking // 2


@op("nn.space_to_depth")
def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Blocks of pixels as channels of one pixel."""
    _check_order(data_format)
    values = array_of(input)
    batch, height, width, channels = values.shape
    if height % block_size or width % block_size:
        raise InvalidArgumentError(f"{height} x {width} pixels cannot be divided into blocks of {block_size}")
    parts = values.reshape(batch, height // block_size, block_size, width // block_size, block_size, channels)
    return Tensor(parts.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height // block_size, width // block_size, -1))


@op("nn.depth_to_space")
def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Channels of a pixel as blocks of pixels: the reverse of `space_to_depth`."""
    _check_order(data_format)
    values = array_of(input)
    batch, height, width, channels = values.shape
    if channels % (block_size * block_size):
        raise InvalidArgumentError(f"{channels} channels cannot be divided into blocks of {block_size} x {block_size}")
    parts = values.reshape(batch, height, width, block_size, block_size, -1).transpose(0, 1, 3, 2, 4, 5)
    return Tensor(parts.reshape(batch, height * block_size, width * block_size, -1))


def _check_order(order: str) -> None:
    if order != "NHWC":
        raise NotImplementedError(f"data_format={order!r} is not supported, only 'NHWC'")
