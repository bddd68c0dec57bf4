"""Ragged tensors joined, picked from, turned around, and with one more axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import row_splits as parts
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import (
    RaggedTensor,
    back_to_back,
    from_tensor,
    gather_values,
    stack as stacked,
)
from recordmill.compat.tensorflow.core.tensor import Tensor

Operation = Callable[..., Any]


def concat(operation: Operation, values: Any, axis: Any) -> Any:
    """Join ragged tensors, and dense ones beside them, along an axis."""
    from recordmill.compat.tensorflow.core.sparse import SparseTensor

    given = list(values) if isinstance(values, list | tuple) else [values]
    if any(isinstance(one, SparseTensor) for one in given):
        raise TypeError("sparse tensors are joined by tf.sparse.concat")
    rows = _alike(given)
    rank = len(rows[0].shape.as_list())
    at = int(array_of(axis))
    if not -rank <= at < rank:
        raise ValueError(f"axis={at} out of bounds: expected {-rank}<=axis<{rank}")
    return _joined(operation, rows, at % rank)


def _alike(given: list[Any]) -> list[RaggedTensor]:
    """Ragged tensors of one depth; dense ones become ragged."""
    depth = max(one.ragged_rank for one in given if isinstance(one, RaggedTensor))
    rows = [one if isinstance(one, RaggedTensor) else from_tensor(one, None, None, depth) for one in given]
    if len({(one.ragged_rank, len(one.shape.as_list())) for one in rows}) > 1:
        raise InvalidArgumentError(f"ragged tensors of other depths are not joined: {[str(one.shape) for one in rows]}")
    return rows


def _joined(operation: Operation, rows: Sequence[Any], axis: int) -> Any:
    if isinstance(rows[0], Tensor):
        return operation(list(rows), axis)
    wide = any(one.row_splits.values.dtype == np.int64 for one in rows)
    dtype = np.dtype(np.int64 if wide else np.int32)
    if axis == 0:
        return back_to_back(rows, dtype)
    counts = [len(one) for one in rows]
    if len(set(counts)) > 1:
        raise InvalidArgumentError(
            f"Input tensors at index 0 (=x) and 1 (=y) have incompatible shapes: they have {counts} rows"
        )
    if axis > 1:
        splits = rows[0].row_splits.values
        if not all(np.array_equal(one.row_splits.values, splits) for one in rows):
            raise InvalidArgumentError("Inputs must have identical ragged splits")
        return rows[0].with_values(_joined(operation, [one.values for one in rows], axis - 1))
    order = np.arange(counts[0] * len(rows)).reshape(len(rows), -1).T.reshape(-1)
    side_by_side = gather_values(back_to_back(rows, dtype), order)
    return RaggedTensor(side_by_side.values, side_by_side.row_splits.values[:: len(rows)])


def stack(operation: Operation, values: Any, axis: Any = 0) -> Any:
    """Join along a new axis, the first or the second."""
    if int(axis) == 0:
        return stacked(values)
    return concat(operation, [expand_dims(operation, one, axis) for one in values], axis)


def expand_dims(operation: Operation, input: Any, axis: Any) -> Any:  # noqa: A002 (TensorFlow's name)
    """Add an axis of length 1."""
    del operation
    if not isinstance(input, RaggedTensor):
        raise TypeError("expand_dims of a sparse tensor is tf.sparse.expand_dims")
    rank, at = len(input.shape.as_list()) + 1, int(array_of(axis))
    if not -rank <= at < rank:
        raise ValueError(f"axis={at} out of bounds: expected {-rank}<=axis<{rank}")
    at, count, dtype = at % rank, len(input), input.row_splits.values.dtype
    if at == 0:
        return RaggedTensor(input, np.array([0, count], dtype), count)
    if at == 1:
        return RaggedTensor(input, np.arange(count + 1, dtype=dtype), 1)
    return input.with_values(run("array.expand_dims", input.values, at - 1))


def gather(
    operation: Operation,
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    """Pick rows of a ragged tensor, or rows by ragged indices."""
    del validate_indices
    if int(batch_dims) == 1 and int(1 if axis is None else axis) == 1:
        return _in_rows(operation, params, indices)
    if int(batch_dims) or int(0 if axis is None else axis):
        raise NotImplementedError("tf.gather of ragged tensors is supported along the first axis, or with batch_dims=1")
    if isinstance(indices, RaggedTensor):
        return indices.with_values(run("array.gather", params, indices.values))
    places = array_of(indices)
    _check(places, len(params))
    if not places.ndim:
        return params[int(places)]
    found, splits = gather_values(params, places.reshape(-1).astype(np.int64)), params.row_splits.values
    for at in range(places.ndim - 1, 0, -1):
        rows = int(np.prod(places.shape[:at]))
        found = RaggedTensor.from_row_lengths(found, np.full(rows, places.shape[at], splits.dtype))
    return found


def _check(places: Any, count: int) -> None:
    outside = places[(places < 0) | (places >= count)]
    if outside.size:
        raise InvalidArgumentError(f"indices = {outside[0]} is not in [0, {count}) [Op:RaggedGather]")


def _in_rows(operation: Operation, params: Any, indices: Any) -> RaggedTensor:
    """Values of each row by indices of each row."""
    rows, picks = (one if isinstance(one, RaggedTensor) else from_tensor(one) for one in (params, indices))
    places, row = picks.flat_values.values, picks.value_rowids().values
    lengths = np.diff(rows.row_splits.values)
    for place, length in zip(places.tolist(), lengths[row].tolist(), strict=True):
        _check(np.array([place]), length)
    return picks.with_values(operation(rows.values, Tensor(rows.row_splits.values[row] + places)))


def reverse(operation: Operation, tensor: Any, axis: Any) -> Any:
    """Turn the rows, or the values in each row, around."""
    del operation
    found = tensor
    for one in np.atleast_1d(array_of(axis)).tolist():
        at = one % len(tensor.shape.as_list())
        if at > 1:
            raise NotImplementedError("tf.reverse of a ragged tensor is supported for its first two axes")
        splits = found.row_splits.values
        row, place = parts.positions([splits])
        order = (splits[1:][row] - 1 - place) if at else np.arange(len(found))[::-1]
        found = (
            found.with_values(run("array.gather", found.values, Tensor(order))) if at else gather_values(found, order)
        )
    return found
