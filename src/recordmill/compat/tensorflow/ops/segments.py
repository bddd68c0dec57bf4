"""Values put together by the segment that each belongs to: ``tf.math.segment_sum`` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, bracketed, one_of

_WAYS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def gathered(array: NDArray[Any], ids: NDArray[Any], count: int, kind: str, empty: Any = None) -> NDArray[Any]:
    """Put rows of an array together by the numbers of their segments."""
    kept = ids >= 0
    array, ids = array[kept], ids[kept]
    out = np.full((count, *array.shape[1:]), _start(array.dtype, kind), array.dtype)
    with np.errstate(all="ignore"):
        _WAYS[kind].at(out, ids, array)
    if empty is not None:
        out[np.bincount(ids, minlength=count)[:count] == 0] = empty
    return out


def _start(dtype: np.dtype[Any], kind: str) -> Any:
    if kind in ("sum", "prod"):
        return dtype.type(kind == "prod")
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return limits.min if kind == "max" else limits.max


def _sorted(data: Any, segment_ids: Any, kind: str, name: str, empty: Any = 0) -> NDArray[Any]:
    array, ids = one_of(data, NUMBERS, name), array_of(segment_ids)
    if ids.ndim != 1:
        raise InvalidArgumentError(f"segment_ids should be a vector. [Op:{name}]")
    if len(ids) != len(array):
        raise InvalidArgumentError(f"segment_ids should be the same size as dimension 0 of input. [Op:{name}]")
    if ids.size and (np.diff(ids) < 0).any():
        fault = "segment ids must be >= 0" if ids[-1] < 0 else "segment ids are not increasing"
        raise InvalidArgumentError(f"{fault} [Op:{name}]")
    return gathered(array, ids, int(ids[-1]) + 1 if ids.size else 0, kind, empty)


@op("math.segment_sum")
def segment_sum(data: Any, segment_ids: Any) -> Tensor:
    """Sums of rows whose segments' numbers rise; 0 for segments without rows."""
    return wrap(_sorted(data, segment_ids, "sum", "SegmentSum"))


@op("math.segment_prod")
def segment_prod(data: Any, segment_ids: Any) -> Tensor:
    """Products of rows whose segments' numbers rise; 1 for segments without rows."""
    return wrap(_sorted(data, segment_ids, "prod", "SegmentProd", 1))


@op("math.segment_max")
def segment_max(data: Any, segment_ids: Any) -> Tensor:
    """Largest values of rows whose segments' numbers rise; 0 for segments without rows."""
    return wrap(_sorted(data, segment_ids, "max", "SegmentMax"))


@op("math.segment_min")
def segment_min(data: Any, segment_ids: Any) -> Tensor:
    """Smallest values of rows whose segments' numbers rise; 0 for segments without rows."""
    return wrap(_sorted(data, segment_ids, "min", "SegmentMin"))


@op("math.segment_mean")
def segment_mean(data: Any, segment_ids: Any) -> Tensor:
    """Means of rows whose segments' numbers rise; 0 for segments without rows."""
    total = _sorted(data, segment_ids, "sum", "SegmentMean")
    counts = _counts(array_of(segment_ids), total, len(total))
    return wrap(total / counts if total.dtype.kind == "f" else np.trunc(total / counts), total.dtype)


def _counts(ids: NDArray[Any], total: NDArray[Any], count: int) -> NDArray[Any]:
    """Rows of each segment, at least 1, as they are divided by."""
    rows = np.maximum(np.bincount(ids[ids >= 0].reshape(-1), minlength=count), 1)
    dtype = total.dtype if total.dtype.kind == "f" else np.float64
    return rows.astype(dtype).reshape(-1, *(1,) * (total.ndim - 1))


def _unsorted(data: Any, segment_ids: Any, num_segments: Any, kind: str, name: str) -> NDArray[Any]:
    array, ids, count = one_of(data, NUMBERS, name), array_of(segment_ids), int(num_segments)
    if array.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"data.shape = {bracketed(array.shape)} does not start with segment_ids.shape = {bracketed(ids.shape)} "
            f"[Op:{name}]"
        )
    outside = np.argwhere(ids >= count)
    if len(outside):
        where = tuple(outside[0].tolist())
        raise InvalidArgumentError(
            f"segment_ids{bracketed(where)} = {ids[where]} is out of range [0, {count}) [Op:{name}]"
        )
    return gathered(array.reshape(-1, *array.shape[ids.ndim :]), ids.reshape(-1), count, kind)


@op("math.unsorted_segment_sum")
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Sums of the rows of each segment; rows of a negative one are left out."""
    return wrap(_unsorted(data, segment_ids, num_segments, "sum", "UnsortedSegmentSum"))


@op("math.unsorted_segment_prod")
def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Products of the rows of each segment; as `unsorted_segment_sum`."""
    return wrap(_unsorted(data, segment_ids, num_segments, "prod", "UnsortedSegmentProd"))


@op("math.unsorted_segment_max")
def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Largest values of the rows of each segment; the least number of one without rows."""
    return wrap(_unsorted(data, segment_ids, num_segments, "max", "UnsortedSegmentMax"))


@op("math.unsorted_segment_min")
def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Smallest values of the rows of each segment; the greatest number of one without rows."""
    return wrap(_unsorted(data, segment_ids, num_segments, "min", "UnsortedSegmentMin"))


@op("math.unsorted_segment_mean")
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Means of the rows of each segment; 0 for one without rows."""
    total = _unsorted(data, segment_ids, num_segments, "sum", "UnsortedSegmentSum")
    return wrap(total / _counts(array_of(segment_ids), total, len(total)))


@op("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """Sums of the rows of each segment, divided by the root of their number; whole numbers are refused."""
    one_of(data, FLOATS, "Sqrt")
    total = _unsorted(data, segment_ids, num_segments, "sum", "UnsortedSegmentSum")
    return wrap(total / np.sqrt(_counts(array_of(segment_ids), total, len(total))))
