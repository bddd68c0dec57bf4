"""``tf.nn``: weighted sums of windows, as blurs and other filters of images and signals are written."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.matching import bracketed
from recordmill.compat.tensorflow.ops.pooling import around, pair_of


@op("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: Any,  # noqa: A002 (TensorFlow's name)
    filter: Any,  # noqa: A002 (TensorFlow's name)
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Sum each channel's windows with weights of its own."""
    values, weights = _checked(input, filter, data_format)
    if values.shape[3] != weights.shape[2]:
        raise InvalidArgumentError(
            f"input and filter must have the same depth: {values.shape[3]} vs {weights.shape[2]} "
            "[Op:DepthwiseConv2dNative]"
        )
    multiplier = weights.shape[3]
    rows = np.repeat(values, multiplier, axis=3) if multiplier > 1 else values
    flat = weights.reshape(*weights.shape[:2], -1)
    parts = _windows(rows, weights, strides, padding, dilations)
    return Tensor(_weighted((window, flat[place]) for window, place in parts))


@op("nn.conv2d")
def conv2d(
    input: Any,  # noqa: A002 (TensorFlow's name)
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Sum windows over all channels, with weights for each channel of the result."""
    values, weights = _checked(input, filters, data_format)
    if values.shape[3] != weights.shape[2]:
        if weights.shape[2] and values.shape[3] % weights.shape[2] == 0:
            raise NotImplementedError("channels in groups are not supported: call it for each group")
        raise InvalidArgumentError(
            f"input depth must be evenly divisible by filter depth: {values.shape[3]} vs {weights.shape[2]} [Op:Conv2D]"
        )
    parts = (window @ weights[place] for window, place in _windows(values, weights, strides, padding, dilations))
    return Tensor(_summed(parts))


@op("nn.conv1d")
def conv1d(
    input: Any,  # noqa: A002 (TensorFlow's name)
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
) -> Tensor:
    """Sum windows of signals over all channels; input of shape (batch, length, channels), otherwise as `conv2d`."""
    if data_format != "NWC":
        raise NotImplementedError(f"data_format={data_format!r} is not supported, only 'NWC'")
    step, wide = (1 if one is None else int(np.ravel(array_of(one))[-1]) for one in (stride, dilations))
    if not isinstance(padding, str):
        padding = [padding[0], [0, 0], *padding[1:]]
    rows = Tensor(array_of(input)[:, None])
    found = conv2d(rows, Tensor(array_of(filters)[None]), [1, 1, step, 1], padding, None, [1, wide])
    return Tensor(found.values[:, 0])


def _weighted(parts: Iterator[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
    """Sum of windows times a weight for each channel: rows of pixels are long runs, channels short ones."""
    window, weight = next(parts)
    shape = window.shape
    found: NDArray[Any] = _runs(window) * np.tile(weight, shape[2])
    scratch = np.empty_like(found)
    for window, weight in parts:
        np.multiply(_runs(window), np.tile(weight, shape[2]), out=scratch)
        np.add(found, scratch, out=found)
    return np.asarray(found.reshape(shape))


def _runs(window: NDArray[Any]) -> NDArray[Any]:
    """Pixels of a row, and their channels, along one axis; without a copy where they lie side by side."""
    size = window.itemsize
    if window.strides[2:] != (window.shape[3] * size, size):
        return window.reshape(*window.shape[:2], -1)
    run = (*window.shape[:2], window.shape[2] * window.shape[3])
    return np.lib.stride_tricks.as_strided(window, run, (*window.strides[:2], size), writeable=False)


def _summed(parts: Iterator[NDArray[Any]]) -> NDArray[Any]:
    """Sum of what each weight gives, one after the other."""
    found = next(parts)
    for part in parts:
        np.add(found, part, out=found)
    return found


def _checked(given: Any, filters: Any, order: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    if order not in (None, "NHWC"):
        raise NotImplementedError(f"data_format={order!r} is not supported, only 'NHWC'")
    values = array_of(given)
    weights = array_of(filters)
    if values.dtype != weights.dtype or values.dtype.kind != "f":
        raise InvalidArgumentError(
            f"values and weights must be floats of one dtype, not {values.dtype} and {weights.dtype} [Op:Conv2D]"
        )
    for name, array in (("input", values), ("filter", weights)):
        if array.ndim != 4:
            raise InvalidArgumentError(f"{name} must be 4-dimensional: {bracketed(array.shape)} [Op:Conv2D]")
    if not all(weights.shape[:2]):
        raise InvalidArgumentError(f"a filter without weights: {bracketed(weights.shape)} [Op:Conv2D]")
    return values, weights


def _windows(
    values: NDArray[Any], weights: NDArray[Any], strides: Any, padding: Any, dilations: Any
) -> Iterator[tuple[NDArray[Any], tuple[int, ...]]]:
    """What each weight is multiplied with: a view of the pixels, and the weight's row and column."""
    steps, wide = pair_of(strides), pair_of(1 if dilations is None else dilations)
    reach = [(size - 1) * far + 1 for size, far in zip(weights.shape[:2], wide, strict=True)]
    values = np.pad(values, _padding(padding, values.shape[1:3], reach, steps))
    lengths = [(length - size) // step + 1 for length, size, step in zip(values.shape[1:3], reach, steps, strict=True)]
    if min(lengths) < 1:
        told = f"{values.shape[1]} x {values.shape[2]}"
        raise InvalidArgumentError(f"windows of {reach[0]} x {reach[1]} are larger than the image of {told} pixels")
    for place in itertools.product(*map(range, weights.shape[:2])):
        rows, columns = (
            slice(at * far, at * far + (length - 1) * step + 1, step)
            for at, far, length, step in zip(place, wide, lengths, steps, strict=True)
        )
        yield values[:, rows, columns], place


def _padding(padding: Any, sides: Any, reach: list[int], steps: tuple[int, int]) -> list[tuple[int, int]]:
    if not isinstance(padding, str):
        return [(int(before), int(behind)) for before, behind in array_of(padding).tolist()]
    if padding not in ("SAME", "VALID"):
        raise ValueError(f'padding must be "VALID" or "SAME", not {padding!r}')
    if padding == "VALID":
        return [(0, 0)] * 4
    return [(0, 0), *(around(*one) for one in zip(sides, reach, steps, strict=True)), (0, 0)]
