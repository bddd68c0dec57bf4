"""Sums, means, extremes and logic over axes of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import row_splits as parts
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.segments import gathered

Operation = Callable[..., Any]


def _entry(kind: str) -> Callable[..., Any]:
    """What a reduction does to a ragged tensor."""

    def reduce(operation: Operation, input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if not isinstance(input_tensor, RaggedTensor):
            raise TypeError(
                f"a {type(input_tensor).__name__} is not reduced here: use tf.sparse.reduce_sum, or make it dense"
            )
        if kind == "mean":
            return _mean(input_tensor, axis, keepdims)
        if axis is None:
            return _alone(operation(input_tensor.flat_values), input_tensor, keepdims)
        found: Any = input_tensor
        for one in sorted(axes_of(axis, input_tensor), reverse=True):
            found = _over(operation, found, one, kind) if isinstance(found, RaggedTensor) else operation(found, one)
            found = run("array.expand_dims", found, one) if keepdims else found
        return found

    return reduce


def axes_of(axis: Any, ragged: RaggedTensor) -> list[int]:
    """Read axes of a ragged tensor; ValueError for one that is not there."""
    rank = len(ragged.shape.as_list())
    found = []
    for one in np.atleast_1d(array_of(axis)).tolist():
        if not -rank <= one < rank:
            raise ValueError(f"axis={one} out of bounds: expected {-rank}<=axis<{rank}")
        found.append(one % rank)
    return found


def _alone(found: Tensor, ragged: RaggedTensor, keepdims: bool) -> Tensor:
    return wrap(found.values.reshape((1,) * len(ragged.shape.as_list()))) if keepdims else found


def _mean(ragged: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """Sums divided by counts, as floating-point numbers."""
    ones = ragged.with_flat_values(Tensor(np.ones_like(ragged.flat_values.values)))
    totals, counts = (run("math.reduce_sum", one, axis, keepdims) for one in (ragged, ones))
    return run("math.truediv", totals, counts)


def _over(operation: Operation, ragged: RaggedTensor, axis: int, kind: str) -> Any:
    """Reduce one axis."""
    depth = ragged.ragged_rank
    if axis > depth:
        return ragged.with_flat_values(operation(ragged.flat_values, axis - depth))
    inner = ragged.values
    if axis > 1 and isinstance(inner, RaggedTensor):
        return ragged.with_values(_over(operation, inner, axis - 1, kind))
    splits = ragged.row_splits.values
    row, place = parts.positions([splits])
    outer = row if axis else place
    count = len(ragged) if axis else int(np.diff(splits).max(initial=0))
    if isinstance(inner, Tensor):
        return wrap(_together(inner.values, outer, count, kind))
    return _rows_together(inner, outer, count, kind)


def _rows_together(inner: RaggedTensor, outer: NDArray[Any], count: int, kind: str) -> RaggedTensor:
    """Put rows of a ragged tensor together, value by value."""
    if not isinstance(inner.values, Tensor):
        raise NotImplementedError("of a ragged tensor of that depth, the last ragged axes are reduced: axis=-1 first")
    splits = inner.row_splits.values
    lengths = gathered(np.diff(splits), outer, count, "max", 0)
    starts = parts.from_lengths(lengths)
    row, place = parts.positions([splits])
    values = _together(inner.values.values, starts[outer[row]] + place, int(starts[-1]), kind)
    return RaggedTensor(wrap(values), starts)


def _together(array: NDArray[Any], ids: NDArray[Any], count: int, kind: str) -> NDArray[Any]:
    if kind in ("any", "all"):
        found = gathered(array.astype(np.int32), ids, count, "max" if kind == "any" else "min", int(kind == "all"))
        return found.astype(np.bool_)
    return gathered(array, ids, count, kind)


reduce_all, reduce_any, reduce_max, reduce_mean = _entry("all"), _entry("any"), _entry("max"), _entry("mean")
reduce_min, reduce_prod, reduce_sum = _entry("min"), _entry("prod"), _entry("sum")
