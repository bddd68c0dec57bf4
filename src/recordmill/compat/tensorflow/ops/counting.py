"""How often numbers occur: ``tf.math.bincount``, histograms, and whether a class is among the largest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import NUMBERS, matched, one_of


@op("math.bincount")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each whole number occurs."""
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    rows, numbers, shape = _numbers(arr, by_row=axis == -1)
    heavy = None if weights is None else _flat(weights)
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError("Input arr must be non-negative! [Op:DenseBincount]")
    length = max(int(numbers.max(initial=-1)) + 1, 0 if minlength is None else int(minlength))
    if maxlength is not None:
        length = min(length, int(maxlength))
    kept = numbers < length
    places = rows[kept] * length + numbers[kept]
    counts = np.bincount(places, None if heavy is None else heavy[kept], math.prod(shape) * length)
    if binary_output:
        counts = (counts > 0).astype(counts.dtype)
    return wrap(counts.reshape(*shape, length), as_dtype(dtype).numpy_dtype if heavy is None else heavy.dtype)


def _flat(given: Any) -> NDArray[Any]:
    return given.flat_values.values if isinstance(given, RaggedTensor) else array_of(given).reshape(-1)


def _numbers(arr: Any, *, by_row: bool) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]:
    """Row of each number, the numbers, and how many rows are counted by themselves."""
    numbers = _flat(arr).astype(np.int64)
    if not by_row:
        return np.zeros_like(numbers), numbers, ()
    if isinstance(arr, RaggedTensor):
        return arr.value_rowids().values.astype(np.int64), numbers, (len(arr),)
    shape = array_of(arr).shape
    return np.repeat(np.arange(math.prod(shape[:-1])), shape[-1]), numbers, shape[:-1]


@op("math.histogram_fixed_width_bins")
def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32) -> Tensor:
    """Number of the bin of each value; those outside the range are in the first or last one."""
    array, borders = matched((values, value_range), "HistogramFixedWidth")
    count, (low, high) = int(nbins), borders.tolist()
    if count < 1:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{count}' [Op:HistogramFixedWidth]")
    if low >= high:
        raise InvalidArgumentError(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{borders[0]:g}, {borders[1]:g}]' [Op:HistogramFixedWidth]"
        )
    wide = array if array.dtype.kind == "f" else array.astype(np.float64)
    scaled = np.floor((wide - wide.dtype.type(low)) / wide.dtype.type(high - low) * wide.dtype.type(count))
    return wrap(np.clip(scaled, 0, count - 1), as_dtype(dtype).numpy_dtype)


@op("math.histogram_fixed_width")
def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32) -> Tensor:
    """How many values are in each bin; as `histogram_fixed_width_bins`."""
    bins = histogram_fixed_width_bins(values, value_range, nbins).values.reshape(-1)
    return wrap(np.bincount(bins, minlength=int(nbins)), as_dtype(dtype).numpy_dtype)


@op("math.in_top_k")
def in_top_k(targets: Any, predictions: Any, k: int) -> Tensor:
    """Whether fewer than `k` classes of each row have a larger value than the target."""
    rows, classes = one_of(predictions, NUMBERS, "InTopKV2"), array_of(targets)
    own = rows[np.arange(len(rows)), classes]
    return wrap(((rows > own[:, None]).sum(axis=1) < int(k)) & np.isfinite(own))
